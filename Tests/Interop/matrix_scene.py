"""What the Matrix face is played on: a real homeserver's users, their pushers, and the phones that get what they push."""

import base64
import json
import os

from http_client import ask
from playing import equal, eventually
from synapse import User

APP = "com.example.chat"
# What Element puts beside what the gateway adds.
DEFAULT_PAYLOAD = {"aps": {"mutable-content": 1, "alert": {"loc-key": "Notification", "loc-args": []}}, "cs": "secret"}


class Scene:
    """Alice and Carol write, Bob has the phones."""

    def __init__(self, played, homeserver):
        self.played, self.simulator, self.network = played, played.simulator, played.network
        self.homeserver = homeserver
        self.url = f"{played.service.address}/_matrix/push/v1/notify"
        bind_apps(played)
        homeserver.wait()
        self.alice, self.bob, self.carol = (User(homeserver, name.lower(), name) for name in ("Alice", "Bob", "Carol"))
        self.said, self.excused = [], set()
        self.iphone, self.beta = os.urandom(32), os.urandom(32)
        self.android = f"device-{os.urandom(16).hex()}"
        browser = self.simulator.device("browser")["subscription"]
        self.browser = browser["endpoint"]
        # Native clients send the token in base64; both forms are one device.
        self.set_pusher("org.acme.ios", base64.b64encode(self.iphone).decode(), default_payload={"aps": {"mutable-content": 1}})
        self.set_pusher(
            "org.acme.ios.beta", self.beta.hex(), format="event_id_only", default_payload=DEFAULT_PAYLOAD
        )
        self.set_pusher("org.acme.android", self.android)
        self.set_pusher(
            "org.acme.web", browser["keys"]["p256dh"], endpoint=browser["endpoint"], auth=browser["keys"]["auth"],
            events_only=True, default_payload={"session": 7},
        )

    def set_pusher(self, app, pushkey, **data):
        self.bob.set_pusher(app, pushkey, data.pop("url", self.url), append=True, **data)

    def say(self, room, text):
        self.said.append(text)
        return self.alice.say(room, text)

    def payloads(self, device):
        """What a device was sent and took, whole."""
        taken = [request for request in self.simulator.requests(device) if request["status"] in (200, 201)]
        return [content(request) for request in taken]

    def payload(self, device, event):
        """What a device was sent of an event, as soon as it was."""
        found = eventually(f"{device} and {event}", lambda: self.all_payloads(device, event))
        equal(f"how often {device} was sent {event}", len(found), 1)
        return found[0]

    def all_payloads(self, device, event):
        return [payload for payload in self.payloads(device) if event_of(payload) == event]

    def notify(self, body, query="", method="POST"):
        """What the gateway answers to a request by hand."""
        return ask(self.played.service.address, method, f"/_matrix/push/v1/notify{query}", body)


def content(request):
    payload = json.loads(request["payload"])
    return payload["message"] if request["service"] == "fcm" else payload


def event_of(payload):
    return payload.get("data", {}).get("event_id") if "token" in payload else payload.get("event_id")


def bind_apps(played):
    bindings = {
        "org.acme.ios": {"provider": "apns", "appId": APP, "environment": "production"},
        "org.acme.ios.*": {"provider": "apns", "appId": APP, "environment": "sandbox"},
        "org.acme.android": {"provider": "fcm", "appId": APP},
        "org.acme.web": {"provider": "webpush", "allowedEndpoints": ["127.0.0.1"], "ttlSeconds": 900},
    }
    for name, settings in bindings.items():
        played.bind("matrix", name, settings)
