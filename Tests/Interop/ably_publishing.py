"""What Ably's own client publishes, and what the push services are sent of it."""

import os

import httpx
import msgpack
from ably.types.message import Message

from ably_scene import android, bearer, iphone, refused
from playing import equal


async def publishing_to_devices_clients_and_addresses(scene):
    for name, client in scene.clients_of.items():
        phone, tablet = iphone(1), android(1)
        for device in (phone, tablet):
            await client.push.admin.device_registrations.save(device)
        tokens = [device["push"]["recipient"] for device in (phone, tablet)]
        apns, fcm = tokens[0]["deviceToken"], tokens[1]["registrationToken"]
        stranger = f"device-{os.urandom(16).hex()}"
        for recipient, token in [
            ({"deviceId": phone["id"]}, apns),
            ({"clientId": "bob"}, apns),
            ({"deviceId": tablet["id"]}, fcm),
            ({"transportType": "fcm", "registrationToken": stranger}, stranger),
            ({"transportType": "gcm", "registrationToken": stranger}, stranger),
            ({"transportType": "apns", "deviceToken": apns}, apns),
        ]:
            text = scene.text(name)
            notification = {"title": "Ably", "body": text, "sound": "bell", "collapseKey": "together", "ttl": 3600}
            await client.push.admin.publish(recipient, {"notification": notification, "data": {"build": "81", "n": 7}})
            payload = scene.payload(token, text)
            (published_apns if token == apns else published_fcm)(payload, text)


def published_apns(payload, text):
    aps = payload.pop("aps")
    equal("aps", aps, {"alert": {"title": "Ably", "body": text}, "sound": "bell", "thread-id": "together"})
    equal("data", payload, {"build": "81", "n": 7})


def published_fcm(payload, text):
    message = payload["message"]
    equal("notification", message["notification"], {"title": "Ably", "body": text})
    equal("data", message["data"], {"build": "81", "n": "7"})
    android = message["android"]
    equal("key", android["collapse_key"], "together")
    # What is left of it.
    assert 3_500 < int(android["ttl"].removesuffix("s")) <= 3_600, android
    equal("sound", android["notification"]["sound"], "bell")


async def publishing_for_each_push_service(scene):
    phone, tablet = iphone(1), android(1)
    for device in (phone, tablet):
        await scene.admin.push.admin.device_registrations.save(device)
    text = scene.text("raw")
    data = {
        "notification": {"title": "Title", "body": text, "icon": "bell"},
        "apns": {"aps": {"mutable-content": 1}, "apns-headers": {"apns-priority": "5"}, "apns.notification": {}, "extra": [1]},
        "fcm": {"notification": {"color": "#fff"}, "collapse_key": "old", "data": {"more": 1}},
    }
    data["apns"].pop("apns.notification")
    for device in (phone, tablet):
        await scene.admin.push.admin.publish({"deviceId": device["id"]}, data)
    payload = scene.payload(phone["push"]["recipient"]["deviceToken"], text)
    equal("aps", (payload["aps"]["mutable-content"], payload["extra"], "apns-headers" in payload), (1, [1], False))
    message = scene.payload(tablet["push"]["recipient"]["registrationToken"], text)["message"]
    shown = message["android"]["notification"]
    equal("colour and icon", (shown["color"], shown["icon"]), ("#fff", "bell"))
    equal("collapse key", message["android"]["collapse_key"], "old")
    equal("more data", message["data"]["more"], "1")


async def bad_publishes(scene):
    publish = scene.admin.push.admin.publish
    some = {"notification": {"title": "x"}}
    for what, code, status, recipient, data in [
        ("an unknown device", 40400, 404, {"deviceId": "nobody's"}, some),
        ("no payload", 40000, 400, {"clientId": "bob"}, {"other": 1}),
        ("a recipient of no kind", 40000, 400, {"color": "red"}, some),
        ("Ably's own transport", 40000, 400, {"transportType": "ablyChannel", "channel": "c"}, some),
        ("a wrong type", (40000, 40001, 40012), 400, {"clientId": 7}, some),
        ("much data", 40009, 413, {"clientId": "bob"}, {"data": {"much": "m" * 4000}}),
        ("a topic", 40000, 400, {"clientId": "bob"}, some | {"fcm": {"topic": "all"}}),
    ]:
        await refused(what, code, status, publish(recipient, data))


async def publishing_on_channels(scene):
    for name, client in scene.clients_of.items():
        admin, channel = client.push.admin, client.channels.get("chat:general")
        phone = iphone(1)
        token = phone["push"]["recipient"]["deviceToken"]
        await admin.device_registrations.save(phone)
        # Twice in the audience, one notification.
        await admin.channel_subscriptions.save({"channel": "chat:general", "device_id": phone["id"]})
        await admin.channel_subscriptions.save({"channel": "chat:general", "client_id": "bob"})
        text = scene.text(f"channel {name}")
        push = {"push": {"notification": {"title": "General", "body": text}, "data": {"k": "v"}}}
        message = Message("chat", {"some": "data"}, extras=push)
        # The client gives the message an id, so that a repeat of it is the same message.
        results = [await channel.publish(message) for _ in range(2)]
        assert all(result.serials for result in results), results
        payload = scene.payload(token, text)
        equal("alert", payload["aps"]["alert"], {"title": "General", "body": text})
        equal("data", payload["k"], "v")
        texts = [scene.text(f"one of three {name}") for _ in range(3)]
        several = [Message("chat", "x", extras={"push": {"notification": {"title": "T", "body": each}}}) for each in texts]
        equal("serials", len((await channel.publish(several)).serials), 3)
        for each in texts:
            scene.payload(token, each)
        # Without push, and where no push is.
        quiet = scene.text("quiet")
        await channel.publish("chat", quiet)
        await client.channels.get("news:general").publish(Message("n", "d", extras={"push": {"notification": {"title": quiet}}}))
        bad = Message("n", "d", extras={"push": {"notification": {"title": ["no text"]}}})
        await refused("extras", (40000, 40032), 400, channel.publish(bad))
        wrong = [Message("n", "d", id="base:1"), Message("n", "d", id="other:0")]
        await refused("message ids", 40031, 400, channel.publish(wrong))
        last = scene.text("last")
        await channel.publish(Message("chat", "x", extras={"push": {"notification": {"body": last}}}))
        scene.payload(token, last)
        for each in [text, *texts, last]:
            equal(each, len(scene.requests(token, each)), 1)
        equal("what is for nobody", [each for each in scene.simulator.requests() if quiet in each["payload"]], [])
        await admin.device_registrations.remove(phone["id"])
        left = (await admin.channel_subscriptions.list(channel="chat:general")).items
        equal("subscriptions that are left", [each.client_id for each in left], ["bob"])


async def batches(scene):
    phone = iphone(1)
    await scene.admin.push.admin.device_registrations.save(phone)
    token = phone["push"]["recipient"]["deviceToken"]
    for name, client in scene.clients_of.items():
        good, also = scene.text(f"batch {name}"), scene.text(f"batch, too, {name}")
        for path in ("/push/batch/publish", "/push/admin/batch/publish"):
            items = [{"recipient": [{"deviceId": phone["id"]}], "payload": {"notification": {"title": good}}}]
            answer = await client.request("POST", path, "5", body=items)
            equal("all taken", (answer.status_code, answer.items), (200, []) if not answer.items else (200, [{}]))
            good, first = scene.text(f"batch {name}"), good
            scene.payload(token, first)
        items = [
            {"recipient": {"deviceId": "nobody's"}, "payload": {"notification": {"title": "x"}}},
            {"recipient": {"deviceId": phone["id"]}, "payload": {"notification": {"title": also}}},
        ]
        answer = await client.request("POST", "/push/batch/publish", "5", body=items)
        equal("one bad one", (answer.status_code, answer.items[0]["error"]["code"]), (400, 40020))
        results = answer.items[0]["batchResponse"]
        equal("their results", (results[0]["error"]["code"], results[1]), (40400, {}))
        scene.payload(token, also)


async def bodies_that_lie(scene):
    details = await scene.admin.auth.authorize()
    headers = bearer(details.token)
    async with httpx.AsyncClient(base_url=scene.address) as client:
        for what, body in [
            ("cut off", msgpack.packb({"recipient": {"clientId": "bob"}})[:-1]),
            ("four billion members", b"\xdf\xff\xff\xff\xff"),
            ("four billion bytes", b"\xdb\xff\xff\xff\xffabc"),
            ("10,000 deep", b"\x91" * 10_000 + b"\x90"),
            ("two of them", msgpack.packb({"a": 1}) * 2),
            ("a byte that means nothing", b"\xc1"),
            ("nothing", b""),
        ]:
            answer = await client.post("/push/publish", content=body, headers=headers | {"Content-Type": "application/x-msgpack"})
            error = answer.json()["error"]
            assert answer.status_code == 400 and error["code"] in (40000, 40001), f"{what}: {answer.status_code} {error}"
            equal("in headers, too", answer.headers["X-Ably-ErrorCode"], str(error["code"]))
        form = await client.post("/push/publish", data={"a": "b"}, headers=headers)
        equal("a form", (form.status_code, form.json()["error"]["code"]), (415, 40000))
        equal("all of an error", set(form.json()["error"]), {"statusCode", "code", "message", "href"})
        answer = await client.put("/push/channels", headers=headers)
        equal("a method", (answer.status_code, answer.json()["error"]["code"]), (405, 40500))
        answer = await client.get("/push/nothing", headers=headers)
        equal("a path", (answer.status_code, answer.json()["error"]["code"]), (404, 40400))
