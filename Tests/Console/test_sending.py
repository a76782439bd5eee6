"""The page to send from: what is seen before, how many it goes to, and what becomes of it."""

from playwright.sync_api import expect

from test_looks import faults_of


def people(stage):
    network = stage.network()
    network.load(
        {"user": {"id": "bob", "displayName": "Bob"}}, {"user": {"id": "carol"}}, {"user": {"id": "dan"}}, {"channel": {"id": "general", "displayName": "General"}},
        *({"member": {"channelId": "general", "userId": each}} for each in ("bob", "carol")),
        *({"device": {"id": f"{each}-log", "userId": each, "provider": "log"}} for each in ("bob", "carol")),
        {"subscription": {"tag": "beta", "userId": "dan"}}, {"subscription": {"tag": "beta", "deviceId": "bob-log"}},
    )
    return network


def lose(route):
    """Loses the answer to what is done."""
    route.fetch()
    route.fulfill(status=503)


def send(page):
    page.get_by_role("button", name="Send…").click()
    page.get_by_role("dialog").get_by_role("button", name="Send", exact=True).click()


def test_a_notification_is_seen_counted_sent_and_followed(stage):
    network = people(stage)
    network.put("users", "carol", "notifications", body={"enabled": False})
    page = stage.open(f"{network.id}/send", session=network)
    page.get_by_label("To", exact=True).select_option("channelId")
    page.get_by_label("Channel").fill("general")
    expect(page.locator(".audience")).to_have_text("It goes to 2 users.")
    page.get_by_label("Title").fill("Build\n81 <b>failed</b>")
    page.get_by_label("Text").fill("main: 3 tests")
    expect(page.locator(".device-frame .note-body")).to_have_text(["main: 3 tests"] * 3)
    expect(page.locator(".device-frame.iphone .note-title")).to_contain_text("<b>failed</b>")
    expect(page.get_by_text("bob, for one, would be notified.")).to_be_visible()

    page.get_by_role("button", name="Send…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Send it to 2 users?")
    dialog.get_by_role("button", name="Cancel").click()
    assert network.get("events")["items"] == []
    page.get_by_role("button", name="Send…").click()
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("[data-step=done][data-state=done]")).to_be_visible()
    expect(page.locator("[data-step=recipients]")).to_contain_text("1 notified, 1 suppressed by their own switches")
    [event] = network.get("events")["items"]
    assert event["type"] == "notification.direct" and event["recipients"]["notified"] == 1


def test_it_says_to_how_many_it_goes_whoever_is_chosen(stage):
    stage.expects("400", "404")
    network = people(stage)
    page = stage.open(f"{network.id}/send", session=network, width=360, height=740)
    audience = page.locator(".audience")
    for kind, label, text, words in [
        ("userIds", "Users", "bob, nobody", "2 users"), ("tags", "Tags", "beta, none", "1 user and 1 device"),
        ("deviceIds", "Devices", "bob-log", "1 device"), ("channelId", "Channel", "none", "nobody"),
    ]:
        page.get_by_label("To", exact=True).select_option(kind)
        expect(audience).to_have_text("It goes to nobody yet.")
        page.get_by_label(label).fill(text)
        expect(audience).to_have_text(f"It goes to {words}.")
    page.get_by_label("To", exact=True).select_option("everyone")
    expect(audience).to_have_text("It goes to 3 users, and devices that are nobody’s.")
    assert not faults_of(page)
    # Without a text there is nothing to send; the service says so.
    page.get_by_role("button", name="Send…").click()
    page.get_by_role("dialog").get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_role("alert").or_(page.locator("[aria-invalid=true]")).first).to_be_visible()
    assert network.get("events")["items"] == []


def test_a_name_is_taken_for_the_user_it_belongs_to(stage):
    network = people(stage)
    page = stage.open(f"{network.id}/send", session=network)
    page.get_by_label("Users").fill("Bob")
    expect(page.locator("datalist option[value=bob]")).to_have_count(1)
    page.get_by_label("Text").fill("Hello")
    expect(page.get_by_text("bob, for one, would be notified.")).to_be_visible()


def test_an_answer_that_is_lost_sends_it_once(stage):
    stage.expects("503")
    network = people(stage)
    page = stage.open(f"{network.id}/send", session=network)
    page.get_by_label("Users").fill("bob")
    page.get_by_label("Text").fill("Hello")
    page.route("**/v1/networks/*/notifications", lose, times=1)
    send(page)
    expect(page.get_by_role("alert")).to_be_visible()
    send(page)
    expect(page.locator("[data-step=done][data-state=done]")).to_be_visible()
    assert len(network.get("events")["items"]) == 1


def test_what_is_edited_after_a_lost_answer_is_sent_and_is_no_duplicate(stage):
    stage.expects("503")
    network = people(stage)
    page = stage.open(f"{network.id}/send", session=network)
    page.get_by_label("Users").fill("bob")
    page.get_by_label("Text").fill("Hello")
    page.route("**/v1/networks/*/notifications", lose, times=1)
    send(page)
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Text").fill("Hello, Bob")
    send(page)
    expect(page.locator("[data-step=done][data-state=done]")).to_be_visible()
    assert len(network.get("events")["items"]) == 2
