#!/usr/bin/env python3
"""Plays docs/moving.md: every command on it, in order, against a service, with what the other systems would answer; what comes
out is looked at. The Ably that is moved from is another Carillon's face.

    python3 Tests/Interop/moving_page.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import json
import os
import pathlib
import re
import subprocess
import sys

from pages import Page
from playing import equal, eventually, perform, program_argument, stage

PAGE = Page("moving.md")
KEY = "app1.key1:what-stands-behind-the-colon"


class Move:
    """Somebody's shell, in which the page's commands are entered."""

    def __init__(self, program, played, former):
        self.played, self.former, self.network = played, former, played.network
        self.folder = played.folder / "shell"
        self.folder.mkdir()
        (self.folder / "carillon").symlink_to(pathlib.Path(program).resolve())
        self.environment = os.environ | {
            "PATH": f"{self.folder}:{os.environ['PATH']}", "here": played.service.address, "api": f"{played.service.address}/v1/networks",
            "json": "content-type: application/json", "operator": f"authorization: Bearer {played.service.token}",
            "admin": f"authorization: Bearer {self.network.key}", "ably": former.service.address, "key": KEY,
            "CARILLON_OPERATOR_TOKEN": played.service.token,
        }

    def write(self, name, content):
        (self.folder / name).write_text(content if isinstance(content, str) else json.dumps(content))

    def enter(self, section):
        """Enters the commands of a section of the page; answers what each block of them said."""
        return [self.run(block) for block in PAGE.blocks(section)]

    def run(self, block):
        ended = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert ended.returncode == 0 and "/problems/" not in ended.stdout, f"{block}\n{ended.stdout}{ended.stderr}"
        return ended.stdout


def documents(text):
    """All JSON documents of a text."""
    found, at, decoder = [], 0, json.JSONDecoder()
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def all_commands_are_entered(move):
    sections = re.findall(r"^(##+) (.*)$", PAGE.text, re.M)
    equal("sections", [name for _, name in sections], [
        "The four steps", "1. Import first", "2. Run beside", "3. Compare", "4. Switch", "Stream", "Sendbird", "Sygnal", "Ably",
    ])


def the_directory_is_imported_first(move):
    [said] = move.enter("1. Import first")
    equal("import", documents(said), [{"users": 2, "channels": 1, "members": 2, "devices": 1}])


def beside_nothing_is_sent(move):
    [said] = move.enter("2. Run beside")
    equal("the switch", documents(said)[0]["enabled"], False)


def what_would_be_sent_is_compared(move):
    [said] = move.enter("3. Compare")
    posted, recipients, explained, *_ = documents(said)
    equal("posted", posted["status"], "accepted")
    event = move.network.finished(posted["id"])
    equal("recipients", event["recipients"], {
        "resolved": 1, "notified": 0, "suppressed": {"network": 1, "user": 0, "channel": 0, "endpoint": 0}, "noDevice": 0,
    })
    equal("recipients", set(recipients), set(event["recipients"]))
    equal("why", explained["decidedBy"], "network")
    equal("levels", {each["level"]: each["allows"] for each in explained["levels"]}, {"network": False, "user": True, "channel": True})
    equal("text", explained["notification"]["title"], "Alice (General)")
    equal("devices", [each["id"] for each in explained["devices"]], ["iphone-of-bob"])
    equal("sent", move.played.simulator.requests(), [])


def opening_the_switch_sends_what_comes_and_nothing_of_before(move):
    [said] = move.enter("4. Switch")
    equal("the switch", documents(said)[0]["enabled"], True)
    equal("sent", move.network.finished(move.network.say("Now"))["recipients"]["notified"], 1)
    sent = eventually("the push", lambda: move.played.simulator.requests())
    equal("sent", [each["body"] for each in sent], ["Now"])


def stream(move):
    move.write("stream-channels.json", {"channels": [{
        "channel": {"cid": "messaging:general", "id": "general", "type": "messaging", "name": "General"},
        "members": [{"user_id": each, "user": {"id": each, "name": each.capitalize()}} for each in ("alice", "bob")],
    }]})
    move.write("stream-devices.json", {"devices": [
        {"push_provider": "apn", "id": "11" * 32, "user_id": "bob"}, {"push_provider": "firebase", "id": "token-1", "user_id": "bob"},
    ]})
    imported, document, compared = move.enter("Stream")
    equal("import", documents(imported), [{"users": 2, "channels": 1, "members": 2, "devices": 2}])
    equal("dialect", documents(document)[0]["enabled"], True)
    preview, recent = documents(compared)
    equal("preview", [each["data"]["channel"]["id"] for each in preview["events"] if each["type"] == "message.sent"], ["messaging:general"])
    equal("recent", recent, {"items": []})
    equal("devices", len(move.network.get("users", "bob", "devices")["items"]), 3)
    # The app registers the same phone under an id of its own: there is one device for it, that of the app.
    move.network.put("devices", "app", body={
        "userId": "bob", "provider": "fcm", "appId": "com.example.chat", "token": "token-1",
    })
    equal("devices", sorted(each["id"] for each in move.network.get("users", "bob", "devices")["items"]), ["app", "iphone-of-bob", "stream-bob-0"])


def sendbird(move):
    move.write("sendbird-channels.json", {"channels": [
        {"channel_url": "sb-1", "name": "General", "is_distinct": False, "member_count": 3,
         "members": [{"user_id": each, "nickname": each.capitalize()} for each in ("alice", "bob", "carol")]},
        {"channel_url": "sb-2", "name": "Group Channel", "is_distinct": True, "member_count": 2,
         "members": [{"user_id": each, "nickname": each.capitalize()} for each in ("alice", "bob")]},
    ]})
    imported, document, compared = move.enter("Sendbird")
    equal("import", documents(imported), [{"users": 5, "channels": 2, "members": 5, "devices": 0}])
    equal("dialect", documents(document)[0]["enabled"], True)
    preview, _ = documents(compared)
    equal("preview", {each["type"] for each in preview["events"]} >= {"message.sent"}, True)
    equal("direct", [move.network.get("channels", each)["direct"] for each in ("sb-1", "sb-2")], [False, True])


def sygnal(move):
    apns, fcm = (move.played.simulator.credential(each) for each in ("apns", "fcm"))
    move.write("AuthKey.p8", apns["privateKey"])
    move.write("service-account.json", fcm["serviceAccount"])
    move.write("sygnal.yaml", json.dumps({"apps": {
        "org.acme.ios": {"type": "apns", "keyfile": "AuthKey.p8", "key_id": apns["keyId"], "team_id": apns["teamId"], "topic": "com.example.chat"},
        "org.acme.android": {
            "type": "gcm", "api_version": "v1", "project_id": "demo", "service_account_file": "service-account.json",
        },
    }}))
    imported, pushed, compared = move.enter("Sygnal")
    assert "would be taken over" in imported and "taken over" in imported and "PRIVATE KEY" not in imported, imported
    equal("bindings", len(move.network.get("faces", query="?face=matrix")["items"]), 2)
    equal("pushed", documents(pushed), [{"rejected": []}])
    items = documents(compared)[0]["items"] or eventually("recent", lambda: move.network.get("faces", "matrix", "recent")["items"])
    equal("recent", items[0]["status"], 200)
    token = "74686520746f6b656e206f6620612070686f6e652c2033322062797465732e2e"
    equal("arrived", move.played.simulator.received(token)["status"], 200)


def ably(move):
    former, key = move.former, KEY.split(":")
    former.bind("ably", "app1", {"android": {"appId": "com.example.chat"}, "namespaces": {"*": {"push": True}}})
    former.service.call("POST", former.network.path("faces", "ably", "keys"), {
        "name": key[0], "secret": key[1], "rights": {"*": ["push-admin", "publish"]},
    })
    ask = 'curl -sf -u "$key" -H "$json" "$ably/push/{}" -X {} -d \'{}\' -o /dev/null'
    move.run(ask.format("deviceRegistrations/d%201", "PUT", json.dumps({
        "id": "d 1", "clientId": "alice", "platform": "android", "formFactor": "phone",
        "push": {"recipient": {"transportType": "fcm", "registrationToken": "ably-token"}},
    })))
    move.run(ask.format("channelSubscriptions", "POST", json.dumps({"channel": "news", "deviceId": "d 1"})))
    copied, published, compared = move.enter("Ably")
    equal("copied", re.findall(r"\d{3}$", copied, re.M), ["200", "201"])
    assert documents(published), published
    eventually("the push", lambda: move.played.simulator.requests("ably-token"))
    equal("arrived", move.played.simulator.received("ably-token")["body"], "It works")
    # It may be asked before anybody was found.
    equal("compared", documents(compared)[1]["resolved"] or eventually("the comparison", lambda: move.network.get(
        "events", query="?type=notification.direct&limit=1")["items"][0]["recipients"]["resolved"]), 1)


ACTS = [
    all_commands_are_entered, the_directory_is_imported_first, beside_nothing_is_sent, what_would_be_sent_is_compared,
    opening_the_switch_sends_what_comes_and_nothing_of_before, stream, sendbird, sygnal, ably,
]


def main():
    program = program_argument()
    with stage(program) as former, stage(program) as played:
        return perform(ACTS, Move(program, played, former))


if __name__ == "__main__":
    sys.exit(main())
