"""Requests as Ably's phones and browsers send them: recorded from ably-js, not what its documentation says."""

import base64
import json
import os

import httpx

from playing import equal

HEADERS = {
    "X-Ably-Version": "2", "Ably-Agent": "ably-js/2.6.5 browser", "Content-Type": "application/json",
    "Accept": "application/json",
}


def encoded(text):
    return base64.b64encode(text.encode()).decode()


class Phone:
    """A browser that activates push with a key that may subscribe its own device, and nothing else."""

    def __init__(self, scene):
        self.scene = scene
        self.id, self.secret = "browser-" + os.urandom(8).hex(), os.urandom(16).hex()
        self.web = scene.simulator.device("browser")["subscription"]
        self.client = httpx.AsyncClient(base_url=scene.address)

    async def ask(self, method, path, body=None, headers=None):
        answer = await self.client.request(
            method, path, content=None if body is None else json.dumps(body), headers=HEADERS | (headers or {})
        )
        told = "json" in answer.headers.get("content-type", "")
        return answer.status_code, answer.json() if told else None

    def recipient(self):
        """The endpoint's URL in base64, and keys in plain base64."""
        keys = {name: encoded_again(value) for name, value in self.web["keys"].items()}
        return {
            "transportType": "web", "targetUrl": encoded(self.web["endpoint"]), "encryptionKey": keys,
            "publicVapidKey": "BPublic",
        }

    async def walk(self):
        async with self.client:
            basic = {"Authorization": "Basic " + encoded(self.scene.phone_key)}
            app = {"Authorization": "Bearer " + encoded(await self.token({"clientId": "dora"}))}
            await self.register(app)
            await self.use_identity(app)
            await self.others(basic, app)
            await self.deactivate()

    async def token(self, parameters):
        holder = self.scene.client(key=self.scene.phone_key)
        return (await holder.auth.request_token({"client_id": parameters["clientId"]})).token

    async def register(self, headers):
        answer = await self.client.get("/push/publicVapidKey", headers=headers)
        equal("the public key", (answer.status_code, answer.headers["content-type"].split(";")[0]), (200, "text/plain"))
        body = {
            "id": self.id, "clientId": "dora", "deviceSecret": self.secret, "platform": "browser", "formFactor": "desktop",
            "metadata": {}, "push": {"recipient": self.recipient()},
        }
        status, made = await self.ask("POST", "/push/deviceRegistrations?fullWait=true", body, headers)
        equal("registration", (status, made["push"]["state"], made["clientId"]), (201, "ACTIVE", "dora"))
        equal("the recipient", made["push"]["recipient"], body["push"]["recipient"])
        assert "deviceSecret" not in made, made
        identity = made["deviceIdentityToken"]
        assert {"token", "keyName", "issued", "expires", "capability", "clientId"} >= set(identity), identity
        self.identity = {"Authorization": "Bearer " + encoded(identity["token"])}
        self.device_token = identity["token"]
        equal("registered again", (await self.ask("POST", "/push/deviceRegistrations", body, headers))[0], 200)
        stolen = body | {"deviceSecret": "another"}
        status, answer = await self.ask("POST", "/push/deviceRegistrations", stolen, headers)
        equal("another's secret", (status, answer["error"]["code"]), (401, 40101))

    async def use_identity(self, app):
        """With the device's own token alone, as the browser does."""
        status, device = await self.ask("GET", f"/push/deviceRegistrations/{self.id}", headers=self.identity)
        equal("its own device", (status, device["id"]), (200, self.id))
        patch = {"id": self.id, "push": {"recipient": self.recipient()}}
        for path in ("/push/deviceRegistrations", f"/push/deviceRegistrations/{self.id}"):
            status, device = await self.ask("PATCH", path, patch, self.identity)
            equal("a new recipient", (status, device["push"]["state"]), (200, "ACTIVE"))
        subscription = {"channel": "chat:general", "deviceId": self.id}
        status, answer = await self.ask("POST", "/push/channelSubscriptions", subscription, self.identity)
        equal("a subscription", (status, answer), (201, subscription))
        # The same by the app's token and the device's header, raw and in base64.
        for proof in (self.device_token, encoded(self.device_token)):
            headers = app | {"X-Ably-DeviceToken": proof}
            status, answer = await self.ask("POST", "/push/channelSubscriptions", subscription, headers)
            equal("again", (status, answer), (200, subscription))
            status, found = await self.ask("GET", f"/push/channelSubscriptions?deviceId={self.id}", headers=headers)
            equal("found", (status, found), (200, [subscription]))
        text = self.scene.text("to the browser")
        publish = {"recipient": {"clientId": "dora"}, "notification": {"title": "Web", "body": text}, "data": {"k": "v"}}
        bearer = {"Authorization": "Bearer " + encoded(self.scene.admin.auth.token_details.token)}
        equal("published", (await self.ask("POST", "/push/publish", publish, bearer))[0], 204)
        payload = self.scene.payload(self.web["endpoint"], text)
        notification = payload["notification"]
        equal("shown", (notification["title"], notification["body"]), ("Web", text))
        equal("data in both places", (notification["data"], payload["data"]), ({"k": "v"}, {"k": "v"}))

    async def others(self, basic, app):
        """What a phone's key does not allow."""
        stranger = {"channel": "chat:g", "clientId": "bob"}
        for what, method, path, body, headers in [
            ("all devices", "GET", "/push/deviceRegistrations", None, app),
            ("another's device", "DELETE", "/push/deviceRegistrations/iphone-1", None, app),
            ("its own device without a proof", "GET", f"/push/deviceRegistrations/{self.id}", None, app),
            ("publishing", "POST", "/push/publish", {"recipient": {"clientId": "bob"}, "data": {"a": "b"}}, app),
            ("a client that no token proves", "POST", "/push/channelSubscriptions", stranger, basic),
            ("another channel", "POST", "/push/channelSubscriptions", {"channel": "news:g", "clientId": "dora"}, app),
        ]:
            status, answer = await self.ask(method, path, body, headers)
            equal(what, (status, answer["error"]["code"]), (401, 40160))
        status, answer = await self.ask("POST", "/push/channelSubscriptions", stranger, app)
        assert (status, answer["error"]["code"]) in ((401, 40160), (400, 40012)), answer
        token = app["Authorization"].removeprefix("Bearer ")
        plain = base64.b64decode(token).decode()
        query = await self.ask("GET", f"/push/channelSubscriptions?clientId=dora&access_token={plain}")
        equal("by the token in the query", query, (200, []))

    async def deactivate(self):
        status, _ = await self.ask("DELETE", f"/push/deviceRegistrations?deviceId={self.id}", headers=self.identity)
        equal("deactivation", status, 204)
        status, answer = await self.ask("GET", f"/push/deviceRegistrations/{self.id}", headers=self.identity)
        assert status in (401, 404), f"its token ends with it: {status} {answer}"


def encoded_again(text):
    """Base64url without padding as plain base64."""
    return base64.b64encode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))).decode()
