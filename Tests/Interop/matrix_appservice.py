"""Rooms of a real homeserver of which Carillon is an application service: what happens in them becomes notifications."""

import os

from http_client import ask, bearer
from matrix_unstorable import no_event_holds_back_transactions
from playing import equal, eventually
from service import segment
from synapse import User, quoted

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

    def event(self, event):
        """What became of an event of the homeserver's; `None` until it is here."""
        query = "?sourceId=" + segment(f"matrix|{event}")
        return next(iter(self.network.get("events", query=query)["items"]), None)

    def finished(self, event):
        """Waits until an event of the homeserver's was told to whom it concerns."""
        eventually(event, lambda: (self.event(event) or {}).get("state") == "done")

    def post(self, transaction, events, token=TOKEN):
        """A transaction by hand, of events or of bytes."""
        body = events if isinstance(events, bytes) else {"events": events}
        path = f"/v1/networks/{NETWORK}/events/matrix/_matrix/app/v1/transactions/{transaction}"
        return ask(self.played.service.address, "PUT", path, body, bearer(token))


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
    scene.told(("Dora (Greenhouse)", "Encrypted message"), scene.erin, scene.frank)


def what_has_no_words_or_others_beside_it_is_told_as_what_it_is(scene):
    for kind, content, said in [
        ("m.sticker", {"body": "A cat waves", "url": "mxc://matrix.test/cat", "info": {}}, "Sticker"),
        ("m.room.message", {"msgtype": "m.image", "body": "Our tree", "filename": "tree.png"}, "Our tree"),
        ("m.room.message", {"msgtype": "m.file", "body": "The plan", "filename": "plan.pdf"}, "The plan"),
        ("m.poll.start", {"m.poll": {"question": {"m.text": [{"body": "Tea?"}]}, "answers": []}}, "Poll"),
        ("m.call.invite", {"call_id": "1", "version": "1", "lifetime": 60_000, "offer": {"sdp": ""}}, "Call"),
    ]:
        scene.dora.send(scene.room, kind, content)
        scene.told(("Dora (Greenhouse)", said), scene.erin, scene.frank)
    answer = {"msgtype": "m.text", "body": "> <@dora:matrix.test> Hello\n\nHello, Dora"}
    answer["m.relates_to"] = {"m.in_reply_to": {"event_id": scene.said}}
    scene.frank.send(scene.room, "m.room.message", answer)
    scene.told(("Frank (Greenhouse)", "Hello, Dora"), scene.dora, scene.erin)
    edit = {"msgtype": "m.text", "body": "* Hello, Erin", "m.new_content": {"msgtype": "m.text", "body": "Hello, Erin"}}
    edit["m.relates_to"] = {"rel_type": "m.replace", "event_id": scene.said}
    scene.dora.send(scene.room, "m.room.message", edit)


def invitations_are_told_by_who_invites_and_where(scene):
    scene.told(("Dora", "Dora invited you to Garden"), scene.erin, scene.frank)
    alias = scene.dora.create_room(name="", room_alias_name="roses")
    scene.dora.invite(alias, scene.frank)
    scene.told(("Dora", "Dora invited you to #roses:matrix.test"), scene.frank)
    scene.frank.join(alias)
    scene.dora.say(alias, "Under its alias")
    scene.told(("Dora (#roses:matrix.test)", "Under its alias"), scene.frank)
    scene.dora.call("PUT", f"rooms/{quoted(alias)}/state/m.room.canonical_alias/", {})
    scene.dora.say(alias, "Without its alias")
    scene.told(("Dora", "Without its alias"), scene.frank)
    nameless = scene.frank.create_room(scene.erin)
    scene.told(("Frank", "Frank invited you"), scene.erin)
    scene.erin.join(nameless)
    scene.frank.say(nameless, "Without a name")
    scene.told(("Frank", "Without a name"), scene.erin)


def rooms_of_two_are_told_by_who_writes(scene):
    direct = scene.dora.create_room(scene.frank, is_direct=True, preset="trusted_private_chat")
    scene.told(("Dora", "Dora invited you"), scene.frank)
    scene.frank.join(direct)
    scene.frank.say(direct, "Only for Dora")
    scene.told(("Frank", "Only for Dora"), scene.dora)
    scene.dora.send(direct, "m.room.encrypted", {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "AwgA"})
    scene.told(("Dora", "Encrypted message"), scene.frank)
    # Also a name makes of it no room of many.
    scene.dora.rename(direct, "Our secret")
    scene.dora.say(direct, "Only for Frank")
    scene.told(("Dora", "Only for Frank"), scene.frank)


def what_is_deleted_is_not_told_any_more(scene):
    # Of devices with such a token the push service says that they get too much, and to try again.
    body = {"provider": "fcm", "appId": APP, "token": f"quota-device-{os.urandom(16).hex()}", "userId": scene.frank.id}
    scene.network.put("devices", "busy", body=body)
    said = scene.dora.say(scene.room, "Too soon")
    scene.told(("Dora (Greenhouse)", "Too soon"), scene.erin, scene.frank)
    eventually("the busy device was asked", lambda: scene.played.simulator.requests(body["token"]))
    scene.finished(scene.dora.redact(scene.room, said))
    scene.finished(said)
    deliveries = scene.network.get("events", scene.event(said)["id"], "deliveries")["items"]
    equal(
        "what became of it", sorted((each["state"], each.get("reason")) for each in deliveries),
        [("delivered", None), ("delivered", None), ("expired", "deleted")],
    )
    scene.network.delete("devices", "busy")


def whoever_leaves_or_has_switched_off_is_told_no_more(scene):
    scene.frank.leave(scene.room)
    scene.network.put("users", scene.erin.id, "notifications", body={"enabled": False})
    scene.finished(scene.dora.say(scene.room, "To nobody"))
    scene.network.put("users", scene.erin.id, "notifications", body={"enabled": True})
    scene.dora.say(scene.room, "To Erin")
    scene.told(("Dora (Greenhouse)", "To Erin"), scene.erin)
    for user in (scene.erin, scene.frank):
        assert ("Dora (Greenhouse)", "To nobody") not in scene.shown(user), "what was said to nobody"


def nothing_is_lost_while_the_service_is_down(scene):
    equal("end of the service", scene.played.service.stop(), 0)
    for text in ("One", "Two"):
        scene.dora.say(scene.room, text)
    eventually("the homeserver tries in vain", lambda: f"/v1/networks/{NETWORK}" in scene.homeserver.said())
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


def nothing_came_twice_and_nobody_was_told_of_what_is_no_news(scene):
    told = set()
    for user in (scene.dora, scene.erin, scene.frank):
        shown = scene.shown(user)
        equal(f"what {user.id} was told", sorted(shown), sorted(set(shown)))
        told |= set(shown)
    joined = {body for _, body in told if "joined" in body}
    # Nobody is told who joins a room without a name, or a direct one.
    expected = {"Erin": {"Garden", "Old"}, "Frank": {"Garden", "#roses:matrix.test"}}
    equal("who joined what", joined, {f"{who} has joined {room}" for who, rooms in expected.items() for room in rooms})
    equal("edits", [body for _, body in told if "Hello, Erin" in body], [])
    equal("ids of rooms", [text for text in told if "!" in "".join(text)], [])
    said = scene.played.said()
    for secret in (TOKEN, "It rains", "Greenhouse", *scene.phones.values()):
        assert secret not in said, f"{secret} stands in the log"


ACTS = [
    whoever_joins_a_room_is_announced_to_those_before,
    messages_become_notifications_of_everybody_else,
    what_has_no_words_or_others_beside_it_is_told_as_what_it_is,
    invitations_are_told_by_who_invites_and_where,
    rooms_of_two_are_told_by_who_writes,
    what_is_deleted_is_not_told_any_more,
    whoever_leaves_or_has_switched_off_is_told_no_more,
    no_event_holds_back_transactions,
    nothing_is_lost_while_the_service_is_down,
    a_transaction_that_is_repeated_is_answered_and_not_told_again,
    nothing_came_twice_and_nobody_was_told_of_what_is_no_news,
]
