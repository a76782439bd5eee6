"""What phones with MobileFirst's kits and back ends with its REST API ask for: tags, devices, subscriptions, messages."""

import json
import os
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from http_client import ask, basic, bearer, token
from playing import equal, eventually

APP = "com.example.chat"
ID = "com.acme.app"
SCOPES = [f"push.application.{ID}"] + [
    f"{kind}.{right}" for kind in ("devices", "subscriptions", "tags") for right in ("read", "write")
] + ["messages.write"]


class Scene:
    """An application, its back end's client, and a MobileFirst server that issues the phones' tokens."""

    def __init__(self, played):
        self.played, self.simulator, self.network = played, played.simulator, played.make_network("mobilefirst")
        self.address = played.service.address
        self.issuer = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = self.issuer.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        settings = {
            "A": {"appId": APP, "environment": "production"}, "G": {"appId": APP, "senderId": "1234567890"},
            "issuers": [{"iss": "https://mfp.acme.example", "publicKey": public.decode(), "userIdClaim": "sub"}],
        }
        played.bind("imfpush", ID, settings, self.network)
        self.secret = self.key("backend", SCOPES)
        self.backend = bearer(self.access("backend", self.secret, " ".join(SCOPES))[1]["access_token"])
        self.iphone, self.android = os.urandom(32).hex(), f"device-{os.urandom(16).hex()}"
        self.other = os.urandom(32).hex()

    def key(self, name, rights):
        return self.network.post("faces", "imfpush", "keys", body={"name": name, "rights": rights})["secret"]

    def access(self, name, secret, scope):
        form = urllib.parse.urlencode({"grant_type": "client_credentials", "scope": scope})
        return ask(self.address, "POST", "/mfp/api/az/v1/token", form, basic(name, secret))

    def phone(self, user, key=None, **claims):
        """A user's token of the MobileFirst server's."""
        now = int(time.time())
        claims = {
            "iss": "https://mfp.acme.example", "sub": user, "exp": now + 600, "iat": now, "scope": "push.mobileclient"
        } | claims
        key = key or self.issuer
        return bearer(token(claims, lambda text: key.sign(text, padding.PKCS1v15(), hashes.SHA256()), "RS256"))

    def ask(self, method, path, body=None, headers=None):
        return ask(self.address, method, f"/imfpush/v1/apps/{ID}{path}", body, self.backend if headers is None else headers)

    def send(self, alert, body=None, **message):
        answer = self.ask("POST", "/messages", {"message": {"alert": alert} | message} | (body or {}))
        equal("answer", (answer[0], answer[1]["message"]), (202, {"alert": alert}))
        return answer[1]["messageId"]

    def sent(self, text, device):
        """What a device was sent with a text somewhere."""
        return [each["payload"] for each in self.simulator.requests(device) if text in each["payload"]]

    def heard(self, text, device):
        found = eventually(f"{text} for {device[:20]}", lambda: self.sent(text, device))
        equal(f"how often {device[:20]} heard {text}", len(found), 1)
        return json.loads(found[0])


def code(answer):
    return answer[0], answer[1].get("code") if isinstance(answer[1], dict) else None


def back_ends_get_a_token(scene):
    status, made = scene.access("backend", scene.secret, "messages.write")
    equal("token", (status, made["token_type"], made["scope"], made["expires_in"]), (200, "Bearer", "messages.write", 3600))
    narrow = bearer(made["access_token"])
    equal("beyond its scope", scene.ask("GET", "/devices", headers=narrow)[0], 403)
    equal("without a token", scene.ask("GET", "/devices", headers={})[0], 401)
    equal("a wrong secret", scene.access("backend", "wrong", "messages.write")[0], 401)
    equal("a stranger", scene.access("nobody", scene.secret, "messages.write")[0], 401)


def tags_are_declared(scene):
    for name in ("news", "sport"):
        status, tag = scene.ask("POST", "/tags", {"name": name, "description": name.upper()})
        equal("tag", (status, tag["name"], tag["description"], tag["createdMode"]), (201, name, name.upper(), "API"))
    equal("again", scene.ask("POST", "/tags", {"name": "news", "description": ""})[0], 409)
    status, page = scene.ask("GET", "/tags?size=1&offset=0", headers=scene.phone("bob"))
    equal("a page", (status, len(page["tags"]), page["pageInfo"]["totalCount"]), (200, 1, "2"))
    assert page["pageInfo"]["next"], page
    equal("an unknown tag", code(scene.ask("GET", "/tags/nothing")), (404, "FPWSE0001E"))
    equal("a phone's tag", scene.ask("POST", "/tags", {"name": "x"}, scene.phone("bob"))[0], 403)


def phones_register(scene):
    bob = scene.phone("bob")
    equal("the sender", scene.ask("GET", "/settings/gcmConfPublic", headers=bob), (200, {"senderId": "1234567890"}))
    # What is 404 here makes a kit register anew.
    equal("not yet", code(scene.ask("GET", "/devices/iphone", headers=bob)), (404, "FPWSE0001E"))
    for path, device in [
        ("/devices/", {"deviceId": "iphone", "token": scene.iphone, "platform": "A", "phoneNumber": "123"}),
        ("/devices", {"deviceId": "android", "token": scene.android, "platform": "G"}),
    ]:
        status, made = scene.ask("POST", path, device, bob)
        equal("status", status, 201)
        equal("device", {name: made[name] for name in device} | {"userId": made["userId"]}, device | {"userId": "bob"})
    status, found = scene.ask("GET", "/devices/iphone", headers=bob)
    equal("found", (status, found["token"], found["createdMode"]), (200, scene.iphone, "API"))
    assert found["createdTime"].endswith("Z") and "." not in found["createdTime"], found
    other = {"deviceId": "ipad", "token": scene.other, "platform": "A"}
    equal("nobody's device", scene.ask("POST", "/devices", other)[0], 201)
    status, found = scene.ask("GET", "/devices?userId=bob")
    equal("bob's", (status, sorted(device["deviceId"] for device in found["devices"])), (200, ["android", "iphone"]))
    status, found = scene.ask("GET", "/devices?filter=platform==G&expand=true")
    equal("of Google", [device["deviceId"] for device in found["devices"]], ["android"])
    equal("updated", scene.ask("PUT", "/devices/iphone", {"token": scene.iphone, "userId": "bob"}, bob)[0], 200)
    for what, body, expected in [
        ("Windows", other | {"platform": "W"}, (400, "FPWSE0005E")),
        ("no token", {"deviceId": "x", "platform": "A"}, (400, "FPWSE0005E")),
    ]:
        equal(what, code(scene.ask("POST", "/devices", body)), expected)
    equal("an unknown filter", code(scene.ask("GET", "/devices?filter=color==red")), (400, "FPWSE0007E"))
    equal("much", code(scene.ask("GET", "/devices?size=501")), (400, "FPWSE1080E"))
    forger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    for what, headers in [
        ("forged", scene.phone("bob", forger)),
        ("expired", scene.phone("bob", exp=int(time.time()) - 600)),
        ("another issuer", scene.phone("bob", iss="https://other.example")),
    ]:
        equal(what, scene.ask("GET", "/devices/iphone", headers=headers)[0], 401)
    equal("another scope", scene.ask("GET", "/devices/iphone", headers=scene.phone("bob", scope="openid"))[0], 403)


def phones_subscribe(scene):
    bob = scene.phone("bob")
    equal("one", scene.ask("POST", "/subscriptions", {"deviceId": "iphone", "tagName": "news"}, bob),
          (201, {"deviceId": "iphone", "tagName": "news"}))
    status, answer = scene.ask("POST", "/subscriptions", {"deviceId": "iphone", "tagNames": ["news", "sport", "none"]}, bob)
    equal("several", (status, answer["subscribed"], answer["subscriptionExists"], answer["tagsNotFound"]["tags"]),
          (200, ["sport"], ["news"], ["none"]))
    status, found = scene.ask("GET", "/subscriptions?deviceId=iphone", headers=bob)
    equal("found", sorted(each["tagName"] for each in found["subscriptions"]), ["Push.ALL", "news", "sport"])
    answer = scene.ask("POST", "/subscriptions?action=delete", {"deviceId": "iphone", "tagNames": ["sport"]}, bob)
    equal("several end", answer[0], 204)
    for what, body in [("device", {"deviceId": "x", "tagName": "news"}), ("tag", {"deviceId": "iphone", "tagName": "x"})]:
        equal(f"an unknown {what}", code(scene.ask("POST", "/subscriptions", body, bob)), (404, "FPWSE0001E"))


def messages_reach_their_targets(scene):
    everybody, both = {scene.iphone, scene.android, scene.other}, {scene.iphone, scene.android}
    for text, target, expected, tag in [
        ("to a tag", {"tagNames": ["news"]}, {scene.iphone}, "news"),
        ("to a user", {"userIds": ["bob"]}, both, None),
        ("to a consumer", {"consumerIds": ["bob"]}, both, None),
        ("to a device", {"deviceIds": ["ipad"]}, {scene.other}, None),
        ("to Google", {"platforms": ["G"]}, {scene.android}, None),
        ("to all", None, everybody, "Push.ALL"),
    ]:
        scene.send(text, {"target": target} if target else None)
        for device in expected:
            payload = scene.heard(text, device)
            if device == scene.android:
                message = payload["message"]
                equal("data only", ("notification" in message, message["data"]["alert"]), (False, text))
                payload = message["data"]
            else:
                alert = payload["aps"]["alert"]
                equal("alert", alert["body"] if isinstance(alert, dict) else alert, text)
            equal(f"tag of {text}", payload.get("tag"), tag)
    last = scene.send("the last", {"target": {"deviceIds": ["iphone", "android", "ipad"]}})
    for device in everybody:
        scene.heard("the last", device)
    equal("beside", [scene.sent("to a tag", device) for device in (scene.android, scene.other)], [[], []])
    status, found = scene.ask("GET", f"/messages/{last}")
    # Texts are not kept once they are sent.
    equal("followed", (status, found["messageId"], "message" in found), (200, last, True))
    equal("an unknown message", code(scene.ask("GET", "/messages/nothing")), (404, "FPWSE0001E"))


def messages_have_settings(scene):
    settings = {
        "apns": {"badge": 3, "sound": "bell", "iosActionKey": "OPEN", "category": "poll", "payload": {"custom": "data"}},
        "gcm": {"payload": {"custom": "data"}, "sound": "bell", "priority": "high", "collapseKey": "poll", "timeToLive": 60},
    }
    # Their own example has the target inside the settings.
    settings["target"] = {"userIds": ["bob"]}
    scene.send("with settings", {"settings": settings})
    payload = scene.heard("with settings", scene.iphone)
    aps = payload["aps"]
    equal("aps", (aps["badge"], aps["sound"], aps["category"], aps["alert"]["action-loc-key"]), (3, "bell", "poll", "OPEN"))
    equal("payload", payload["payload"], {"custom": "data"})
    message = scene.heard("with settings", scene.android)["message"]
    equal("data", (message["data"]["payload"], message["data"]["sound"]), ('{"custom":"data"}', "bell"))
    android = {name: message["android"][name] for name in ("collapse_key", "ttl", "priority")}
    equal("android", android, {"collapse_key": "poll", "ttl": "60s", "priority": "HIGH"})
    marked = {"apns": {"type": "SILENT", "payload": {"marked": "in silence"}}}
    scene.send("unheard", {"settings": marked, "target": {"deviceIds": ["iphone"]}})
    equal("silent", scene.heard("in silence", scene.iphone)["aps"], {"content-available": 1})
    scene.send("and mixed", {"settings": {"apns": {"type": "MIXED"}}, "target": {"deviceIds": ["iphone"]}})
    equal("mixed", scene.heard("and mixed", scene.iphone)["aps"]["content-available"], 1)


def messages_in_bulk(scene):
    texts = [f"bulk {number}" for number in range(3)]
    body = [{"message": {"alert": text}, "target": {"deviceIds": ["iphone"]}} for text in texts]
    status, made = scene.ask("POST", "/messages/bulk", body)
    equal("bulk", (status, [each["message"]["alert"] for each in made]), (202, texts))
    for text in texts:
        scene.heard(text, scene.iphone)
    for what, body in [
        ("no message", {}),
        ("SMS", {"message": {"alert": "x"}, "notificationType": 2}),
        ("two targets", {"message": {"alert": "x"}, "target": {"tagNames": ["news"], "userIds": ["bob"]}}),
        ("a wrong type", {"message": {"alert": 7}}),
    ]:
        equal(what, scene.ask("POST", "/messages", body)[0], 400)
    equal("by a phone", scene.ask("POST", "/messages", {"message": {"alert": "x"}}, scene.phone("bob"))[0], 403)


def whoever_left_everybody_is_left_alone(scene):
    bob = scene.phone("bob")
    equal("out", scene.ask("DELETE", "/subscriptions?deviceId=iphone&tagName=push.all", headers=bob)[0], 204)
    scene.send("to those who stayed")
    scene.heard("to those who stayed", scene.android)
    equal("in", scene.ask("POST", "/subscriptions", {"deviceId": "iphone", "tagName": "Push.ALL"}, bob)[0], 201)
    scene.send("to all again")
    scene.heard("to all again", scene.iphone)
    equal("meanwhile", scene.sent("to those who stayed", scene.iphone), [])


def phones_leave(scene):
    bob = scene.phone("bob")
    equal("another's", scene.ask("DELETE", "/devices/iphone", headers=scene.phone("carol"))[0] in (403, 404), True)
    equal("its own", scene.ask("DELETE", "/devices/iphone", headers=bob)[0], 204)
    equal("again", code(scene.ask("DELETE", "/devices/iphone", headers=bob)), (404, "FPWSE0001E"))
    equal("a tag", scene.ask("DELETE", "/tags/news")[0], 204)
    equal("a message", scene.ask("DELETE", "/messages/x")[0], 405)


ACTS = [
    back_ends_get_a_token,
    tags_are_declared,
    phones_register,
    phones_subscribe,
    messages_reach_their_targets,
    messages_have_settings,
    messages_in_bulk,
    whoever_left_everybody_is_left_alone,
    phones_leave,
]
