"""The pages of faces: names that are bound, keys that are shown once, and what is refused, in words."""

import base64
import json
import urllib.request

from playwright.sync_api import expect


def test_a_name_is_bound_a_key_shown_once_and_what_it_was_good_for_is_seen(stage):
    network = stage.network()
    app = f"{network.id}-app"
    page = stage.open(f"{network.id}/faces", session="operator")
    expect(page.locator("tbody tr")).to_have_count(5)
    page.get_by_role("link", name="Ably").click()
    expect(page.get_by_text("No name is bound")).to_be_visible()
    expect(page.get_by_text("Nothing was answered yet")).to_be_visible()

    page.get_by_role("button", name="Bind a name").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("App id").fill(app)
    dialog.get_by_label("iOS: app").fill("org.acme.ios")
    dialog.get_by_label("Channels with push").fill("chat, *")
    dialog.get_by_text("As JSON", exact=True).click()
    said = json.loads(dialog.get_by_label("All of it as JSON").input_value())
    assert said == {"ios": {"appId": "org.acme.ios"}, "namespaces": {"chat": {"push": True}, "*": {"push": True}}}
    dialog.get_by_role("button", name="Bind it").click()
    row = page.locator("tr", has_text=app)
    expect(row).to_contain_text("appId: org.acme.ios")
    row.get_by_role("button", name="Change").click()
    dialog.get_by_label("Channels with push").fill("chat")
    dialog.get_by_label("iOS: environment").select_option("sandbox")
    dialog.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("environment: sandbox")
    assert network.get("faces")["items"][0]["namespaces"] == {"chat": {"push": True}}

    page.get_by_role("button", name="New key").click()
    dialog.get_by_label("Name").fill(f"{app}.key1")
    dialog.get_by_role("button", name="Make the key").click()
    secret = page.locator(".secret-value")
    expect(secret).to_contain_text(f"{app}.key1:")
    key = secret.inner_text()
    page.get_by_role("button", name="I have stored it").click()
    expect(secret).to_have_count(0)
    assert key not in page.content()
    push = {"recipient": {"clientId": "bob"}, "notification": {"title": "Hello"}}
    request = urllib.request.Request(
        f"{stage.origin}/push/publish",
        data=json.dumps(push).encode(),
        headers={"authorization": f"Basic {base64.b64encode(key.encode()).decode()}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status < 300
    page.reload()
    lately = page.get_by_role("region", name="Last answered and refused").locator("tbody tr")
    expect(lately).to_have_count(1)
    lately.get_by_role("link", name="Event").click()
    expect(page.locator("main h1")).to_contain_text("Direct notification")
    page.go_back()

    page.locator("tr", has_text="push-admin").get_by_role("button", name="Revoke").click()
    dialog.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("No keys")).to_be_visible()
    page.locator("tr", has_text="org.acme.ios").get_by_role("button", name="Remove").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No name is bound")).to_be_visible()
    assert network.get("faces")["items"] == [] and network.get("faces", "ably", "keys")["items"] == []


def test_what_only_the_operator_may_and_what_others_have_is_refused_in_words(stage):
    stage.expects("400", "403", "409")
    network, other = stage.network(), stage.network()
    stage.service.call("PUT", network.path("faces", "ably", f"{network.id}-app"), {})
    stage.service.call("PUT", other.path("faces", "ably", f"{other.id}-app"), {})
    page = stage.open(f"{network.id}/faces/ably", session=network)
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Bind a name").click()
    dialog.get_by_role("button", name="Bind it").click()
    expect(dialog.get_by_text("This is needed.")).to_be_visible()
    dialog.get_by_label("App id").fill(f"{network.id}-app")
    dialog.get_by_role("button", name="Bind it").click()
    expect(dialog.get_by_text("This network has it already")).to_be_visible()
    dialog.get_by_label("App id").fill(f"{network.id}-new")
    dialog.get_by_role("button", name="Bind it").click()
    expect(dialog.locator(".notice.warn")).to_contain_text("A new name is bound by the operator")
    expect(dialog.get_by_role("alert")).to_contain_text("Request")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    page.get_by_role("button", name="Change").click()
    dialog.get_by_text("As JSON", exact=True).click()
    document = dialog.get_by_label("All of it as JSON")
    document.fill("{")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("This is no JSON")).to_be_visible()
    expect(document).to_be_focused()
    document.fill('{"unheardOf": 1}')
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("/unheardOf")
    dialog.get_by_label("Channels with push").fill("chat")
    document.fill('{"namespaces": {"chat": {"push": true}}}')
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("tr", has_text="chat: (push: true)")).to_be_visible()

    page.get_by_role("button", name="New key").click()
    dialog.get_by_label("Name").fill(f"{network.id}-app.key1")
    dialog.get_by_label("Secret that clients hold").fill("0123456789abcdef0123456789abcdef")
    dialog.get_by_role("button", name="Make the key").click()
    expect(dialog.locator(".notice.warn")).to_contain_text("is taken over by the operator")

    page = stage.open(f"{network.id}/faces/ably", session="operator")
    page.get_by_role("button", name="Bind a name").click()
    page.get_by_label("App id").fill(f"{other.id}-app")
    page.get_by_role("button", name="Bind it").click()
    expect(page.get_by_text("Another network has this name.")).to_be_visible()
    assert [item["externalId"] for item in network.get("faces")["items"]] == [f"{network.id}-app"]
