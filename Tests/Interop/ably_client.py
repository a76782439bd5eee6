#!/usr/bin/env python3
"""Plays the Ably face with Ably's own client (PyPI: ably), in both of its protocols, and what phones send with recorded requests.

    python3 Tests/Interop/ably_client.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import base64
import json
import logging
import sys
import time

from ably import AblyException

from ably_phone import Phone
from ably_publishing import (
    bad_publishes,
    batches,
    bodies_that_lie,
    publishing_for_each_push_service,
    publishing_on_channels,
    publishing_to_devices_clients_and_addresses,
)
from ably_scene import PROTOCOLS, Scene, android, bearer, iphone, refused
from playing import equal, perform, program_argument, stage
from tls import TLSDoor


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


async def why_pushes_did_not_arrive(scene):
    for name, client in scene.clients_of.items():
        log = client.channels.get("[meta]log:push")
        items = []
        for _ in range(100):
            items = (await log.history(limit=50)).items
            if any(said(item).get("deviceId") == "dead" for item in items):
                break
            time.sleep(0.05)
        dead = next((said(item) for item in items if said(item).get("deviceId") == "dead"), None)
        assert dead and dead["error"]["code"] in (103003, 103004, 103005), f"{name}: {[said(item) for item in items]}"
        equal("whose it is", dead["clientId"], "bob")
        quiet = [said(item) for item in items if said(item)["error"]["code"] == 103009]
        assert quiet and quiet[0]["channel"] == "news:general" and quiet[0]["messageId"], f"a message where no push is: {quiet}"
        assert all(item.name == "push" and item.id and item.timestamp for item in items)
        assert all(set(said(item)) <= {"error", "deviceId", "clientId", "channel", "messageId"} for item in items)
        times = [item.timestamp for item in items]
        equal("newest first", times, sorted(times, reverse=True))
        page, found = await log.history(limit=2), []
        while True:
            found += [item.id for item in page.items]
            if page.is_last():
                break
            page = await page.next()
        equal("in pages", found, [item.id for item in items])
        page = await log.history(limit=100, direction="forwards")
        equal("the other way round", [item.id for item in page.items], found[::-1])
        since = [item.id for item in items if item.timestamp >= times[0]]
        equal("since a moment", [item.id for item in (await log.history(start=times[0])).items], since)
        equal("until a moment", (await log.history(end=times[-1] - 1)).items, [])
    stranger = scene.client(key=scene.phone_key)
    await refused("without history", 40160, 401, stranger.channels.get("[meta]log:push").history())
    await refused("another channel's history", 40500, 405, scene.admin.channels.get("chat:general").history())


def said(message):
    return message.data if isinstance(message.data, dict) else json.loads(message.data)


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
    why_pushes_did_not_arrive,
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
