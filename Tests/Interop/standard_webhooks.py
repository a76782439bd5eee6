#!/usr/bin/env python3
"""Checks our webhook signatures against the reference library of Standard Webhooks (PyPI: standardwebhooks).

The library signs some messages and verifies what it signed; the result is the table of vectors that the Swift tests
read. Those check that our signer makes exactly these signatures and that our verifier takes them. Signing is
deterministic, so each side accepts what the other one signs.

    python3 Tests/Interop/standard_webhooks.py           # fails when the committed table is not what the library makes
    python3 Tests/Interop/standard_webhooks.py --write   # writes the table
"""

import base64
import pathlib
import subprocess
import sys
import tempfile
import venv
from datetime import datetime, timezone

VERSION = "1.1.0"
TABLE = pathlib.Path(__file__).parent.parent / "CarillonProvidersTests/Webhook/StandardWebhooksVectors.swift"

SECRETS = [
    "whsec_" + base64.b64encode(bytes(range(24))).decode(),
    "whsec_" + base64.b64encode(bytes(range(100, 132))).decode(),
    "whsec_" + base64.b64encode(bytes(255 - i for i in range(64))).decode(),
]
MESSAGES = [
    ("msg_1", 1_700_000_000, '{"type":"notification.created"}'),
    ("0193e5d0-7b5a-5c1e-9d3f-2f6a1b7c8d9e", 1_763_632_800, '{"title":"Bob","body":"สวัสดี 👋🏽 – \\"hi\\"\\n"}'),
    ("empty", 1, ""),
    ("id.with.dots", 253_370_764_800, "[" + ",".join(str(i) for i in range(20)) + "]"),
]


def vectors(library):
    """Yields (secret, id, timestamp, body, signature), each verified by the library at the time of its timestamp."""
    for secret in SECRETS:
        for message_id, timestamp, body in MESSAGES:
            moment = datetime.fromtimestamp(timestamp, tz=timezone.utc)

            class Clock(datetime):
                @classmethod
                def now(cls, tz=None):
                    return moment

            library.datetime = Clock
            webhook = library.Webhook(secret)
            signature = webhook.sign(msg_id=message_id, timestamp=moment, data=body)
            headers = {
                "webhook-id": message_id,
                "webhook-timestamp": str(timestamp),
                "webhook-signature": signature,
            }
            webhook.verify(body, headers, json_parse=False)
            yield secret, message_id, timestamp, body, signature


def swift(rows):
    rows = list(rows)
    lines = [
        "/// Messages that the reference library signed. Made by Tests/Interop/standard_webhooks.py; not to be edited.",
        "struct StandardWebhooksVector: Sendable {",
        "    let secret: String",
        "    let id: String",
        "    let timestamp: Int64",
        "    let body: String",
        "    let signature: String",
        "",
        "    private static let messages: [(id: String, timestamp: Int64, body: String)] = [",
    ]
    for message_id, timestamp, body in MESSAGES:
        lines.append(f'        ("{message_id}", {timestamp:_}, #"{body}"#),')
    lines += ["    ]", "", "    /// By secret, of each message.", "    private static let signatures: KeyValuePairs = ["]
    for secret in SECRETS:
        lines.append(f'        "{secret}": [')
        lines += [f'            "{row[-1]}",' for row in rows if row[0] == secret]
        lines.append("        ],")
    lines += [
        "    ]",
        "",
        "    static let all = signatures.flatMap { secret, signatures in",
        "        zip(messages, signatures).map { message, signature in",
        "            StandardWebhooksVector(",
        "                secret: secret,",
        "                id: message.id,",
        "                timestamp: message.timestamp,",
        "                body: message.body,",
        "                signature: signature",
        "            )",
        "        }",
        "    }",
        "}",
        "",
    ]
    return "\n".join(lines)


def main():
    try:
        from standardwebhooks import webhooks as library
    except ImportError:
        if "--in-venv" in sys.argv:
            raise
        with tempfile.TemporaryDirectory() as directory:
            venv.create(directory, with_pip=True)
            python = f"{directory}/bin/python"
            subprocess.run([python, "-m", "pip", "install", "--quiet", f"standardwebhooks=={VERSION}"], check=True)
            return subprocess.run([python, __file__, "--in-venv", *sys.argv[1:]]).returncode
    text = swift(vectors(library))
    if "--write" in sys.argv:
        TABLE.parent.mkdir(parents=True, exist_ok=True)
        TABLE.write_text(text, encoding="utf-8")
    elif TABLE.read_text(encoding="utf-8") != text:
        print(f"{TABLE} is not what standardwebhooks {VERSION} makes; run with --write", file=sys.stderr)
        return 1
    print(f"{len(SECRETS) * len(MESSAGES)} vectors: standardwebhooks agrees")
    return 0


if __name__ == "__main__":
    sys.exit(main())
