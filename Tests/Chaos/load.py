"""What backends, apps and admins do during a round."""

import asyncio
import random
import uuid

from community import Post
from timeline import Timeline


class Load:
    """Everything that is asked of one network for some seconds; each kind of caller goes at its own pace."""

    def __init__(self, world, community, seconds):
        self.world, self.community = world, community
        self.rng = random.Random(f"load {community.seed}")
        self.until = world.now() + seconds
        self.seconds = seconds
        people = list(community.users.values())
        self.rng.shuffle(people)
        self.flippers, self.changers = people[:2], people[2:5]

    async def run(self):
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(self.post_messages())
            group.create_task(self.post_notifications())
            group.create_task(self.push_matrix())
            group.create_task(self.send_alerts())
            group.create_task(self.import_people())
            group.create_task(self.join())
            for user in self.flippers:
                group.create_task(self.flip(user))
            for user in self.changers:
                group.create_task(self.change_devices(user))
            if self.rng.random() < 0.15:
                group.create_task(self.flip_network())

    async def pause(self, longest):
        """Waits for a moment; `False` when the time is over."""
        await asyncio.sleep(self.rng.uniform(0.2, 1) * longest)
        return self.world.now() < self.until

    # What is to be delivered

    def new_post(self, kind, target, sender=None):
        post = Post(kind, target, sender, self.world.now())
        self.community.posts.append(post)
        return post

    async def post_messages(self):
        # Whoever says something is a member from then on, so it is said by members.
        members = {
            channel: [user.id for user in self.community.users.values() if channel in user.memberships]
            for channel in self.community.channels
        }
        while await self.pause(0.25):
            channel = self.rng.choice(self.community.channels)
            sender = self.rng.choice(members[channel])
            events, posts = [], []
            for _ in range(self.rng.choice([1, 1, 2, 5])):
                data = {
                    "channel": {"id": channel},
                    "user": {"id": sender},
                    "message": {"type": "text", "text": "Hello"},
                }
                events.append({"id": uuid.uuid4().hex, "type": "message.sent", "data": data})
                posts.append(self.new_post("message", channel, sender))
            await self.deliver("events", events, posts)

    async def post_notifications(self):
        community = self.community
        while await self.pause(0.3):
            kind = self.rng.choice(["users", "tag", "devices"])
            if kind == "users":
                target = self.rng.sample(list(community.users), 3)
                to = {"userIds": target}
            elif kind == "tag":
                target, to = "news", {"tags": ["news"]}
            else:
                target = [device.id for device in self.rng.sample(community.devices, 2)]
                to = {"deviceIds": target}
            body = {"id": uuid.uuid4().hex, "to": to, "title": "News", "body": "Something happened"}
            await self.deliver("notifications", [body], [self.new_post(kind, target)])

    async def deliver(self, path, bodies, posts):
        body = bodies if len(bodies) > 1 else bodies[0]
        done = await self.insist("POST", f"{self.community.path}/{path}", body)
        if not done:
            return
        answer = done.answer.json
        results = answer["results"] if len(bodies) > 1 else [answer]
        for post, result in zip(posts, results, strict=True):
            if result["status"] not in ("accepted", "duplicate"):
                self.world.find("answer", f"{path}: {result}")
            post.key = result["id"]

    async def push_matrix(self):
        """A homeserver, which repeats what it is not answered."""
        community = self.community
        while await self.pause(0.3):
            event, pushkey = uuid.uuid4().hex, self.rng.choice(community.pushkeys)
            devices = [{"app_id": community.matrix, "pushkey": pushkey}]
            content = {"msgtype": "m.text", "body": "Hello"}
            notification = {"event_id": event, "room_id": "!r:x", "type": "m.room.message", "sender": "@a:x"}
            body = {"notification": notification | {"content": content, "devices": devices}}
            post = self.new_post("matrix", pushkey)
            if await self.insist("POST", "/_matrix/push/v1/notify", body, False):
                post.key = f"matrix:{event}"

    async def send_alerts(self):
        """A back end that repeats nothing: what was answered with an error may have arrived, and is not asked about."""
        community, path = self.community, f"/imfpush/v1/apps/{self.community.imfpush}/messages"
        while await self.pause(0.4):
            alert = uuid.uuid4().hex
            body = {"message": {"alert": alert}, "target": {"deviceIds": [f"{community.name}.phone"]}}
            post = self.new_post("alert", community.phone)
            if await self.insist("POST", path, body, False, {"appSecret": community.secret}, once=True):
                post.key = f"alert:{alert}"

    # What changes who gets it

    async def change(self, timelines, is_on, method, path, body=None):
        """Asks for something that is known once it was answered; `False` when nobody can tell when it holds."""
        for timeline in timelines:
            timeline.begin(self.world.now())
        done = await self.insist(method, f"{self.community.path}/{path}", body)
        if not done:
            return False
        for timeline in timelines:
            timeline.end(is_on, self.world.now())
        # A request whose answer was lost may still be on its way, and come after the next.
        return not done.was_lost

    async def flip(self, user):
        """Switches everything or a channel off, and mostly on again."""
        channel = self.rng.choice([None, "general"])
        if channel:
            timeline = user.channels.setdefault(channel, Timeline())
            path = f"users/{user.id}/channels/{channel}/notifications"
        else:
            timeline, path = user.switch, f"users/{user.id}/notifications"
        await asyncio.sleep(self.rng.uniform(0, self.seconds / 2))
        if not await self.change([timeline], False, "PUT", path, {"enabled": False}) or self.rng.random() < 0.3:
            return
        await asyncio.sleep(self.rng.uniform(0.2, self.seconds / 3))
        await self.change([timeline], True, "PUT", path, {"enabled": True})

    async def flip_network(self):
        """The admin switches all off for a moment near the end."""
        await asyncio.sleep(self.seconds * 0.7)
        if await self.change([self.community.switch], False, "PUT", "notifications", {"enabled": False}):
            await asyncio.sleep(self.rng.uniform(0.1, 0.4))
            await self.change([self.community.switch], True, "PUT", "notifications", {"enabled": True})

    async def change_devices(self, user):
        """A phone that gets another token, goes, or changes hands."""
        community = self.community
        await asyncio.sleep(self.rng.uniform(0, self.seconds * 0.6))
        # One that is on its way from somebody else is theirs to change: which of two requests came last nobody could tell.
        mine = (device for device in community.devices if device.user == user.id and "token" in device.body)
        device = next((device for device in mine if device.registered.is_settled), None)
        if not device:
            return
        action = self.rng.choice(["token", "delete", "move"])
        path = f"devices/{device.id}"
        if action == "delete":
            await self.change([device.registered], False, "DELETE", path)
            return
        other = user.id
        if action == "move":
            other = self.rng.choice([name for name in community.users if name != user.id])
        renewed = community.new_device(other, device.body["provider"], device.id)
        renewed.registered = Timeline(False)
        if action == "move":
            renewed.body, renewed.address = device.body, device.address
        renewed.registered.begin(self.world.now())
        await self.change([device.registered], False, "PUT", path, {"userId": other} | renewed.body)
        if device.registered.is_settled:
            renewed.registered.end(True, self.world.now())

    async def import_people(self):
        """An import brings people with everything."""
        community = self.community
        while await self.pause(1.5):
            user = community.new_user()
            timeline = Timeline(False)
            user.memberships["general"] = user.subscriptions["news"] = timeline
            device = community.new_device(user.id, self.rng.choice(["apns", "fcm"]))
            device.registered = timeline
            await self.change([timeline], True, "POST", "import", community.written(community.lines(user)))

    async def join(self):
        """Somebody becomes a member of the other channel, by their admin; or subscribes."""
        outside = [user for user in self.community.users.values() if "side" not in user.memberships]
        self.rng.shuffle(outside)
        for user in outside[:3]:
            if not await self.pause(1):
                return
            timeline = Timeline(False)
            if self.rng.random() < 0.5 or "news" in user.subscriptions:
                user.memberships["side"] = timeline
                await self.change([timeline], True, "PUT", f"channels/side/members/{user.id}")
            else:
                user.subscriptions["news"] = timeline
                await self.change([timeline], True, "PUT", f"tags/news/users/{user.id}")

    async def insist(self, method, path, body=None, token=None, headers={}, once=False):
        token = self.community.key if token is None else token
        until = self.until + 60
        return await self.world.insist(method, path, body, token, headers, once=once, rng=self.rng, until=until)
