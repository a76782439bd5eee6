#!/usr/bin/env python3
"""Plays other backends' webhooks with their own kits: what they make and sign is taken, and what they refuse is refused.

    python3 Tests/Interop/dialects_sdks.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given

Stream's two kits verify what is posted and give bodies their shape, CloudEvents' kit writes events in its modes, and Twilio's signs.
Sendbird's and Amity's have nothing to do with webhooks; CometChat and TalkJS have none for Python.
"""

import gzip
import hashlib
import hmac
import json
import os
import sys
import time
import warnings

import getstream.webhook
import stream_chat
import stream_chat.webhook
from cloudevents.core.bindings.http import HTTPMessage, from_http_event, to_binary_event, to_structured_event
from cloudevents.core.v1.event import CloudEvent
from stream_chat.base.exceptions import InvalidWebhookError
from twilio.request_validator import HMAC_SHA256, RequestValidator

from http_client import ask, basic
from playing import equal, eventually, perform, program_argument, stage

APP = "com.example.chat"
PEOPLE = ["alice", "bob", "carol", "dave"]
STREAM_SECRET = "stream-secret-of-thirty-two-bytes"
AUTH_TOKEN = "twilio-auth-token-1"
PUBLIC = "https://push.example.com"


class Scene:
    """A network for each kit, with the same people, each with a phone."""

    def __init__(self, played):
        self.played, self.phones = played, {}
        self.networks = {}
        for name, dialect, document in [
            ("stream", "stream", {"secrets": ["the-next-one", STREAM_SECRET]}),
            ("events", "cloudevents", {"basic": {"user": "carillon", "password": "p:w"}}),
            ("twilio", "cloudevents", {"secrets": [AUTH_TOKEN], "publicUrl": PUBLIC}),
        ]:
            network = self.networks[name] = played.make_network(name)
            network.put("dialects", dialect, body=document)
            for user in PEOPLE:
                phone = self.phones[name, user] = f"device-{os.urandom(16).hex()}"
                body = {"provider": "fcm", "appId": APP, "token": phone, "userId": user}
                network.put("devices", user, body=body)
        self.twilio = RequestValidator(AUTH_TOKEN)
        self.stream = stream_chat.StreamChat("key", STREAM_SECRET)

    def post(self, network, dialect, body, headers, query=""):
        path = self.networks[network].path("events", dialect)
        return ask(self.played.service.address, "POST", path + query, body, headers)

    def told(self, network, title, body, *users):
        """Waits until exactly these were told something; each once."""
        for user in users:
            eventually(f"{user} of {network} and {body}", lambda: (title, body) in self.shown(network, user))
        found = {user: self.shown(network, user).count((title, body)) for user in PEOPLE}
        equal(f"who was told {body}", found, {user: int(user in users) for user in PEOPLE})

    def shown(self, network, user):
        taken = self.played.simulator.requests(self.phones[network, user])
        return [(request["title"], request["body"]) for request in taken if request["status"] == 200]


# Stream

# Bodies leave out what nobody here looks at.
warnings.filterwarnings("ignore", module="dataclasses_json")


def stream_body(**event):
    """An event in the shape of Stream's own model of it: all members that there are, with times in nanoseconds."""
    event |= {"created_at": time.time_ns(), "cid": "messaging:general", "channel_type": "messaging", "channel_id": "general"}
    model = getstream.webhook.parse_event(json.dumps(event).encode())
    equal("the model", type(model).__name__.removesuffix("Event").lower(), event["type"].replace(".", ""))
    return json.dumps(model.to_dict() | {key: value for key, value in event.items() if key.startswith("c")}).encode()


def stream_signature(body, secret=STREAM_SECRET):
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def post_stream(scene, body, packed=False, **headers):
    """Posts what both kits take, and answers the status and what became of it."""
    signature, sent = stream_signature(body), gzip.compress(body) if packed else body
    getstream.webhook.verify_and_parse_webhook(sent, signature, STREAM_SECRET)
    assert scene.stream.verify_webhook(body, signature)
    equal("what the kit reads", scene.stream.verify_and_parse_webhook(sent, signature), json.loads(body))
    status, answer = scene.post("stream", "stream", sent, {"X-Signature": signature, "X-Api-Key": "key"} | headers)
    return status, answer.get("status")


def member(user):
    return {"user_id": user, "user": {"id": user, "name": user.capitalize()}}


def what_streams_kits_take_is_taken_plain_and_packed(scene):
    channel = {
        "id": "general", "type": "messaging", "cid": "messaging:general", "custom": {"name": "General"},
        "created_by": {"id": "alice", "name": "Alice"}, "members": [member(user) for user in ("alice", "bob", "carol")],
    }
    created = stream_body(type="channel.created", channel=channel, user={"id": "alice", "name": "Alice"})
    equal("a channel", post_stream(scene, created, **{"X-Webhook-Id": "w-1"}), (200, "accepted"))
    scene.told("stream", "General", "You're now member of General!", "bob", "carol")
    joined = stream_body(type="member.added", channel=channel, member=member("dave"), user=member("dave")["user"])
    headers = {"X-Webhook-Id": "w-2", "Content-Encoding": "gzip"}
    equal("a member", post_stream(scene, joined, packed=True, **headers), (200, "accepted"))
    scene.told("stream", "Dave", "Dave has joined General", "alice", "bob", "carol")
    message = {"id": "m-1", "text": "Hello", "type": "regular", "user": {"id": "bob", "name": "Bob"}}
    sent = stream_body(type="message.new", message=message, message_id="m-1", user=message["user"])
    equal("a message", post_stream(scene, sent, packed=True), (200, "accepted"))
    scene.told("stream", "Bob (General)", "Hello", "alice", "carol", "dave")
    # Unpacked on the way, and sent again.
    equal("the same message", post_stream(scene, sent, **{"X-Webhook-Attempt": "2"}), (200, "duplicate"))


def refused(verify, body, signature=None):
    try:
        verify(body, stream_signature(body) if signature is None else signature, STREAM_SECRET)
    except (getstream.webhook.InvalidWebhookError, InvalidWebhookError):
        return
    raise AssertionError(f"{verify.__module__} takes {body[:80]}")


def what_streams_kits_refuse_is_refused(scene):
    body = stream_body(type="message.new", message={"id": "m-2", "text": "Psst", "user": {"id": "bob"}}, message_id="m-2")
    right = stream_signature(body)
    for what, sent, signature, status in [
        ("a flipped byte", body.replace(b"Psst", b"Pssu"), right, 401),
        ("another secret", body, stream_signature(body, "another"), 401),
        ("a signature over the packed bytes", gzip.compress(body), stream_signature(gzip.compress(body)), 401),
        ("truncated gzip", gzip.compress(body)[:-9], right, 400),
        ("no signature", body, "", 401),
    ]:
        for verify in (getstream.webhook.verify_and_parse_webhook, stream_chat.webhook.verify_and_parse_webhook):
            refused(verify, sent, signature)
        found, _ = scene.post("stream", "stream", sent, {"X-Signature": signature} if signature else {})
        equal(what, found, status)


def what_streams_kits_make_nothing_of_is_ignored_or_refused(scene):
    """The kinds of their published fixtures that are no events of ours, in bodies of our own."""
    now = time.time_ns()
    for kind in ("message.updated", "message.deleted", "user.banned", "reaction.new", "channel.truncated", "nothing.known"):
        body = json.dumps({"type": kind, "created_at": now, "cid": "messaging:general", "user": {"id": "bob"}}).encode()
        equal(kind, post_stream(scene, body), (200, "ignored"))
    for what, body in [("no type", {"created_at": now}), ("a type of another kind", {"type": 7}), ("no object", ["message.new"])]:
        body = json.dumps(body).encode()
        refused(getstream.webhook.verify_and_parse_webhook, body)
        equal(what, scene.post("stream", "stream", body, {"X-Signature": stream_signature(body)})[0], 400)
    for what, body in [("no JSON", b'{"type":'), ("nothing", b"")]:
        for verify in (getstream.webhook.verify_and_parse_webhook, stream_chat.webhook.verify_and_parse_webhook):
            refused(verify, body)
        equal(what, scene.post("stream", "stream", body, {"X-Signature": stream_signature(body)})[0], 400)


# CloudEvents


def cloud_event(number, kind, data, **attributes):
    made = {"id": f"e-{number}", "source": "/chat", "type": f"com.example.{kind}", "datacontenttype": "application/json"}
    return CloudEvent(made | attributes, data)


def post_event(scene, message, **headers):
    return scene.post("events", "cloudevents", message.body, dict(message.headers) | basic("carillon", "p:w") | headers)


def batched(*events):
    """The kit has no writer of batches."""
    body = b"[" + b",".join(to_structured_event(event).body for event in events) + b"]"
    return HTTPMessage({"content-type": "application/cloudevents-batch+json; charset=utf-8"}, body)


def cloud_events_are_taken_in_all_modes_as_their_kit_writes_them(scene):
    created = cloud_event(
        1, "channel.created",
        {"channel": {"id": "général", "displayName": "Général"}, "user": {"id": "alice"}, "members": ["bob", "carol"]},
        subject="général 100%",
    )
    for message in (to_binary_event(created), to_structured_event(created)):
        equal("what the kit reads", from_http_event(message).get_attributes()["subject"], "général 100%")
    status, answer = post_event(scene, to_binary_event(created))
    equal("binary", (status, answer["id"], answer["status"]), (202, "e-1", "accepted"))
    scene.told("events", "Général", "You're now member of Général!", "bob", "carol")
    channel = {"id": "général"}
    said = cloud_event(
        2, "message.sent", {"channel": channel, "user": {"id": "bob", "displayName": "Bob"}, "message": {"text": "Hello"}}
    )
    status, answer = post_event(scene, to_structured_event(said))
    equal("structured", (status, answer["status"]), (202, "accepted"))
    scene.told("events", "Bob (Général)", "Hello", "alice", "carol")
    left = cloud_event(3, "member.left", {"channel": channel, "members": ["carol"]})
    ordered = cloud_event(4, "order.placed", {"total": 7})
    status, answer = post_event(scene, batched(created, said, left, ordered))
    statuses = [result["status"] for result in answer["results"]]
    equal("batched", (status, statuses), (202, ["duplicate", "duplicate", "accepted", "ignored"]))
    equal("of another source", post_event(scene, to_binary_event(cloud_event(1, "order.placed", {}, source="/other")))[0], 202)


def cloud_events_are_refused_that_prove_nothing_or_are_none(scene):
    event = cloud_event(9, "message.sent", {"channel": {"id": "c"}, "user": {"id": "bob"}, "message": {"text": "x"}})
    message = to_structured_event(event)
    equal("a wrong password", post_event(scene, message, **basic("carillon", "wrong"))[0], 401)
    equal("no password", scene.post("events", "cloudevents", message.body, dict(message.headers))[0], 401)
    wrong = batched(event, cloud_event(10, "message.sent", {"channel": {}}))
    status, problem = post_event(scene, wrong)
    equal("a batch with a mistake", (status, problem["errors"][0]["pointer"]), (400, "/1/data/channel/id"))
    equal("and nothing of it", [scene.shown("events", user).count(("bob (c)", "x")) for user in PEOPLE], [0] * 4)


# Twilio


def post_twilio(scene, *events, public=PUBLIC, algorithm=None, tamper=lambda body: body):
    """Posts a batch that Twilio's kit has signed, as it can be asked to sign."""
    body = batched(*events).body.decode()
    query = f"?bodySHA256={scene.twilio.compute_hash(body)}"
    url = public + scene.networks["twilio"].path("events", "cloudevents") + query
    signature = scene.twilio.compute_signature(url, None, algorithm)
    assert scene.twilio.validate(url, body, signature, algorithm), "the kit refuses what it has signed"
    status, answer = scene.post("twilio", "cloudevents", tamper(body).encode(), {"X-Twilio-Signature": signature}, query)
    return status, [result["status"] for result in (answer or {}).get("results", [])]


def twilio_event(number, kind, **data):
    attributes = {"id": f"EZ{number}", "source": "/conversations", "type": f"com.twilio.conversations.{kind}"}
    return CloudEvent(attributes, {"ConversationSid": "CH1"} | data)


def what_twilios_kit_signs_is_taken(scene):
    begun = [
        twilio_event(1, "conversation.added", FriendlyName="Garden"),
        twilio_event(2, "participant.added", Identity="alice"),
        twilio_event(3, "participant.added", Identity="bob"),
    ]
    equal("a conversation", post_twilio(scene, *begun), (202, ["accepted"] * 3))
    scene.told("twilio", "bob", "bob has joined Garden", "alice")
    sent = twilio_event(4, "message.added", MessageSid="IM1", Author="bob", MessageBody="Hello")
    equal("by SHA-256", post_twilio(scene, sent, algorithm=HMAC_SHA256), (202, ["accepted"]))
    scene.told("twilio", "bob (Garden)", "Hello", "alice")
    equal("with the port", post_twilio(scene, sent, public=f"{PUBLIC}:443"), (202, ["duplicate"]))


def what_twilios_kit_did_not_sign_is_refused(scene):
    sent = twilio_event(5, "message.added", MessageSid="IM2", Author="bob", MessageBody="Psst")
    tampered = post_twilio(scene, sent, tamper=lambda body: body.replace("Psst", "Pssu"))
    equal("a flipped byte", tampered, (401, []))
    equal("signed for another address", post_twilio(scene, sent, public="https://other.example.com"), (401, []))
    equal("nothing of it", [scene.shown("twilio", user).count(("bob (Garden)", "Psst")) for user in PEOPLE], [0] * 4)


def nothing_secret_is_in_the_log(scene):
    said = scene.played.said()
    for secret in (STREAM_SECRET, AUTH_TOKEN, "p:w", "Hello", *scene.phones.values()):
        assert secret not in said, f"{secret} stands in the log"


ACTS = [
    what_streams_kits_take_is_taken_plain_and_packed,
    what_streams_kits_refuse_is_refused,
    what_streams_kits_make_nothing_of_is_ignored_or_refused,
    cloud_events_are_taken_in_all_modes_as_their_kit_writes_them,
    cloud_events_are_refused_that_prove_nothing_or_are_none,
    what_twilios_kit_signs_is_taken,
    what_twilios_kit_did_not_sign_is_refused,
    nothing_secret_is_in_the_log,
]


def main():
    with stage(program_argument()) as played:
        return perform(ACTS, Scene(played))


if __name__ == "__main__":
    sys.exit(main())
