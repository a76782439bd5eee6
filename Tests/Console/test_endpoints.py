"""The pages of endpoints."""

from playwright.sync_api import expect

from stage import look, until


def test_an_endpoint_is_made_tested_edited_disabled_and_removed(stage):
    stage.expects("400")
    network = stage.network()
    page = stage.open(f"{network.id}/endpoints", session=network)
    page.get_by_role("button", name="New endpoint").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("URL").fill("javascript:alert(1)")
    dialog.get_by_label("Description").fill("Archive")
    dialog.get_by_role("button", name="Make the endpoint").click()
    expect(dialog.locator("[aria-invalid=true]")).to_have_count(1)
    dialog.get_by_label("URL").fill(stage.receiver.url)
    dialog.get_by_role("button", name="Make the endpoint").click()
    expect(page.locator(".secret-value")).to_contain_text("whsec_")
    page.get_by_role("button", name="I have stored it").click()

    expect(page.locator("h1")).to_have_text("Archive")
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_text("Answered 204")).to_be_visible()
    stage.receiver.status = 500
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_text("Answered 500")).to_be_visible()
    stage.receiver.status = 204

    page.get_by_role("button", name="Edit").click()
    dialog.get_by_label("Keep for a replay").fill("many")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator("[aria-invalid=true]")).to_have_count(1)
    dialog.get_by_label("Keep for a replay").fill("24")
    dialog.get_by_label("Events").fill("message.*, user.deleted")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("message.*, user.deleted")).to_be_visible()
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_text("Disabled", exact=True)).to_be_visible()
    page.get_by_role("button", name="Enable").click()
    expect(page.get_by_text("Enabled", exact=True)).to_be_visible()

    page.get_by_role("button", name="Rotate secret").click()
    page.get_by_role("dialog").get_by_role("button", name="Make a new secret").click()
    expect(page.locator(".secret-value")).to_contain_text("whsec_")
    page.get_by_role("button", name="I have stored it").click()
    page.get_by_role("button", name="Replay").click()
    page.get_by_role("dialog").get_by_role("button", name="Replay", exact=True).click()
    expect(page.get_by_text("0 events are told again.").first).to_be_visible()

    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("No endpoints")).to_be_visible()
    assert network.get("endpoints")["items"] == []


def test_a_late_answer_does_not_put_back_an_endpoint_that_was_changed_meanwhile(stage):
    network = stage.network()
    made = network.post("endpoints", body={"url": stage.receiver.url, "mode": "observe", "events": ["message.*"]})
    path = network.path("endpoints", (made.get("endpoint") or made)["id"])
    page = stage.open(path.removeprefix("/v1/networks/"), session=network)
    late = []
    page.route(f"**{path}", lambda route: late.append((route, route.fetch())) if route.request.method == "GET" and not late else route.continue_())
    look(page)
    until(lambda: page.evaluate("1") and late, "it is looked at")
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_text("Disabled", exact=True)).to_be_visible()
    [(route, answer)] = late
    with page.expect_response(lambda response: response.url.endswith(path) and response.request.method == "GET"):
        route.fulfill(response=answer)
    page.get_by_role("button", name="Enable").click()
    expect(page.get_by_text("Enabled", exact=True)).to_be_visible()
    assert stage.service.call("GET", path)["state"] == "enabled"
