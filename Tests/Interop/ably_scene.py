"""What all of the acts with Ably's own client have in common: an app with its keys, and their clients."""

import base64
import json
import os

from ably import AblyException, AblyRest

from playing import equal, eventually

APP = "com.example.chat"
NAMESPACES = {"chat": {"push": True}, "*": {"push": False}}
PROTOCOLS = {"MessagePack": True, "JSON": False}


class Scene:
    """An app with three keys, and their clients."""

    def __init__(self, played):
        self.played, self.simulator, self.network = played, played.simulator, played.network
        self.address = played.service.address
        self.port = int(self.address.rsplit(":", 1)[1])
        app = {"ios": {"appId": APP, "environment": "production"}, "android": {"appId": APP}, "namespaces": NAMESPACES}
        played.bind("ably", "app1", app)
        self.key = self.make_key("app1.admin", {"*": ["push-admin", "publish"], "[meta]log:push": ["history"]})
        self.phone_key = self.make_key("app1.phone", {"chat:*": ["push-subscribe", "publish"]})
        self.clients = []
        # The client sends its key over TLS only; otherwise it gets itself a token by it.
        self.clients_of = {name: self.client(key=self.key, use_binary_protocol=binary) for name, binary in PROTOCOLS.items()}
        self.admin = self.clients_of["MessagePack"]
        self.said = []

    def make_key(self, name, rights):
        key = self.network.post("faces", "ably", "keys", body={"name": name, "rights": rights})["key"]
        assert key.startswith(name + ":"), key
        return key

    def client(self, **options):
        if "key" in options:
            options.setdefault("use_token_auth", True)
        made = AblyRest(**({"endpoint": "127.0.0.1", "port": self.port, "tls": False} | options))
        self.clients.append(made)
        return made

    async def close(self):
        for client in self.clients:
            await client.close()

    def requests(self, token, text):
        """What was sent to a device and has a text somewhere."""
        return [request for request in self.simulator.requests(token) if text in request["payload"]]

    def payload(self, token, text):
        """What was sent to a device with a text, as soon as it was."""
        found = eventually(f"{text} for {token[:30]}", lambda: self.requests(token, text))
        equal(f"how often {text} was sent", len(found), 1)
        return json.loads(found[0]["payload"])

    def text(self, words):
        """A text that nothing else has."""
        self.said.append(f"{words} {os.urandom(6).hex()}")
        return self.said[-1]


def iphone(number):
    return {
        "id": f"iphone-{number}", "client_id": "bob", "platform": "ios", "form_factor": "phone",
        "metadata": {"model": "é"},
        "push": {"recipient": {"transportType": "apns", "deviceToken": os.urandom(32).hex()}},
    }


def android(number, transport="fcm"):
    return {
        "id": f"android-{number}", "platform": "android", "form_factor": "tablet",
        "push": {"recipient": {"transportType": transport, "registrationToken": f"device-{os.urandom(16).hex()}"}},
    }


async def refused(what, code, status, call):
    """Expects the client to raise an error with this code and status."""
    try:
        answer = await call
    except AblyException as error:
        codes = code if isinstance(code, tuple) else (code,)
        assert error.code in codes and error.status_code == status, f"{what}: {error} instead of {status}, {codes}"
        assert error.message, what
        return error
    raise AssertionError(f"{what}: {answer} instead of an error")


def bearer(token):
    return {"Authorization": "Bearer " + base64.b64encode(token.encode()).decode()}
