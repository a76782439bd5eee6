"""The model: a network of its own for a round, with everything that is known of who is to get what."""

import dataclasses
import json
import random
import uuid

from fleet import TOKEN
from timeline import Timeline

APP = "com.example.chat"
# What push services do to a phone's first notification: all of it is tried again within seconds, and none of it ends a
# connection on which others wait for their answers.
APNS_MOODS = ["", "", "", "de1a00120", "0ce1fa1100002", "0ce1fa1100004", "0ce1fa1100005", "0ce1fa1100008"]
FCM_MOODS = ["", "", "", "after-120ms-", "once-reset-", "once-goaway-", "once-refused-", "once-cut-"]


@dataclasses.dataclass
class Device:
    id: str
    user: str
    body: dict
    address: str
    registered: Timeline = dataclasses.field(default_factory=Timeline)


@dataclasses.dataclass
class User:
    id: str
    switch: Timeline = dataclasses.field(default_factory=Timeline)
    channels: dict = dataclasses.field(default_factory=dict)
    """By the channel that they have switched off or on."""
    memberships: dict = dataclasses.field(default_factory=dict)
    subscriptions: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Post:
    """Something that was sent in, once or again until it was taken."""

    kind: str
    target: object
    sender: str | None
    posted_at: float
    key: str | None = None
    """By which copies name it, once it was taken."""


class Community:
    """One network. Ids begin with its name, so that whatever arrives says whose it is."""

    def __init__(self, world, seed):
        self.world, self.seed = world, seed
        self.rng = random.Random(f"community {seed}")
        self.name = f"n{seed}-{uuid.uuid4().hex[:6]}"
        self.switch = Timeline()
        self.users, self.devices, self.posts = {}, [], []
        self.channels = ["general", "side"]
        self.made_at = None
        self.endpoint = False
        self.number = 0

    @property
    def path(self):
        return f"/v1/networks/{self.name}"

    def next_id(self, kind):
        self.number += 1
        return f"{self.name}.{kind}{self.number}"

    # What there is

    def new_user(self):
        user = User(self.next_id("u"))
        self.users[user.id] = user
        return user

    def new_device(self, user, provider, identity=None):
        """A device that is not registered yet."""
        identity = identity or self.next_id("d")
        body, address = getattr(self, f"new_{provider}")(identity)
        device = Device(identity, user, {"provider": provider} | body, address)
        self.devices.append(device)
        self.world.ledger.networks[address] = self.name
        return device

    def new_apns(self, _):
        mood = self.rng.choice(APNS_MOODS)
        token = mood + "ab"[len(mood) % 2 :] + uuid.uuid4().hex * 2
        return {"appId": APP, "environment": "production", "token": token}, token

    def new_fcm(self, _):
        token = self.rng.choice(FCM_MOODS) + uuid.uuid4().hex
        return {"appId": APP, "token": token}, token

    def new_webpush(self, _):
        subscription = self.world.push.subscription
        return {"subscription": subscription}, subscription["endpoint"]

    def new_webhook(self, identity):
        return {"url": self.world.receiver.url("device", self.name)}, f"webhook:{identity}"

    def new_log(self, identity):
        return {}, f"log:{identity}"

    # Making it

    async def make(self):
        """Makes the network with all that a round begins with, before anything is hurt."""
        made = await self.call("POST", "/v1/networks", {"id": self.name, "displayName": self.name}, TOKEN)
        self.key = made["apiKey"]
        await self.call("PATCH", self.path, {"webPushHosts": ["default", "127.0.0.1"]})
        for path, body in self.world.push.credentials.items():
            await self.call("PUT", f"{self.path}/{path}", body)
        await self.call("POST", f"{self.path}/providers/webhook/secret")
        await self.make_faces()
        await self.make_people()
        body = {"url": self.world.receiver.url("endpoint", self.name), "mode": "observe", "events": ["*"]}
        await self.call("POST", f"{self.path}/endpoints", body)
        self.made_at = self.world.now()

    async def make_faces(self):
        self.pushkeys = [self.new_apns(None)[1] for _ in range(3)]
        self.phone = "ab" + uuid.uuid4().hex * 2
        for address in [*self.pushkeys, self.phone]:
            self.world.ledger.networks[address] = self.name
        self.matrix, self.imfpush = f"matrix.{self.name}", f"imfpush.{self.name}"
        self.secret = f"a-secret-that-the-back-end-has-had-for-long-{self.name}"
        faces = f"{self.path}/faces"
        await self.call("PUT", f"{faces}/matrix/{self.matrix}", {"provider": "apns", "appId": APP}, TOKEN)
        await self.call("PUT", f"{faces}/imfpush/{self.imfpush}", {"A": {"appId": APP}}, TOKEN)
        key = {"name": f"back-end-{self.name}", "secret": self.secret, "rights": ["appSecret"]}
        await self.call("POST", f"{faces}/imfpush/keys", key, TOKEN)
        phone = {"deviceId": f"{self.name}.phone", "platform": "A", "token": self.phone}
        path = f"/imfpush/v1/apps/{self.imfpush}/devices"
        await self.call("POST", path, phone, False, {"appSecret": self.secret}, (401, 404))

    async def make_people(self):
        providers = ["apns", "fcm", "webhook", "log"]
        for number in range(10):
            user = self.new_user()
            for channel in self.channels if number % 2 else self.channels[:1]:
                user.memberships[channel] = Timeline()
            if number % 3 == 0:
                user.subscriptions["news"] = Timeline()
            self.new_device(user.id, providers[number % 4])
            if number % 3 == 1:
                self.new_device(user.id, self.rng.choice(providers[:2]))
        self.new_device(next(iter(self.users)), "webpush")
        channels = [{"channel": {"id": channel, "displayName": channel.capitalize()}} for channel in self.channels]
        lines = [line for user in self.users.values() for line in self.lines(user)]
        await self.call("POST", f"{self.path}/import", self.written(channels + lines))

    def lines(self, user):
        """What an import says of a user."""
        yield {"user": {"id": user.id}}
        for channel in user.memberships:
            yield {"member": {"channelId": channel, "userId": user.id}}
        for device in self.devices:
            if device.user == user.id:
                yield {"device": {"id": device.id, "userId": user.id} | device.body}
        for tag in user.subscriptions:
            yield {"subscription": {"tag": tag, "userId": user.id}}

    @staticmethod
    def written(lines):
        return "\n".join(map(json.dumps, lines)).encode()

    async def call(self, method, path, body=None, token=None, headers={}, repeated=()):
        """A request that has to be answered well in the end; answers what the answer says."""
        headers = headers | ({"idempotency-key": uuid.uuid4().hex} if method == "POST" else {})
        if token is None:
            token = getattr(self, "key", TOKEN)
        done = await self.world.insist(method, path, body, token, headers=headers, repeated=repeated)
        if done is None:
            raise RuntimeError(f"{method} {path} was never answered well")
        return done.answer.json

    # Who is to get it

    def reach(self, post):
        """Addresses that a post may be sent to, each with the switches that all have to be on."""
        if post.kind in ("matrix", "alert"):
            yield post.target, [self.switch]
            return
        for device in self.devices:
            user = self.users[device.user]
            switches = [self.switch, user.switch, device.registered]
            if post.kind == "message":
                if device.user == post.sender or post.target not in user.memberships:
                    continue
                switches.append(user.memberships[post.target])
                if post.target in user.channels:
                    switches.append(user.channels[post.target])
            elif post.kind == "tag":
                if post.target not in user.subscriptions:
                    continue
                switches.append(user.subscriptions[post.target])
            elif post.kind == "users" and device.user not in post.target:
                continue
            elif post.kind == "devices" and device.id not in post.target:
                continue
            yield device.address, switches
