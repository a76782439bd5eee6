"""The pages of webhook dialects: a document written without showing secrets again, posts, and what a body would become."""

import json

from playwright.sync_api import expect

from test_looks import faults_of

AT = "2026-11-20T10:00:00.000Z"
SAID = {
    "type": "message.new", "created_at": "2026-11-20T10:00:00Z", "cid": "messaging:general", "channel_type": "messaging",
    "channel_id": "general", "message": {"id": "m1", "text": "Hello", "type": "regular", "user": {"id": "bob", "name": "Bob"}},
    "user": {"id": "bob", "name": "Bob"},
}


class Dialects:
    """What the service keeps of a network's dialects, as a browser's context asks for it: the pages are tried apart from it."""

    def __init__(self, context, posts=()):
        self.documents, self.posts = {}, list(posts)
        for path in ["dialects", "dialects/*", "dialects/*/*"]:
            context.route(f"**/v1/networks/*/{path}", self.answer)

    def answer(self, route):
        method, segments = route.request.method, route.request.url.split("/")
        if segments[-1] == "dialects":
            names = ["amity", "cloudevents", "cometchat", "matrix", "mattermost", "rocketchat", "sendbird", "stream", "talkjs"]
            return route.fulfill(json={"items": [{"dialect": name, "document": self.documents.get(name)} for name in names]})
        name, act = (segments[-2], segments[-1]) if segments[-3] == "dialects" else (segments[-1], None)
        if act == "recent":
            return route.fulfill(json={"items": self.posts})
        if act == "preview":
            return self.preview(route)
        if method == "PUT":
            return self.put(route, name)
        document = self.documents.pop(name, None) if method == "DELETE" else self.documents.get(name)
        if document is None:
            return self.refuse(route, 404, "Not found")
        return route.fulfill(status=204) if method == "DELETE" else route.fulfill(json=document)

    def put(self, route, name):
        document = route.request.post_data_json
        if "publicUrl" in document:
            return self.refuse(route, 400, "Invalid", "/publicUrl")
        known = self.documents.get(name, {"secrets": [], "basic": None})
        secrets = [{"setAt": AT} for _ in document["secrets"]] if "secrets" in document else known["secrets"]
        self.documents[name] = known | document | {"dialect": name, "secrets": secrets, "updatedAt": AT}
        if not secrets and not self.documents[name]["basic"]:
            self.documents[name]["warning"] = "there is no secret: all posts without an API key are refused"
        else:
            self.documents[name].pop("warning", None)
        return route.fulfill(json=self.documents[name])

    def preview(self, route):
        try:
            text = json.loads(route.request.post_data)["message"]["text"]
        except ValueError:
            return self.refuse(route, 400, "Invalid")
        return route.fulfill(json={"status": "accepted", "events": [{"type": "message.sent", "data": {"message": {"text": text}}}]})

    def refuse(self, route, status, title, pointer=None):
        errors = [{"pointer": pointer, "detail": "is wrong"}] if pointer else []
        problem = {"type": "/problems/invalid", "title": title, "status": status, "errors": errors}
        return route.fulfill(status=status, json=problem, headers={"x-request-id": "r1"}, content_type="application/problem+json")


def test_webhooks_are_taken_changed_looked_at_and_forgotten(stage):
    network = stage.network()
    context = stage.context(network)
    dialects = Dialects(context)
    page = stage.open(f"{network.id}/dialects", context=context)
    expect(page.locator("tbody tr")).to_have_count(9)
    page.get_by_role("link", name="Stream").click()
    expect(page.get_by_text("Its webhooks are not taken")).to_be_visible()
    expect(page.get_by_text(f"{stage.origin}/v1/networks/{network.id}/events/stream")).to_be_visible()
    expect(page.get_by_text("Nothing was posted yet")).to_be_visible()

    page.get_by_role("button", name="Take its webhooks").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("API secret").fill("stream-secret-1\nstream-secret-2\n")
    dialog.get_by_label("Channels are called by").select_option("id")
    dialog.get_by_label("Senders whose messages are ignored").fill("bot-1, bot-2")
    dialog.get_by_role("button", name="Save").click()
    how = page.get_by_role("region", name="How it is taken")
    expect(how).to_contain_text("Enabled")
    expect(how).to_contain_text("2: set")
    assert "stream-secret-1" not in page.content()
    page.get_by_role("button", name="Change").click()
    expect(dialog.get_by_label("Keep the 2 secrets")).to_be_checked()
    dialog.get_by_label("Take its webhooks").uncheck()
    dialog.get_by_role("button", name="Save").click()
    expect(how).to_contain_text("Disabled")
    document = dialects.documents["stream"]
    assert (document["enabled"], document["channelId"], document["ignoreSenders"]) == (False, "id", ["bot-1", "bot-2"])
    assert len(document["secrets"]) == 2

    page.get_by_label("Body").fill(json.dumps(SAID))
    page.get_by_role("button", name="Read it").click()
    outcome = page.locator(".preview-outcome")
    expect(outcome).to_contain_text("Message sent")
    expect(outcome.locator("pre")).to_contain_text('"text": "Hello"')
    assert network.get("events")["items"] == []

    page.get_by_role("button", name="Remove").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Its webhooks are not taken")).to_be_visible()
    page.get_by_role("link", name="Other chat back ends").first.click()
    expect(page.locator("tr", has_text="GetStream’s")).to_contain_text("Not in use")


def test_webhooks_without_a_secret_are_seen_to_be_refused(stage):
    stage.expects("404")
    network = stage.network()
    page = stage.open(f"{network.id}/dialects/sendbird", session=network)
    page.get_by_role("button", name="Take its webhooks").click()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator(".notice.bad")).to_contain_text("There is no secret: all posts without an API key are refused.")
    assert not faults_of(page)
    page.get_by_role("link", name="Other chat back ends").first.click()
    row = page.locator("tr", has_text="Sendbird")
    expect(row.locator(".badge.bad")).to_have_text("Refuses posts")
    row.get_by_role("link").click()
    page.get_by_role("button", name="Change").click()
    page.get_by_role("dialog").get_by_label("Master API token").fill("0123456789abcdef")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator(".notice.bad")).to_have_count(0)


def test_what_a_document_or_a_body_lacks_is_said_and_recent_posts_lead_to_their_events(stage):
    stage.expects("400")
    network = stage.network()
    event = network.say("Hello")
    posts = [
        {"at": "2026-11-20T10:00:01.000Z", "verdict": "accepted", "reason": None, "eventId": event},
        {"at": "2026-11-20T10:00:01.000Z", "verdict": "refused", "reason": "X-Signature does not match", "eventId": None},
        {"at": "2026-11-20T10:00:00.000Z", "verdict": "ignored", "reason": "user.banned", "eventId": None},
    ]
    context = stage.context(network)
    Dialects(context, posts)
    page = stage.open(f"{network.id}/dialects/cloudevents", context=context)
    rows = page.get_by_role("region", name="Recent posts").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("Refused")
    expect(rows.nth(1)).to_contain_text("X-Signature does not match")

    page.get_by_role("button", name="Take its webhooks").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("own address").fill("no address")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator("[aria-invalid=true]")).to_have_count(1)
    expect(dialog.get_by_label("own address")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("This is needed.")).to_be_visible()
    page.get_by_label("Body").fill("{")
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_role("alert")).to_contain_text("Request")
    rows.first.get_by_role("link", name="Event").click()
    expect(page.locator("h1")).to_contain_text("Message sent")
