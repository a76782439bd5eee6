#!/usr/bin/env python3
"""Reads our Web Push messages with libraries that others wrote (PyPI: http-ece for RFC 8291, py-vapid for RFC 8292).

A Swift test sends messages to browsers that exist only there, and writes down what went out and the browsers' keys. Here
each body is decrypted and compared with what it should say, and each Authorization header is verified. Needs the tests
to be built.

    python3 Tests/Interop/webpush.py
"""

import base64
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

import http_ece
import py_vapid
from cryptography.hazmat.primitives.asymmetric import ec

ROOT = pathlib.Path(__file__).parent.parent.parent
MAXIMUM_BODY = 4096
MAXIMUM_LIFETIME = 24 * 3600


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def messages():
    """What the Swift test has written."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "messages.json"
        subprocess.run(
            ["swift", "test", "--skip-build", "--filter", "WebPushInteropTests"],
            cwd=ROOT, env=os.environ | {"WEBPUSH_MESSAGES_FILE": str(path)}, check=True, stdout=subprocess.DEVNULL,
        )
        return json.loads(path.read_text())


def origin(endpoint):
    """RFC 6454 section 6.2, of an https URL."""
    parts = urllib.parse.urlsplit(endpoint)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"https://{host}" + (f":{parts.port}" if parts.port not in (None, 443) else "")


def check_body(message):
    key = ec.derive_private_key(int.from_bytes(decode(message["privateKey"]), "big"), ec.SECP256R1())
    body = decode(message["body"])
    assert len(body) <= MAXIMUM_BODY, len(body)
    plaintext = http_ece.decrypt(
        body, private_key=key, auth_secret=decode(message["auth"]), version="aes128gcm"
    )
    assert plaintext == decode(message["plaintext"])
    shown = json.loads(plaintext)
    assert set(shown) == {"title", "body", "tag", "data"}
    assert shown["tag"] == shown["data"]["notificationId"]
    return shown


def check_headers(message, shown, document):
    headers = message["headers"]
    assert headers["content-encoding"] == "aes128gcm"
    assert headers["urgency"] == "high"
    assert 0 < int(headers["ttl"]) <= 24 * 3600
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,32}", headers["topic"])
    assert headers["topic"] == shown["tag"].replace("-", "")
    # The library takes the two parameters only without a space between them.
    header = headers["authorization"].replace(", k=", ",k=")
    assert py_vapid.Vapid02.verify(header)
    token, key = re.fullmatch(r"vapid t=([^,]+),k=(.+)", header).groups()
    assert key == document["publicKey"]
    claims = json.loads(decode(token.split(".")[1]))
    assert claims["aud"] == origin(message["endpoint"]), claims
    assert claims["sub"] == document["subject"] and py_vapid._check_sub(claims["sub"])
    assert 0 < claims["exp"] - document["sentAt"] <= MAXIMUM_LIFETIME, claims
    return header


def check_refusals(message, header):
    """That the libraries would have noticed: a body and a token with one bit changed."""
    changed = copy.deepcopy(message)
    body = bytearray(decode(message["body"]))
    body[-1] ^= 1
    changed["body"] = base64.urlsafe_b64encode(body).decode().rstrip("=")
    try:
        check_body(changed)
        raise AssertionError("a changed body was read")
    except http_ece.ECEException:
        pass
    except Exception as error:
        assert type(error).__name__ == "InvalidTag", error
    claims = header.index(".") + 5
    forged = header[:claims] + ("A" if header[claims] != "A" else "B") + header[claims + 1:]
    assert not py_vapid.Vapid02.verify(forged)


def main():
    document = messages()
    for message in document["messages"]:
        header = check_headers(message, check_body(message), document)
        check_refusals(message, header)
    count = len(document["messages"])
    assert count > 0
    print(f"{count} messages: http-ece reads them, py-vapid verifies them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
