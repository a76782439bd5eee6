"""What users write that cannot be stored, with a real homeserver: it must hold back nothing that stands behind it.

Synapse 1.163 takes U+0000 anywhere in an event and in names, up to 125 levels below `content`, and in rooms of version 5 and before
numbers such as 1e308 and 2^63-1. Longer numbers, 1e400, lone surrogates and what is deeper it refuses in rooms of every version: 400, or
500 where its own parser of events fails. Another homeserver may take them, so these are sent by hand here.
"""

import os

from playing import equal, eventually
from synapse import quoted

LAST_VERSION_WITH_NUMBERS = "5"
BEHIND = 10


def nested(levels):
    """Arrays inside each other."""
    return [] if levels == 1 else [nested(levels - 1)]


def text(body, **others):
    return {"msgtype": "m.text", "body": body} | others


# A name of it, the content, and what of its text people read.
SENT = [
    ("U+0000 in a text", text("a\0b"), None),
    ("U+0000 in a member and a name", text("Beside U+0000", x={"y": ["\0"], "\0": 1}), "Beside U+0000"),
    ("125 levels", text("Beside 125 levels", x=nested(125)), "Beside 125 levels"),
    ("large numbers", text("Beside large numbers", x=[1e308, 2**63 - 1]), "Beside large numbers"),
]
# JSON of a member that Synapse does not take.
BY_HAND = {
    "a number of 400 digits": "7" * 400,
    "a number beyond double precision": "1e400",
    "a lone surrogate": r'"\ud800"',
    "25000 levels": "[" * 25_000 + "]" * 25_000,
}
# JSON of names that are none.
NAMES_BY_HAND = [
    "7", "true", "null", "{}", '[["General"]]', '""', r'"\u0000"', r'"\u2028 \u200b"', "[" * 10_000 + "]" * 10_000
]


def read_of(said, room=None, sender="Alice"):
    """What an iPhone shows of what somebody said."""
    key = "MSG_FROM_USER" + ("_IN_ROOM" if room else "") + ("_WITH_CONTENT" if said else "")
    return {"loc-key": key, "loc-args": [argument for argument in (sender, room, said) if argument]}


def call_oneself(user, name, *rooms):
    """Changes the user's name; what they say in these rooms afterwards is said by that name."""
    user.rename_oneself(name)
    for room in rooms:
        path = f"rooms/{quoted(room)}/state/m.room.member/{quoted(user.id)}"
        eventually("the name in the room", lambda: user.call("GET", path)["displayname"] == name)


def no_content_holds_back_pushes(scene):
    failures = scene.homeserver.said().count("Failed to push data")
    old_room = scene.alice.create_room(
        scene.bob, is_direct=True, preset="trusted_private_chat", room_version=LAST_VERSION_WITH_NUMBERS
    )
    scene.bob.join(old_room)
    for what, content, said in SENT:
        room = old_room if what == "large numbers" else scene.direct
        first = scene.alice.send(room, "m.room.message", content)
        behind = [(scene.say(room, f"{number} behind {what}"), number) for number in range(BEHIND)]
        equal(what, scene.payload(scene.iphone.hex(), first)["aps"]["alert"], read_of(said))
        equal(f"{what}, in data", scene.payload(scene.android, first)["data"].get("content_body"), said)
        for event, number in behind:
            shown = scene.payload(scene.iphone.hex(), event)["aps"]["alert"]
            equal(f"behind {what}", shown, read_of(f"{number} behind {what}"))
        for event in (first, *(event for event, _ in behind)):
            for device in (scene.beta.hex(), scene.android, scene.browser):
                scene.payload(device, event)
    equal("what was repeated", scene.homeserver.said().count("Failed to push data"), failures)


def names_that_cannot_be_stored_are_cleaned(scene):
    failures = scene.homeserver.said().count("Failed to push data")
    call_oneself(scene.alice, "Al\0ice", scene.room)
    scene.alice.rename(scene.room, "Gen\0eral")
    for number in range(BEHIND):
        event = scene.say(scene.room, f"{number} by a name")
        shown = scene.payload(scene.iphone.hex(), event)["aps"]["alert"]
        equal("the names", shown, read_of(f"{number} by a name", "General"))
    call_oneself(scene.alice, "Alice", scene.room, scene.direct)
    scene.alice.rename(scene.room, "General")
    equal("what was repeated", scene.homeserver.said().count("Failed to push data"), failures)


def call_oneself_by(user, room, name):
    """Writes the name into the room itself, which takes it whatever it is."""
    path = f"rooms/{quoted(room)}/state/m.room.member/{quoted(user.id)}"
    user.call("PUT", path, {"membership": "join", "displayname": name})


def names_that_say_nothing_count_as_none(scene):
    failures = scene.homeserver.said().count("Failed to push data")
    for what, name, called, title in [
        ("a list", ["Alice"], "General", "General"),
        ("an object", {"Alice": ["\0", 7]}, "General", "General"),
        ("blanks", " \t", " ", None),
    ]:
        call_oneself_by(scene.alice, scene.room, name)
        scene.alice.rename(scene.room, called)
        for number in range(BEHIND):
            said = f"{number} by {what}"
            event = scene.say(scene.room, said)
            shown = scene.payload(scene.iphone.hex(), event)["aps"]["alert"]
            equal(what, shown, read_of(said, title, scene.alice.id))
            data = scene.payload(scene.android, event)["data"]
            found = (data.get("sender_display_name"), data.get("room_name"))
            equal(f"{what}, in data", found, (None, title))
            scene.payload(scene.browser, event)
    call_oneself_by(scene.alice, scene.room, "Alice")
    scene.alice.rename(scene.room, "General")
    equal("what was repeated", scene.homeserver.said().count("Failed to push data"), failures)


def names_that_only_other_homeservers_take_count_as_none(scene):
    for value in NAMES_BY_HAND:
        event = f"$by-hand-{os.urandom(8).hex()}"
        names = ",".join(f'"{name}":{value}' for name in ("sender_display_name", "room_name", "room_alias"))
        body = (
            f'{{"notification":{{"event_id":"{event}","room_id":"!r:matrix.test","type":"m.room.message",'
            f'"sender":"@alice:matrix.test",{names},"content":{{"msgtype":"m.text","body":"By hand"}},'
            f'"devices":[{{"app_id":"org.acme.ios","pushkey":"{scene.iphone.hex()}"}}]}}}}'
        )
        equal(value[:40], scene.notify(body.encode()), (200, {"rejected": []}))
        shown = scene.payload(scene.iphone.hex(), event)["aps"]["alert"]
        equal(value[:40], shown, read_of("By hand", sender="@alice:matrix.test"))


def content_that_only_other_homeservers_take_is_pushed(scene):
    for what, value in BY_HAND.items():
        event = f"$by-hand-{os.urandom(8).hex()}"
        body = (
            f'{{"notification":{{"event_id":"{event}","room_id":"!r:matrix.test","type":"m.room.message",'
            '"sender":"@alice:matrix.test","sender_display_name":"A\\ud800lice\\u0000",'
            f'"content":{{"msgtype":"m.text","body":"By hand","x":{value}}},'
            f'"devices":[{{"app_id":"org.acme.android","pushkey":"{scene.android}"}}]}}}}'
        )
        equal(what, scene.notify(body.encode()), (200, {"rejected": []}))
        data = scene.payload(scene.android, event)["data"]
        found = {name: data.get(name) for name in ("content_body", "sender_display_name", "content_x")}
        equal(what, found, {"content_body": "By hand", "sender_display_name": "Alice", "content_x": None})


def message(room, body, value):
    """JSON of an event of Dora's as homeservers send them."""
    return (
        f'{{"event_id":"$by-hand-{os.urandom(8).hex()}","room_id":"{room}","sender":"@dora:matrix.test",'
        f'"type":"m.room.message","content":{{"msgtype":"m.text","body":"{body}","x":{value}}}}}'
    )


def no_event_holds_back_transactions(scene):
    title = "Dora (Greenhouse)"
    failures = scene.homeserver.said().count("push_bulk to")
    old_room = scene.dora.create_room(scene.erin, name="Old", room_version=LAST_VERSION_WITH_NUMBERS)
    scene.erin.join(old_room)
    call_oneself(scene.dora, "Do\0ra", scene.room, old_room)
    scene.dora.rename(scene.room, "Green\0house")
    for what, content, said in SENT:
        room, where = (old_room, "Dora (Old)") if what == "large numbers" else (scene.room, title)
        scene.dora.send(room, "m.room.message", content)
        for number in range(BEHIND):
            scene.dora.say(room, f"{number} behind {what}")
        # Without a word of it people read what it is.
        scene.told((where, said or "Special message"), scene.erin)
        for number in range(BEHIND):
            scene.told((where, f"{number} behind {what}"), scene.erin)
    scene.dora.send(scene.room, quoted("com.example.\0"), {"x": "\0"})
    for number, (what, value) in enumerate(BY_HAND.items()):
        events = [message(scene.room, f"Beside {what}", value), message(scene.room, f"Behind {what}", "0")]
        body = f'{{"events":[{",".join(events)}]}}'
        equal(what, scene.post(f"by-hand-{number}", body.encode()), (200, {}))
        for place in ("Beside", "Behind"):
            scene.told((title, f"{place} {what}"), scene.erin)
    call_oneself(scene.dora, "Dora", scene.room)
    scene.dora.rename(scene.room, "Greenhouse")
    scene.dora.say(scene.room, "Behind all of it")
    scene.told((title, "Behind all of it"), scene.erin)
    equal("what was repeated", scene.homeserver.said().count("push_bulk to"), failures)
