"""What an app with Amity's kit asks for, as their servers' reference says it: registration, settings, the console's switches."""

import hashlib
import hmac
import os
import time

from http_client import ask, bearer, token
from playing import equal, eventually

APP = "com.example.chat"
API_KEY = "b0e8b95a3fdcf2351a34d84d524c1088d85cd8e5be366c2f"
SETTING, ADMIN_SETTING = "/api/v3/notification/setting", "/admin/v1/notification/setting"


class Scene:
    """A network whose app carries an API key that it had before."""

    def __init__(self, played):
        self.played, self.simulator, self.network = played, played.simulator, played.make_network("amity")
        self.address = played.service.address
        settings = {"ios": {"appId": APP, "environment": "production"}, "android": {"appId": APP}, "requireUserToken": True}
        played.bind("amity", "default", settings, self.network)
        path = self.network.path("faces", "amity", "keys")
        played.service.call("POST", path, {"secret": API_KEY, "rights": "device"})
        self.app = {"X-API-Key": API_KEY}
        self.iphone, self.android = os.urandom(32).hex(), f"device-{os.urandom(16).hex()}"
        members = [{"id": name} for name in ("alice", "bob")]
        self.network.say("Good morning", channel="room", members=members)

    def user(self, name):
        """A user's token, as the chat backend makes them."""
        claims = {"sub": name, "aud": "carillon:amity", "exp": int(time.time()) + 600}
        secret = self.network.user_token_secret.encode()
        return bearer(token(claims, lambda text: hmac.new(secret, text, hashlib.sha256).digest(), "HS256"))

    def ask(self, method, path, body=None, headers=None):
        return ask(self.address, method, path, body, headers)

    def say(self, text):
        """Says something; answers how many devices it was for once that is decided."""
        event = self.network.say(text, channel="room")
        return event, self.network.finished(event)

    def heard(self, text, device):
        return eventually(f"{text} for {device[:20]}", lambda: [r for r in self.simulator.requests(device) if r["body"] == text])


def refusal(answer):
    status, body = answer
    assert isinstance(body, dict) and body.get("status") == "error" and body.get("message"), answer
    return status, body["code"]


def amity_devices_are_registered_by_key_and_user(scene):
    body = {"deviceId": "phone", "platform": "ios", "token": scene.iphone, "userId": "bob"}
    for what, headers, expected in [
        ("nobody", {}, (401, 400100)),
        ("a wrong key", {"X-API-Key": "wrong"}, (401, 400100)),
        ("no user", scene.app, (401, 400100)),
        ("another user", scene.app | scene.user("carol"), (403, 400301)),
    ]:
        equal(what, refusal(scene.ask("POST", "/v1/notification", body, headers)), expected)
    for what, wrong in [
        ("no token", {"token": None}),
        ("no hex", {"token": "zz"}),
        ("Baidu", {"platform": "android", "provider": "baidu"}),
        ("a long device id", {"deviceId": "d" * 151}),
        ("another platform", {"platform": "windows"}),
    ]:
        answer = scene.ask("POST", "/v1/notification", body | wrong, scene.app | scene.user("bob"))
        equal(what, refusal(answer), (400, 400000))
    # Header names are written in any case.
    headers = {"x-api-KEY": API_KEY} | scene.user("bob")
    equal("registration", scene.ask("POST", "/v1/notification", body, headers), (200, {"success": True}))
    android = {"deviceId": "tablet", "platform": "android", "token": scene.android, "userId": "bob", "provider": "fcm", "new": 1}
    equal("another device", scene.ask("POST", "/v1/notification", android, headers), (200, {"success": True}))
    scene.say("Hello Bob")
    scene.heard("Hello Bob", scene.iphone)
    scene.heard("Hello Bob", scene.android)


def set_user(scene, **body):
    answer = scene.ask("POST", SETTING, {"level": "user"} | body, scene.user("bob"))
    equal(f"{body}", answer, (200, {"status": "success"}))


def silent(scene, text):
    _, event = scene.say(text)
    equal(f"recipients of {text}", event["recipients"]["notified"], 0)


def amity_settings_of_a_user(scene):
    status, found = scene.ask("GET", f"{SETTING}?level=user", headers=scene.user("bob"))
    equal("settings", (status, found["isPushNotifiable"], found["isUserEnabled"]), (200, True, True))
    modules = {each["moduleName"]: each["isPushNotifiable"] for each in found["notifiableEvents"]}
    equal("modules", modules, {"chat": True, "social": True, "video-streaming": True})
    set_user(scene, isPushNotifiable=False)
    silent(scene, "All off")
    set_user(scene, isPushNotifiable=True, notifiableEvents=[{"moduleName": "chat", "isPushNotifiable": False}])
    silent(scene, "Chat off")
    roles = {"moduleName": "chat", "isPushNotifiable": True, "listenFromRoleIds": ["moderator"], "ignoreFromRoleIds": []}
    set_user(scene, notifiableEvents=[roles])
    silent(scene, "Moderators only")
    set_user(scene, notifiableEvents=[roles | {"listenFromRoleIds": []}])
    scene.say("All on")
    scene.heard("All on", scene.iphone)
    for what, body in [
        ("an event's name", {"notifiableEvents": [{"name": "message.created", "isPushNotifiable": False}]}),
        ("an unknown module", {"notifiableEvents": [{"moduleName": "mail", "isPushNotifiable": False}]}),
        ("a wrong type", {"isPushNotifiable": "no"}),
        ("eleven roles", {"notifiableEvents": [roles | {"listenFromRoleIds": [str(n) for n in range(11)]}]}),
    ]:
        answer = scene.ask("POST", SETTING, {"level": "user"} | body, scene.user("bob"))
        equal(what, refusal(answer), (400, 400000))
    equal("without a user", refusal(scene.ask("GET", f"{SETTING}?level=user")), (401, 400100))
    community = scene.ask("GET", f"{SETTING}?level=community&communityId=c", headers=scene.user("bob"))
    equal("a community", refusal(community), (404, 400400))


def amity_settings_of_a_channel(scene):
    path = f"{SETTING}?level=channel&channelId=room"
    body = {"level": "channel", "channelId": "room", "isPushNotifiable": False}
    equal("off", scene.ask("POST", SETTING, body, scene.user("bob")), (200, {"status": "success"}))
    status, found = scene.ask("GET", path, headers=scene.user("bob"))
    equal("the channel", (status, found["isPushNotifiable"], found["isUserEnabled"]), (200, False, True))
    silent(scene, "Not in this room")
    answer = scene.ask("POST", SETTING, body | {"isPushNotifiable": True}, scene.user("bob"))
    equal("on", answer, (200, {"status": "success"}))
    # Whoever is no member yet can decide before.
    equal("elsewhere", scene.ask("POST", SETTING, body | {"channelId": "new"}, scene.user("bob"))[0], 200)
    missing = scene.ask("POST", SETTING, {"level": "channel", "isPushNotifiable": True}, scene.user("bob"))
    equal("no channel", refusal(missing), (400, 400000))


def amity_settings_of_the_network(scene):
    admin = bearer(scene.network.key)
    equal("a user", refusal(scene.ask("GET", f"{ADMIN_SETTING}?level=network", headers=scene.user("bob")))[0] in (401, 403), True)
    status, found = scene.ask("GET", f"{ADMIN_SETTING}?level=network", headers=admin)
    names = {each["name"] for each in found["notifiableEvents"]}
    equal("events", (status, names), (200, {"channel.created", "channel.joined", "message.created"}))
    one = {"name": "message.created", "isPushNotifiable": False}
    body = {"level": "network", "notifiableEvents": [one]}
    equal("messages off", scene.ask("POST", ADMIN_SETTING, body, admin), (200, {"status": "success"}))
    silent(scene, "No messages at all")
    body["notifiableEvents"] = [one | {"isPushNotifiable": True}]
    equal("messages on", scene.ask("POST", ADMIN_SETTING, body, admin), (200, {"status": "success"}))
    body["notifiableEvents"] = [one | {"name": "post.created"}]
    equal("another event", refusal(scene.ask("POST", ADMIN_SETTING, body, admin)), (400, 400000))


def amity_devices_are_unregistered_without_a_user(scene):
    headers = scene.app
    equal("no device", refusal(scene.ask("DELETE", "/v1/notification?userId=bob", headers=headers)), (400, 400000))
    path, done = "/v1/notification?deviceId=phone&userId=", (200, {"success": True})
    equal("another's", scene.ask("DELETE", path + "carol", headers=headers), done)
    scene.say("Still here")
    scene.heard("Still here", scene.iphone)
    equal("theirs", scene.ask("DELETE", path + "bob", headers=headers), done)
    # Also in a body, and also when nothing is there any more.
    for _ in range(2):
        equal("a body", scene.ask("DELETE", "/v1/notification", {"deviceId": "tablet"}, headers), done)
    _, event = scene.say("Is anybody there?")
    equal("nobody", event["recipients"]["notified"], 0)


ACTS = [
    amity_devices_are_registered_by_key_and_user,
    amity_settings_of_a_user,
    amity_settings_of_a_channel,
    amity_settings_of_the_network,
    amity_devices_are_unregistered_without_a_user,
]
