"""Rooms of a real homeserver of which Carillon is an application service: what happens in them becomes notifications."""

import os

from http_client import ask, bearer
from playing import equal, eventually
from service import segment
from synapse import User

APP = "com.example.chat"
NETWORK = "rooms"
TOKEN = "hs-token-of-the-homeserver"
PEOPLE = ["Dora", "Erin", "Frank"]


def registration(address):
    """What the homeserver is told of the service: only of some of its users, others are for other tests."""
    users = "|".join(name.lower() for name in PEOPLE)
    return {
        "id": "carillon", "url": f"{address}/v1/networks/{NETWORK}/events/matrix",
        "as_token": "as-token-of-the-service", "hs_token": TOKEN, "sender_localpart": "carillon", "rate_limited": False,
        "namespaces": {"users": [{"exclusive": False, "regex": f"@({users}):matrix\\.test"}], "rooms": [], "aliases": []},
    }


class Scene:
    """Three people with a phone each, in a network that knows nothing but what the homeserver tells it."""

    def __init__(self, played, homeserver):
        self.played, self.homeserver = played, homeserver
        self.network = played.make_network(NETWORK)
        self.network.put("dialects", "matrix", body={"secrets": [TOKEN]})
        homeserver.wait()
        self.dora, self.erin, self.frank = (User(homeserver, name.lower(), name) for name in PEOPLE)
        self.phones = {}
        for user in (self.dora, self.erin, self.frank):
            self.phones[user.id] = f"device-{os.urandom(16).hex()}"
            body = {"provider": "fcm", "appId": APP, "token": self.phones[user.id], "userId": user.id}
            self.network.put("devices", user.id, body=body)

    def shown(self, user):
        """What the user's phone was told so far."""
        taken = self.played.simulator.requests(self.phones[user.id])
        return [(request["title"], request["body"]) for request in taken if request["status"] == 200]

    def told(self, text, *users):
        """Waits until each of these was told something, and makes sure that it was once."""
        for user in users:
            eventually(f"{user.id} and {text}", lambda: text in self.shown(user))
            equal(f"how often {user.id} was told", self.shown(user).count(text), 1)

    def finished(self, event):
        """Waits until an event of the homeserver's was told to whom it concerns."""
        query = "?sourceId=" + segment(f"matrix|{event}")
        found = lambda: any(item["state"] == "done" for item in self.network.get("events", query=query)["items"])
        eventually(event, found)

    def post(self, transaction, events, token=TOKEN):
        """A transaction by hand."""
        path = f"/v1/networks/{NETWORK}/events/matrix/_matrix/app/v1/transactions/{transaction}"
        return ask(self.played.service.address, "PUT", path, {"events": events}, bearer(token))

    def recent(self):
        return self.network.get("dialects", "matrix", "recent")["items"]


def whoever_joins_a_room_is_announced_to_those_before(scene):
    scene.room = scene.dora.create_room(scene.erin, scene.frank, name="Garden")
    scene.erin.join(scene.room)
    scene.told(("Erin", "Erin has joined Garden"), scene.dora)
    scene.frank.join(scene.room)
    scene.told(("Frank", "Frank has joined Garden"), scene.dora, scene.erin)


def messages_become_notifications_of_everybody_else(scene):
    scene.said = scene.dora.say(scene.room, "Hello")
    scene.told(("Dora (Garden)", "Hello"), scene.erin, scene.frank)
    scene.erin.send(scene.room, "m.room.message", {"msgtype": "m.image", "body": "tree.png"})
    scene.told(("Erin (Garden)", "Image Message"), scene.dora, scene.frank)
    scene.dora.rename(scene.room, "Greenhouse")
    scene.frank.say(scene.room, "It rains")
    scene.told(("Frank (Greenhouse)", "It rains"), scene.dora, scene.erin)
    scene.dora.send(scene.room, "m.room.encrypted", {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "AwgA"})
    scene.told(("Dora (Greenhouse)", "Special message"), scene.erin, scene.frank)


def whoever_leaves_or_has_switched_off_is_told_no_more(scene):
    scene.frank.leave(scene.room)
    scene.network.put("users", scene.erin.id, "notifications", body={"enabled": False})
    scene.finished(scene.dora.say(scene.room, "To nobody"))
    scene.network.put("users", scene.erin.id, "notifications", body={"enabled": True})
    scene.dora.say(scene.room, "To Erin")
    scene.told(("Dora (Greenhouse)", "To Erin"), scene.erin)
    for user in (scene.erin, scene.frank):
        assert ("Dora (Greenhouse)", "To nobody") not in scene.shown(user), "what was said to nobody"


def one_bad_event_does_not_hold_up_the_others(scene):
    deep = []
    for _ in range(90):
        deep = [deep]
    scene.dora.send(scene.room, "m.room.message", {"msgtype": "m.text", "body": "Deep", "x": deep})
    scene.dora.say(scene.room, "Shallow")
    scene.told(("Dora (Greenhouse)", "Shallow"), scene.erin)
    assert any("cannot be read" in (item["reason"] or "") for item in scene.recent()), scene.recent()


def nothing_is_lost_while_the_service_is_down(scene):
    equal("end of the service", scene.played.service.stop(), 0)
    for text in ("One", "Two"):
        scene.dora.say(scene.room, text)
    log = scene.homeserver.folder / "log"
    eventually("the homeserver tries in vain", lambda: f"/v1/networks/{NETWORK}" in log.read_text())
    scene.played.service.start()
    for text in ("One", "Two"):
        scene.told(("Dora (Greenhouse)", text), scene.erin)


def a_transaction_that_is_repeated_is_answered_and_not_told_again(scene):
    event = scene.dora.event(scene.room, scene.said)
    for transaction in ("1", "another"):
        equal("the answer", scene.post(transaction, [event]), (200, {}))
    equal("a wrong token", scene.post("1", [event], "wrong")[0], 403)
    scene.dora.say(scene.room, "After the repeats")
    scene.told(("Dora (Greenhouse)", "After the repeats"), scene.erin)


def nothing_came_twice(scene):
    for user in (scene.dora, scene.erin, scene.frank):
        shown = scene.shown(user)
        equal(f"what {user.id} was told", sorted(shown), sorted(set(shown)))
    said = scene.played.said()
    for secret in (TOKEN, "It rains", "Greenhouse", *scene.phones.values()):
        assert secret not in said, f"{secret} stands in the log"


ACTS = [
    whoever_joins_a_room_is_announced_to_those_before,
    messages_become_notifications_of_everybody_else,
    whoever_leaves_or_has_switched_off_is_told_no_more,
    one_bad_event_does_not_hold_up_the_others,
    nothing_is_lost_while_the_service_is_down,
    a_transaction_that_is_repeated_is_answered_and_not_told_again,
    nothing_came_twice,
]
