"""What pushers of a real homeserver send to the Matrix face, and what the simulator gets of it."""

import base64
import json
import os
import time

from http_client import ask, bearer
from matrix_scene import APP, DEFAULT_PAYLOAD, content, event_of
from matrix_unstorable import (
    content_that_only_other_homeservers_take_is_pushed,
    names_that_cannot_be_stored_are_cleaned,
    names_that_only_other_homeservers_take_count_as_none,
    names_that_say_nothing_count_as_none,
    no_content_holds_back_pushes,
)
from playing import equal, eventually


def alert(key, *arguments):
    return {"mutable-content": 1, "alert": {"loc-key": key, "loc-args": list(arguments)}}


def check(scene, room, event, key, arguments, badge, full, prio="high"):
    """Every phone of Bob's got an event, each in the way of its app; `full` is what the full format adds for browsers."""
    names = {"event_id": event, "room_id": room}
    equal(
        "iPhone", scene.payload(scene.iphone.hex(), event),
        {"aps": alert(key, *arguments) | {"badge": badge}} | names,
    )
    equal("iPhone, event id only", scene.payload(scene.beta.hex(), event), DEFAULT_PAYLOAD | names | {"unread_count": badge})
    message = scene.payload(scene.android, event)
    strings = {f"content_{name}": value for name, value in full["content"].items() if isinstance(value, str)}
    others = {name: value for name, value in full.items() if isinstance(value, str)}
    expected = names | others | strings | {"unread": str(badge), "prio": "high" if prio == "high" else "normal"}
    equal("Android", message["data"], expected)
    equal("Android's priority", message["android"]["priority"], "HIGH" if prio == "high" else "NORMAL")
    assert "notification" not in message and "notification" not in message["android"], message
    shown = scene.payload(scene.browser, event)
    shown.pop("user_is_target", None)
    shown.pop("prio", None)
    equal("browser", shown, names | full | {"unread": badge, "session": 7})


def from_alice(kind, body, room_name="General"):
    full = {"type": kind, "sender": "@alice:matrix.test", "sender_display_name": "Alice", "content": body}
    return full | ({"room_name": room_name} if room_name else {})


def invited_to_a_named_room(scene):
    scene.room = scene.alice.create_room(scene.bob, scene.carol, name="General")
    event = eventually("the invite", lambda: [event_of(payload) for payload in scene.payloads(scene.android)])[0]
    body = {"displayname": "Bob", "membership": "invite"}
    full = from_alice("m.room.member", body) | {"membership": "invite"}
    check(scene, scene.room, event, "USER_INVITE_TO_NAMED_ROOM", ["Alice", "General"], 1, full)
    for user in (scene.bob, scene.carol):
        user.join(scene.room)


def a_message_in_a_named_room(scene):
    event = scene.say(scene.room, "Hello, everybody")
    full = from_alice("m.room.message", {"msgtype": "m.text", "body": "Hello, everybody"})
    arguments = ["Alice", "General", "Hello, everybody"]
    # Nothing but a room of two, a mention and the like makes a sound, and is urgent.
    check(scene, scene.room, event, "MSG_FROM_USER_IN_ROOM_WITH_CONTENT", arguments, 1, full, prio="low")


def emotes_and_pictures_in_a_named_room(scene):
    for kind, body, key, arguments in [
        ("m.emote", "waves", "ACTION_FROM_USER_IN_ROOM", ["General", "Alice", "waves"]),
        ("m.image", "cat.png", "IMAGE_FROM_USER_IN_ROOM", ["Alice", "cat.png", "General"]),
    ]:
        sent = {"msgtype": kind, "body": body, "formatted_body": "<b>left out</b>"}
        event = scene.alice.send(scene.room, "m.room.message", sent)
        payload = scene.payload(scene.iphone.hex(), event)
        equal(kind, payload["aps"]["alert"], {"loc-key": key, "loc-args": arguments})
        data = scene.payload(scene.android, event)["data"]
        equal(f"content of {kind}", (data["content_body"], "content_formatted_body" in data), (body, False))


def a_message_between_two(scene):
    scene.direct = scene.alice.create_room(scene.bob, is_direct=True, preset="trusted_private_chat")
    scene.bob.join(scene.direct)
    invite = eventually(
        "the invite", lambda: [payload for payload in scene.payloads(scene.iphone.hex()) if payload["room_id"] == scene.direct]
    )[0]
    equal("invite", invite["aps"]["alert"], {"loc-key": "USER_INVITE_TO_CHAT", "loc-args": ["Alice"]})
    event = scene.say(scene.direct, "Only for you")
    full = from_alice("m.room.message", {"msgtype": "m.text", "body": "Only for you"}, None)
    check(scene, scene.direct, event, "MSG_FROM_USER_WITH_CONTENT", ["Alice", "Only for you"], 2, full)


def an_encrypted_message(scene):
    body = {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "AwgA", "session_id": "s", "sender_key": "k", "device_id": "D"}
    event = scene.alice.send(scene.direct, "m.room.encrypted", body)
    check(scene, scene.direct, event, "MSG_FROM_USER", ["Alice"], 2, from_alice("m.room.encrypted", body, None))
    event = scene.alice.send(scene.direct, "m.room.encrypted", body | {"ciphertext": "A" * 2000})
    for device in (scene.android, scene.browser):
        assert "A" * 100 not in json.dumps(scene.payload(device, event)), "so much ciphertext is fetched by the app"


def calls(scene):
    for sdp, key in [("m=audio 9\r\nm=video 9\r\n", "VIDEO_CALL_FROM_USER"), ("m=audio 9\r\n", "VOICE_CALL_FROM_USER")]:
        body = {"call_id": "1", "version": "1", "lifetime": 60_000, "offer": {"type": "offer", "sdp": "v=0\r\n" + sdp}}
        event = scene.alice.send(scene.direct, "m.call.invite", body)
        payload = scene.payload(scene.iphone.hex(), event)
        equal("call", payload["aps"]["alert"], {"loc-key": key, "loc-args": ["Alice"]})
        for device in (scene.beta.hex(), scene.android, scene.browser):
            scene.payload(device, event)


def a_message_of_60_kilobytes(scene):
    event = scene.say(scene.direct, "y" * 60_000)
    for device in (scene.iphone.hex(), scene.beta.hex(), scene.android, scene.browser):
        payload = scene.payload(device, event)
        assert len(json.dumps(payload)) < 4_500, len(json.dumps(payload))
    # Texts are cut as all of ours are.
    sender, text = scene.payload(scene.iphone.hex(), event)["aps"]["alert"]["loc-args"]
    equal("the sender", sender, "Alice")
    assert 500 < len(text) < 4_000 and text.strip("y") == "…", f"{len(text)}: {text[-10:]}"


def reading_updates_the_badge(scene):
    for room, unread in ((scene.direct, 1), (scene.room, 0)):
        event = scene.say(room, f"The last one, then {unread}")
        scene.payload(scene.android, event)
        scene.bob.read(room, event)
        eventually("badge of the iPhone", lambda: {"aps": {"badge": unread}} in scene.payloads(scene.iphone.hex()))
        eventually("badge of the other iPhone", lambda: {"aps": {"badge": unread}} in scene.payloads(scene.beta.hex()))
    badges = [payload["data"] for payload in scene.payloads(scene.android) if event_of(payload) is None]
    equal("badges of Android, which is not woken for none", [badge["unread"] for badge in badges], ["1"])
    equal(
        "badges of a browser that wants events only",
        [payload for payload in scene.payloads(scene.browser) if event_of(payload) is None],
        [],
    )


def dead_pushkeys_go_with_the_next_push(scene):
    iphone = scene.simulator.device("iphone-unregistered")["token"]
    android = scene.simulator.device("android-unregistered")["token"]
    browser = scene.simulator.device("browser-gone")["subscription"]
    scene.set_pusher("org.acme.ios", iphone)
    scene.set_pusher("org.acme.android", android)
    scene.set_pusher(
        "org.acme.web", browser["keys"]["p256dh"], endpoint=browser["endpoint"], auth=browser["keys"]["auth"]
    )
    equal("pushers", len(scene.bob.pushkeys()), 7)
    event = scene.say(scene.room, "Is anybody there?")
    for device in (iphone, android, browser["endpoint"]):
        eventually(f"{device} is asked", lambda: scene.simulator.requests(device))
    scene.payload(scene.iphone.hex(), event)

    def gone():
        # What the push service said of the first becomes known a moment later.
        scene.say(scene.room, f"Still there? {time.monotonic_ns()}")
        time.sleep(0.3)
        return not {iphone, android, browser["keys"]["p256dh"]} & set(scene.bob.pushkeys())

    eventually("the dead are gone", gone)
    equal("the living stay", len(scene.bob.pushkeys()), 4)


def a_pushkey_that_is_set_again_is_alive_again(scene):
    pushkey = f"once-unregistered-{os.urandom(8).hex()}"

    def gone():
        scene.say(scene.room, f"Hello? {time.monotonic_ns()}")
        time.sleep(0.3)
        return pushkey not in scene.bob.pushkeys()

    scene.set_pusher("org.acme.android", pushkey)
    eventually("it is gone", gone)

    def alive():
        # Homeservers say in whole seconds when a pushkey was set: within the second of its death it is not newer.
        scene.set_pusher("org.acme.android", pushkey)
        scene.say(scene.room, f"Welcome back {time.monotonic_ns()}")
        time.sleep(0.5)
        return scene.payloads(pushkey)

    eventually("it is back", alive)
    scene.bob.remove_pusher("org.acme.android", pushkey)


def nothing_is_lost_while_an_app_is_not_bound(scene):
    late = f"device-{os.urandom(16).hex()}"
    scene.set_pusher("org.acme.late", late)
    events = [scene.say(scene.room, text) for text in ("First", "Second")]
    refusal = "Failed to push data to @bob:matrix.test/org.acme.late"
    eventually("it is refused", lambda: refusal in scene.homeserver.said())
    scene.played.bind("matrix", "org.acme.late", {"provider": "fcm", "appId": APP})
    for event in events:
        scene.payload(late, event)
    # What comes within milliseconds may overtake each other.
    equal("all of them", sorted(event_of(payload) for payload in scene.payloads(late)), sorted(events))
    assert late in scene.bob.pushkeys()


def nothing_is_lost_while_the_gateway_is_down(scene):
    equal("end of the service", scene.played.service.stop(), 0)
    events = [scene.say(scene.direct, text) for text in ("One", "Two", "Three")]
    scene.played.service.start()
    for device in (scene.iphone.hex(), scene.beta.hex(), scene.android, scene.browser):
        for event in events:
            scene.payload(device, event)


def nothing_is_lost_when_the_gateway_is_killed(scene):
    events = [scene.say(scene.direct, f"Number {number}") for number in range(5)]
    eventually("the first", lambda: scene.all_payloads(scene.android, events[0]))
    scene.played.service.process.kill()
    scene.played.service.process.wait()
    events += [scene.say(scene.direct, f"Number {number}, too") for number in range(2)]
    # What was on its way to the push service when it was killed may be sent again, and nothing else.
    scene.excused |= set(events)
    scene.played.service.start()
    for device in (scene.iphone.hex(), scene.beta.hex(), scene.android, scene.browser):
        for event in events:
            eventually(f"{device} and {event}", lambda: scene.all_payloads(device, event))


def a_repeated_push_is_answered_and_not_sent(scene):
    # One of its own: what was on its way when the service was killed may have come twice.
    event = scene.say(scene.direct, "To be repeated")
    scene.payload(scene.android, event)
    device = {"app_id": "org.acme.android", "pushkey": scene.android}
    body = {"notification": {"event_id": event, "room_id": "!r", "devices": [device]}}
    for _ in range(3):
        equal("the answer", scene.notify(body), (200, {"rejected": []}))
    scene.payload(scene.android, scene.say(scene.direct, "After the repeats"))
    equal("how often it was sent", len(scene.all_payloads(scene.android, event)), 1)


def a_registered_device_keeps_its_owners_toggles(scene):
    token = f"device-{os.urandom(16).hex()}"
    scene.network.put("devices", "tablet", body={"provider": "fcm", "appId": APP, "token": token, "userId": "robert"})
    scene.set_pusher("org.acme.android", token)
    scene.network.put("users", "robert", "notifications", body={"enabled": False})
    quiet = scene.say(scene.direct, "Not on the tablet")
    scene.payload(scene.android, quiet)
    scene.network.put("users", "robert", "notifications", body={"enabled": True})
    scene.payload(token, scene.say(scene.direct, "On the tablet, too"))
    equal("what was said while it was off", scene.all_payloads(token, quiet), [])
    assert token in scene.bob.pushkeys()


def another_network_has_the_same_app_behind_its_key(scene):
    other = scene.played.make_network("other")
    secret = other.post("faces", "matrix", "keys", body={"label": "our homeserver"})["secret"]
    assert secret.startswith("gk_"), "a gateway key"
    settings = {"provider": "fcm", "appId": APP, "gatewayKeyRequired": True, "payload": "text"}
    other.put("faces", "matrix", "org.acme.android", body=settings)
    token = f"device-{os.urandom(16).hex()}"
    scene.set_pusher("org.acme.android", token, url=f"{scene.url}?k={secret}")
    scene.say(scene.room, "Through the key")
    request = eventually("the text", lambda: scene.simulator.requests(token))[0]
    equal("as a text", (request["title"], request["body"]), ("Alice (General)", "Through the key"))
    stranger = {"app_id": "org.acme.late", "pushkey": "p"}
    body = {"notification": {"event_id": "$e", "devices": [stranger]}}
    equal("another network's app", refusal(scene, body, f"?k={secret}"), (404, "M_NOT_FOUND"))
    equal("a wrong key", refusal(scene, body, "?k=gk_wrong"), (401, "M_UNAUTHORIZED"))
    scene.bob.remove_pusher("org.acme.android", token)


def refusal(scene, body, query=""):
    status, answer = scene.notify(body, query)
    return status, (answer or {}).get("errcode")


def bad_requests_are_refused_as_homeservers_expect(scene):
    device = {"app_id": "org.acme.android", "pushkey": scene.android}
    for what, body, expected in [
        ("no JSON", b"{", (400, "M_BAD_JSON")),
        ("no notification", {}, (400, "M_BAD_JSON")),
        ("no devices", {"notification": {"event_id": "$e", "devices": []}}, (400, "M_BAD_JSON")),
        ("a wrong type", {"notification": {"event_id": 7, "devices": [device]}}, (400, "M_BAD_JSON")),
        ("a long pushkey", {"notification": {"devices": [device | {"pushkey": "p" * 513}]}}, (400, "M_BAD_JSON")),
        ("too deep", b'{"notification":' + b"[" * 10_000 + b"]" * 10_000 + b"}", (400, "M_BAD_JSON")),
        ("too long", {"notification": {"devices": [device], "pad": "p" * 140_000}}, (413, "M_TOO_LARGE")),
        ("unbound", {"notification": {"event_id": "$e", "devices": [device | {"app_id": "org.x"}]}}, (404, "M_NOT_FOUND")),
    ]:
        equal(what, refusal(scene, body), expected)
    equal("GET", scene.notify(None, method="GET")[0], 405)
    unbound = device | {"app_id": "org.x"}
    event = f"$beside{time.monotonic_ns()}"
    body = {"notification": {"event_id": event, "room_id": "!r", "devices": [unbound, device]}}
    equal("an unbound app beside a bound one", scene.notify(body), (200, {"rejected": []}))
    scene.payload(scene.android, event)


def a_phone_that_buzz_registered_meets_its_pushkey(scene):
    # Whose access token it is, the homeserver says.
    whoami = f"{scene.homeserver.address}/_matrix/client/v3/account/whoami"
    introspection = {"url": whoami, "userIdPointer": "/user_id", "cacheSeconds": 300}
    scene.network.put("user-token-introspection", body=introspection)
    scene.played.bind("buzz", "org.acme.buzz", {"ios": {"appId": APP}, "android": {"appId": APP}})
    scene.played.bind("matrix", "org.acme.buzz", {"provider": "apns", "appId": APP, "payload": "buzz"})
    phone = os.urandom(32).hex()
    body = {"applicationId": "org.acme.buzz", "type": 0, "debugBuild": True, "token": phone}

    def register(access_token, **changes):
        path = "/api/MobilePhoneNotificationToken"
        return ask(scene.played.service.address, "PUT", path, body | changes, bearer(access_token))

    equal("registration", register(scene.carol.token), (200, {}))
    for what, access_token, changes, status in [
        ("a wrong access token", "syt_wrong", {}, 401),
        ("an unknown app", scene.carol.token, {"applicationId": "org.acme.nothing"}, 404),
        ("an unknown kind", scene.carol.token, {"type": 7}, 400),
    ]:
        found, answer = register(access_token, **changes)
        assert found == status and answer["message"], f"{what}: {found} {answer}"
    scene.carol.set_pusher("org.acme.buzz", phone, scene.url)
    scene.say(scene.room, "Buzz to Carol")
    request = eventually("the message", lambda: scene.simulator.requests(phone))[0]
    equal("where", request["service"], "apns sandbox")
    told = {"notificationType": 0, "roomId": scene.room, "userName": "Alice", "content": "Buzz to Carol"}
    payload = content(request)
    equal("payload", {key: value for key, value in payload.items() if key != "aps"}, told)
    scene.network.put("users", scene.carol.id, "notifications", body={"enabled": False})
    scene.payload(scene.android, scene.say(scene.room, "Carol sleeps"))
    scene.network.put("users", scene.carol.id, "notifications", body={"enabled": True})
    scene.say(scene.room, "Carol is awake")
    eventually("the next", lambda: len(scene.simulator.requests(phone)) > 1)
    equal("messages", [content(each)["content"] for each in scene.simulator.requests(phone)], ["Buzz to Carol", "Carol is awake"])


def an_app_that_is_retired_loses_its_pushers(scene):
    scene.played.bind("matrix", "org.acme.late", {"provider": "fcm", "appId": APP, "retired": True})
    scene.say(scene.room, "For all but one")
    eventually("its pusher is gone", lambda: len(scene.bob.pushkeys()) == 5)


def nothing_came_twice_and_nothing_is_in_the_log(scene):
    for request in scene.simulator.requests():
        event = event_of(content(request))
        if event and event not in scene.excused and request["status"] in (200, 201):
            equal(f"{request['device']} and {event}", len(scene.all_payloads(request["device"], event)), 1)
    log = scene.played.said()
    secrets = {text for text in scene.said if len(text) > 8}
    secrets |= {request["device"] for request in scene.simulator.requests()}
    secrets |= {base64.b64encode(scene.iphone).decode(), scene.alice.token, scene.carol.token}
    for secret in secrets:
        assert secret not in log, f"{secret[:40]} stands in the log"


ACTS = [
    invited_to_a_named_room,
    a_message_in_a_named_room,
    emotes_and_pictures_in_a_named_room,
    a_message_between_two,
    an_encrypted_message,
    calls,
    a_message_of_60_kilobytes,
    reading_updates_the_badge,
    no_content_holds_back_pushes,
    names_that_cannot_be_stored_are_cleaned,
    names_that_say_nothing_count_as_none,
    content_that_only_other_homeservers_take_is_pushed,
    names_that_only_other_homeservers_take_count_as_none,
    dead_pushkeys_go_with_the_next_push,
    a_pushkey_that_is_set_again_is_alive_again,
    nothing_is_lost_while_an_app_is_not_bound,
    nothing_is_lost_while_the_gateway_is_down,
    nothing_is_lost_when_the_gateway_is_killed,
    a_repeated_push_is_answered_and_not_sent,
    a_registered_device_keeps_its_owners_toggles,
    another_network_has_the_same_app_behind_its_key,
    a_phone_that_buzz_registered_meets_its_pushkey,
    bad_requests_are_refused_as_homeservers_expect,
    an_app_that_is_retired_loses_its_pushers,
    nothing_came_twice_and_nothing_is_in_the_log,
]
