#!/usr/bin/env python3
"""Holds docs/apps.md to the service: tokens are made as it says, in each language that is installed, and what it says that
arrives is compared with what the simulated push services get.

    python3 Tests/Interop/apps_page.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

from pages import Page
from playing import equal, perform, program_argument, stage
from service import ROOT
from serving import clean_environment

PAGE = Page("apps.md")
SERVICES = {"apns": "APNs", "fcm": "FCM", "webpush": "Web Push"}
DEVICES = {"apns": "iphone", "fcm": "android", "webpush": "browser"}
OF_MESSAGES = {"messageId": "m-1", "senderId": "alice"}
GENERAL = {"channel": {"id": "general", "displayName": "General"}, "user": {"id": "alice", "displayName": "Alice"}}
EVENTS = {
    "channel.created": GENERAL | {"members": [{"id": "bob"}]},
    "channel.invited": GENERAL | {"invited": [{"id": "bob"}]},
    "member.joined": GENERAL | {"members": [{"id": "carol"}]},
    "message.sent": GENERAL | {"message": {"id": "m-1", "type": "text", "text": "Hello"}},
}
DIRECT = {
    "to": {"userIds": ["bob"]}, "channelId": "general", "title": "Build 81 failed", "body": "main: 3 tests", "badge": 3,
    "sound": "ding.caf", "category": "BUILD", "collapseKey": "build-81", "imageUrl": "https://acme.example/81.png", "data": {"build": "81"},
}


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout.strip()


def swift(source, folder):
    """Built with the packages that the service was built with; it is not run where they are not."""
    modules = ROOT / ".build/debug"
    parts = ["Crypto", "CryptoBoringWrapper", "CCryptoBoringSSL", "CCryptoBoringSSLShims", "CXKCP", "CXKCPShims"]
    objects = [str(path) for part in parts for path in (modules / f"{part}.build").rglob("*.o")]
    if not (modules / "Modules/Crypto.swiftmodule").exists() or not objects:
        return None
    run("swiftc", "-I", str(modules / "Modules"), source, *objects, "-lstdc++", "-o", f"{folder}/token")
    return [f"{folder}/token"]


LANGUAGES = {
    "sh": ("sh", "openssl", lambda source, _: ["sh", source]),
    "python": ("py", "python3", lambda source, _: ["python3", source]),
    "js": ("cjs", "node", lambda source, _: ["node", source]),
    "go": ("go", "go", lambda source, _: ["go", "run", source]),
    "swift": ("swift", "swiftc", swift),
}


def tokens_are_made_as_the_page_says(played):
    for language, (ending, tool, command) in LANGUAGES.items():
        [code] = [each for each in PAGE.code(language) if "USER_TOKEN_SECRET" in each]
        if not shutil.which(tool):
            print(f"  {tool} is not installed: its tokens are not tried")
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, f"main.{ending}")
            source.write_text(code)
            if not (found := command(str(source), folder)):
                print(f"  the packages of {language} are not built: its tokens are not tried")
                continue
            token = run(*found, env=os.environ | {"USER_TOKEN_SECRET": played.network.user_token_secret})
        equal(language, played.service.call("GET", "/v1/whoami", token=token), {"role": "user", "network": "acme", "userId": "bob"})


def the_program_prints_a_token_as_the_page_says(played):
    """As whoever runs the service does on its machine: the operator's token is in the data directory."""
    [command] = re.findall(r"`carillon (token [^`]*)`", PAGE.text)
    address = urllib.parse.urlsplit(played.service.address).netloc
    environment = clean_environment() | {"CARILLON_DATA_DIR": f"{played.folder}/data", "CARILLON_LISTEN": address}
    began = int(time.time())
    token = run(played.service.program, *command.split(), env=environment)
    equal("whoami", played.service.call("GET", "/v1/whoami", token=token), {"role": "user", "network": "acme", "userId": "bob"})
    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert began + 3600 <= claims["exp"] <= time.time() + 3600, claims
    unknown = command.replace("acme", "nobody").split()
    refused = subprocess.run([played.service.program, *unknown], env=environment, capture_output=True, text=True)
    assert refused.returncode != 0 and not refused.stdout and refused.stderr, refused


def devices_are_registered(played):
    for provider, name in DEVICES.items():
        played.network.put("devices", name, body=played.simulator.device(name) | {"userId": "bob"})
    played.network.put("channels", "general", "members", body={"userIds": ["alice", "bob"]})


def what_arrives_is_what_the_table_says(played):
    rows = PAGE.table("what")
    for event_type, data in EVENTS.items():
        event = played.network.post("events", body={"id": event_type, "type": event_type, "data": data})["id"]
        compare(played, rows, event, event_type, {"every one", "of a channel", f"`{event_type}`"})
    event = played.network.post("notifications", body=DIRECT)["id"]
    compare(played, rows, event, "notification.direct", {"every one", "of a channel", "direct"})


def compare(played, rows, event, event_type, kinds):
    played.network.finished(event)
    for provider, column in SERVICES.items():
        expected = {path: None for row in rows if row["of"] in kinds for path in paths_in(row[column])}
        payload = received(played, provider, event)
        found = leaves(payload)
        equal(f"{event_type} on {column}", sorted(found), sorted(expected))
        equal(f"the event on {column}", next(value for path, value in found.items() if path.endswith("eventId")), event)
        for path in expected:
            if (name := path.split(".")[-1]) in OF_MESSAGES:
                equal(path, found[path], OF_MESSAGES[name])


def paths_in(cell):
    """What stands in a cell in backticks, but for headers."""
    return re.findall(r"`([^`]+)`", re.sub(r"the header `[^`]+`", "", cell))


def received(played, provider, event):
    """The payload for a device, as its app gets it."""
    device = played.simulator.device(DEVICES[provider])
    address = device.get("token") or device["subscription"]["endpoint"]
    for request in reversed(played.simulator.requests(address)):
        payload = json.loads(request["payload"])
        payload = payload.get("message", payload)
        payload.pop("token", None)
        if event in request["payload"]:
            return payload
    raise AssertionError(f"{provider} did not get {event}")


def leaves(value, path=""):
    if not isinstance(value, dict):
        return {path: value}
    return {key: each for name, inner in value.items() for key, each in leaves(inner, f"{path}.{name}" if path else name).items()}


def shell_commands_of_the_page_work(played):
    environment = os.environ | {
        "api": f"{played.service.address}/v1/networks", "admin": f"authorization: Bearer {played.network.key}",
        "json": "content-type: application/json",
    }
    [command] = [each for each in PAGE.code("sh") if each.startswith("curl")]
    equal("sent", json.loads(run("bash", "-euo", "pipefail", "-c", command, env=environment))["status"], "accepted")


def raw_parts_of_the_page_do_what_it_says(played):
    parts = re.findall(r'`"(apns|fcm)":(\{.*?\})`', PAGE.text)
    equal("raw parts", [name for name, _ in parts], ["fcm", "apns"])
    body = {"to": {"userIds": ["bob"]}, "title": "Hi"} | {name: json.loads(part) for name, part in parts}
    event = played.network.post("notifications", body=body)["id"]
    played.network.finished(event)
    equal("APNs", received(played, "apns", event)["aps"]["mutable-content"], 1)
    equal("FCM", received(played, "fcm", event)["android"]["notification"]["channel_id"], "members")
    [silent] = re.findall(r'`(\{"to".*?\})`', PAGE.text)
    event = played.network.post("notifications", body=json.loads(silent))["id"]
    played.network.finished(event)
    equal("a badge and nothing else", received(played, "apns", event)["aps"], {"badge": 3})


def scripts_of_the_page_are_scripts(played):
    if not shutil.which("node"):
        print("  node is not installed: the page's scripts are not read")
        return
    for code in PAGE.code("js"):
        if "require(" not in code:
            with tempfile.NamedTemporaryFile("w", suffix=".mjs") as file:
                file.write(code)
                file.flush()
                run("node", "--check", file.name)


ACTS = [
    tokens_are_made_as_the_page_says, the_program_prints_a_token_as_the_page_says, devices_are_registered,
    what_arrives_is_what_the_table_says, shell_commands_of_the_page_work, raw_parts_of_the_page_do_what_it_says,
    scripts_of_the_page_are_scripts,
]


def main():
    with stage(program_argument()) as played:
        return perform(ACTS, played)


if __name__ == "__main__":
    sys.exit(main())
