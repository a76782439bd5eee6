#!/usr/bin/env python3
"""Plays the Ably face with Ably's own client (PyPI: ably), in both of its protocols, and what phones send with recorded requests.

    python3 Tests/Interop/ably_client.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import base64
import json
import logging
import os
import sys
import time

import httpx
import msgpack
from ably import AblyException, AblyRest
from ably.types.message import Message

from ably_phone import Phone
from playing import equal, eventually, perform, program_argument, stage
from tls import TLSDoor

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


async def the_time(scene):
    for client in scene.clients_of.values():
        assert abs(await client.time() - time.time() * 1000) < 60_000


async def devices(scene):
    for name, client in scene.clients_of.items():
        registrations = client.push.admin.device_registrations
        made = [iphone(f"{name}-1"), android(f"{name}-2"), android(f"{name}-3", "gcm")]
        for device in made:
            for _ in range(2):
                saved = await registrations.save(device)
                same_device(saved, device)
            same_device(await registrations.get(device["id"]), device)
        found = await registrations.list(deviceId=made[0]["id"])
        equal("by id", [device.id for device in found.items], [made[0]["id"]])
        moved = made[1] | {"push": {"recipient": made[1]["push"]["recipient"] | {"registrationToken": f"device-{name}"}}}
        same_device(await registrations.save(moved), moved)
        await registrations.remove(made[2]["id"])
        await registrations.remove(made[2]["id"])
        await refused("a removed device", 40400, 404, registrations.get(made[2]["id"]))
        await registrations.remove_where(deviceId=made[1]["id"])
        await refused("another removed device", 40400, 404, registrations.get(made[1]["id"]))
        # By the name that this client gives it.
        await registrations.remove_where(client_id="bob")
        await refused("a removed client's device", 40400, 404, registrations.get(made[0]["id"]))
        equal("devices", (await registrations.list()).items, [])


def same_device(found, expected):
    equal("device", (found.id, found.client_id, found.platform, found.form_factor, found.metadata), (
        expected["id"], expected.get("client_id"), expected["platform"], expected["form_factor"], expected.get("metadata")
    ))
    equal("push", found.push, expected["push"] | {"state": "ACTIVE"})
    equal("what is not asked for", (found.device_secret, found.update_token, found.app_id, found.modified), (None,) * 4)


async def bad_devices(scene):
    for client in scene.clients_of.values():
        registrations = client.push.admin.device_registrations
        await registrations.save(android("kept"))
        for what, device in [
            ("another platform", iphone("x") | {"id": "android-kept"}),
            ("no token", android("x") | {"push": {"recipient": {"transportType": "fcm"}}}),
            ("no recipient", android("x") | {"push": {}}),
        ]:
            await refused(what, 40000, 400, registrations.save(device))
        for what, device in [
            ("no platform", {key: value for key, value in android("x").items() if key != "platform"}),
            ("a wrong type", android("x") | {"metadata": "text"}),
        ]:
            await refused(what, (40000, 40001), 400, registrations.save(device))
        much = android("x") | {"metadata": {"much": "m" * 5000}}
        await refused("much metadata", 40009, 413, registrations.save(much))
        nonsense = await registrations.save(iphone("nonsense") | {
            "push": {"recipient": {"transportType": "apns", "deviceToken": "no-token-at-all"}},
        })
        equal("a token that is none", (nonsense.push["state"], nonsense.push["errorReason"]["code"]), ("FAILED", 103005))
        for filter in ({}, {"color": "red"}, {"request_id": "1"}):
            await refused(f"deletion by {filter}", 40003, 400, registrations.remove_where(**filter))
        equal("still there", (await registrations.get("android-kept")).id, "android-kept")
        await refused("a limit", 40003, 400, registrations.list(limit="many"))


async def pages(scene):
    for client in scene.clients_of.values():
        registrations = client.push.admin.device_registrations
        for number in range(5):
            await registrations.save(android(f"page-{number}") | {"client_id": "a client & co"})
        page, seen = await registrations.list(clientId="a client & co", limit=2), []
        while True:
            seen.append([device.id for device in page.items])
            assert page.has_first() and len(seen) <= 3
            if page.is_last():
                break
            page = await page.next()
        equal("pages", seen, [[f"android-page-{number}" for number in page] for page in ((0, 1), (2, 3), (4,))])
        equal("the first again", [device.id for device in (await page.first()).items], seen[0])


async def subscriptions(scene):
    for client in scene.clients_of.values():
        admin = client.push.admin
        subscriptions = admin.channel_subscriptions
        await admin.device_registrations.save(iphone(1))
        by_device = {"channel": "chat:ทั่วไป & 1", "device_id": "iphone-1"}
        by_client = {"channel": "chat:general", "client_id": "bob"}
        for subscription in (by_device, by_client):
            for _ in range(2):
                same_subscription(await subscriptions.save(subscription), subscription)
        found = (await subscriptions.list(channel="chat:general")).items
        equal("of a channel", len(found), 1)
        same_subscription(found[0], by_client)
        # The names as this client gives them, and as the others do.
        for filter in ({"device_id": "iphone-1"}, {"deviceId": "iphone-1"}):
            found = (await subscriptions.list(**filter)).items
            equal("of a device", [subscription.channel for subscription in found], [by_device["channel"]])
        both = (await subscriptions.list(deviceId="iphone-1", clientId="bob", concatFilters="true")).items
        equal("of either", sorted(each.channel for each in both), ["chat:general", by_device["channel"]])
        channels = (await subscriptions.list_channels()).items
        equal("channels", sorted(channels), ["chat:general", by_device["channel"]])
        await subscriptions.remove(by_device)
        await subscriptions.remove(by_device)
        equal("after its removal", (await subscriptions.list_channels()).items, ["chat:general"])
        await refused("removal without a filter", 40003, 400, subscriptions.remove_where())
        equal("still there", len((await subscriptions.list(client_id="bob")).items), 1)
        await subscriptions.remove_where(client_id="bob")
        equal("channels", (await subscriptions.list_channels()).items, [])
        unknown = {"channel": "chat:general", "device_id": "nobody's"}
        await refused("an unknown device", 40400, 404, subscriptions.save(unknown))
        elsewhere = {"channel": "news:general", "client_id": "bob"}
        await refused("no push on this channel", 40160, 401, subscriptions.save(elsewhere))


def same_subscription(found, expected):
    equal("subscription", (found.channel, found.device_id, found.client_id), (
        expected["channel"], expected.get("device_id"), expected.get("client_id")
    ))


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


async def tokens(scene):
    for binary in PROTOCOLS.values():
        holder = scene.client(key=scene.key, use_binary_protocol=binary, query_time=True)
        details = await holder.auth.request_token({"ttl": 60_000, "client_id": "bob", "capability": {"chat:*": ["publish"]}})
        equal("client", details.client_id, "bob")
        equal("capability", details.capability.to_dict(), {"chat:*": ["publish"]})
        equal("its time", details.expires - details.issued, 60_000)
        bearer = scene.client(token=details.token, use_binary_protocol=binary)
        assert (await bearer.channels.get("chat:general").publish("n", "d")).serials
        registrations = bearer.push.admin.device_registrations
        await refused("insufficient capability", 40160, 401, registrations.list())
        await refused("another channel", 40160, 401, bearer.channels.get("news:x").publish("n", "d"))
        # A server signs, an app asks with it, once.
        signed = await holder.auth.create_token_request({"client_id": "carol"})
        asked = []

        async def server(_):
            asked.append(signed)
            return signed

        app = scene.client(auth_callback=server, use_binary_protocol=binary)
        equal("client", (await app.auth.authorize()).client_id, "carol")
        await refused("the same request again", 40105, 401, app.auth.request_token())
        old = await holder.auth.create_token_request({"timestamp": int(time.time() * 1000) - 600_000})
        await refused("an old request", 40104, 401, holder.auth.request_token(auth_callback=giving(old)))
        forged = await holder.auth.create_token_request({"mac": base64.b64encode(b"f" * 32).decode()})
        await refused("a forged request", 40101, 401, holder.auth.request_token(auth_callback=giving(forged)))
        await refused("two days", 40003, 400, holder.auth.request_token({"ttl": 48 * 3_600_000}))
        wide = scene.client(key=scene.phone_key, use_binary_protocol=binary)
        cut = await wide.auth.request_token({"capability": {"*": ["*"]}})
        rights = {channel: sorted(each) for channel, each in cut.capability.to_dict().items()}
        equal("cut to the key's", rights, {"chat:*": ["publish", "push-subscribe"]})
        await refused("nothing in common", 40160, 401, wide.auth.request_token({"capability": {"news:*": ["publish"]}}))


def giving(request):
    async def callback(_):
        return request

    return callback


async def tokens_that_end(scene):
    short = scene.client(key=scene.key, default_token_params={"ttl": 1_500})
    first = await short.auth.authorize()
    alone = scene.client(token=first.token)
    await alone.push.admin.device_registrations.list()
    code = None
    while code is None:
        # It has no way to get another.
        try:
            await alone.http.make_request("GET", "/push/channels", skip_auth=True, headers=bearer(first.token))
            time.sleep(0.1)
        except AblyException as error:
            code = error.code
    equal("an expired token", code, 40142)
    await short.push.admin.device_registrations.list()
    assert short.auth.token_details.token != first.token, "whoever can gets another token"
    head, claims, mac = first.token.split(".")
    forged = ".".join([head, claims, mac[:-4] + ("AAAA" if mac[-4:] != "AAAA" else "BBBB")])
    for what, token in [("a forged token", forged), ("no token", "nonsense"), ("no algorithm", unsigned(claims))]:
        request = scene.admin.http.make_request("GET", "/push/channels", skip_auth=True, headers=bearer(token))
        await refused(what, 40140, 401, request)


def unsigned(claims):
    head = base64.urlsafe_b64encode(json.dumps({"alg": "none", "typ": "JWT"}).encode()).decode().rstrip("=")
    return f"{head}.{claims}."


def bearer(token):
    return {"Authorization": "Bearer " + base64.b64encode(token.encode()).decode()}


async def keys_over_tls(scene):
    with TLSDoor(scene.port, scene.played.folder) as door:
        options = {"tls": True, "tls_port": door.port, "use_token_auth": False}
        client = scene.client(key=scene.key, **options)
        equal("how it authenticates", client.auth.auth_mechanism, "BASIC")
        assert isinstance((await client.push.admin.device_registrations.list()).items, list)
        wrong = scene.client(key=scene.key[:-3] + "abc", **options)
        await refused("a wrong secret", 40101, 401, wrong.push.admin.device_registrations.list())
        strange = scene.client(key="app1.nobody:secret", **options)
        await refused("an unknown key", 40101, 401, strange.push.admin.device_registrations.list())
        foreign = scene.client(key="app2.admin:secret", **options)
        await refused("an unknown app", 40101, 401, foreign.push.admin.device_registrations.list())
    basic = {"Authorization": "Basic " + base64.b64encode(scene.key.encode()).decode()}
    plain = basic | {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "http"}
    request = scene.admin.http.make_request("GET", "/push/channels", skip_auth=True, headers=plain)
    await refused("a key in the open", 40103, 401, request)


async def devices_that_are_gone(scene):
    device = iphone("dead") | {"id": "dead"}
    dead = scene.simulator.device("iphone-unregistered")["token"]
    device["push"]["recipient"]["deviceToken"] = dead
    registrations = scene.admin.push.admin.device_registrations
    await registrations.save(device)
    await scene.admin.push.admin.publish({"deviceId": "dead"}, {"notification": {"title": scene.text("to a dead one")}})
    for _ in range(200):
        found = await registrations.get("dead")
        if found.push["state"] != "ACTIVE":
            break
        time.sleep(0.05)
    equal("state", (found.push["state"], found.push["errorReason"]["code"]), ("FAILED", 41001))
    alive = await registrations.save(device | {"push": {"recipient": iphone(0)["push"]["recipient"]}})
    equal("registered again", alive.push["state"], "ACTIVE")


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


async def phones(scene):
    await Phone(scene).walk()


async def revoked_keys(scene):
    key = scene.make_key("app1.old", {"*": ["push-admin"]})
    client = scene.client(key=key)
    token = (await client.auth.authorize()).token
    scene.network.delete("faces", "ably", "keys", "app1.old")
    code = None
    for _ in range(100):
        try:
            await scene.admin.http.make_request("GET", "/push/channels", skip_auth=True, headers=bearer(token))
        except AblyException as error:
            code = error.code
            break
        time.sleep(0.05)
    assert code in (40101, 40140), f"a token of a revoked key: {code}"
    await refused("another token", 40101, 401, client.auth.authorize())


def nothing_is_in_the_log(scene):
    log = scene.played.said()
    secrets = set(scene.said) | {request["device"] for request in scene.simulator.requests()}
    secrets |= {scene.key.split(":")[1], scene.phone_key.split(":")[1]}
    for secret in secrets:
        assert secret not in log, f"{secret[:40]} stands in the log"


ACTS = [
    the_time,
    devices,
    bad_devices,
    pages,
    subscriptions,
    publishing_to_devices_clients_and_addresses,
    publishing_for_each_push_service,
    bad_publishes,
    publishing_on_channels,
    tokens,
    tokens_that_end,
    keys_over_tls,
    devices_that_are_gone,
    batches,
    bodies_that_lie,
    phones,
    revoked_keys,
    nothing_is_in_the_log,
]


def main():
    # It says of each refusal what it raises anyway.
    logging.disable(logging.CRITICAL)
    with stage(program_argument()) as played:
        return perform(ACTS, Scene(played))


if __name__ == "__main__":
    sys.exit(main())
