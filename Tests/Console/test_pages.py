"""The main act of the pages that are about the network itself: overview, switches, events, people, templates, providers."""

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from playwright.sync_api import expect

from stage import look, until, visit


def community(stage):
    """Bob and Carol in a channel; Bob has a device, Carol wants nothing."""
    network = stage.network()
    network.load(
        {"user": {"id": "bob", "displayName": "Bob"}}, {"user": {"id": "carol", "displayName": "Carol"}},
        {"channel": {"id": "general", "displayName": "General"}}, {"member": {"channelId": "general", "userId": "bob"}},
        {"member": {"channelId": "general", "userId": "carol"}}, {"device": {"id": "bob-log", "userId": "bob", "provider": "log"}},
    )
    network.put("users", "carol", "notifications", body={"modules": {"chat": {"enabled": False}}})
    return network


def test_the_overview_says_what_needs_attention(stage):
    network = community(stage)
    network.put("devices", "phone", body={
        "userId": "bob", "provider": "apns", "appId": "com.example.none", "environment": "production", "token": "ab" * 32,
    })
    network.say("Hello")
    until(lambda: any(lane["circuit"] == "open" for lane in network.get("providers")["items"]), "the lane without a credential waits")
    page = stage.open(f"{network.id}/overview", session=network)
    attention = page.get_by_role("region", name="Attention")
    expect(attention).to_contain_text("com.example.none")
    page.get_by_role("radio", name="Week").check(force=True)
    expect(page).to_have_url(f"{stage.origin}/console/{network.id}/overview?span=week")
    attention.get_by_role("link", name="Providers").click()
    expect(page.locator("main h1")).to_have_text("Providers")
    expect(page.get_by_role("table", name="Lanes")).to_contain_text("no credential")


def test_the_overview_says_that_work_is_due_which_cannot_be_claimed(stage):
    network = community(stage)

    def stuck(route):
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"queue": {"oldestSeconds": 481, "failing": ["claiming due deliveries"]}})

    context = stage.context(session=network)
    context.route("**/v1/networks/*/providers", stuck)
    page = stage.open(f"{network.id}/overview", context=context)
    attention = page.get_by_role("region", name="Attention")
    expect(attention).to_contain_text("What is due is not worked on, for 8 min by now: claiming due deliveries fails")


def test_a_switch_is_saved_at_once_and_taken_back(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/switches", session=network)
    switch = page.get_by_role("switch", name="Message sent")
    switch.click()
    until(lambda: network.get("notifications")["events"]["message.sent"]["enabled"] is False, "the switch is off")
    page.get_by_role("button", name="Undo").click()
    until(lambda: network.get("notifications")["events"]["message.sent"]["enabled"] is True, "the switch is on again")
    expect(switch).to_have_attribute("aria-checked", "true")


def test_an_event_comes_in_by_itself_and_opens_to_its_devices(stage):
    network = community(stage)
    page = stage.open(f"{network.id}/events", session=network)
    event = network.say("Hello")
    row = page.locator(f"a[href$='/events/{event}']")
    expect(row).to_be_visible()
    row.click()
    expect(page.get_by_role("table", name="Devices of this event")).to_contain_text("bob-log")
    expect(page.get_by_role("row", name="Suppressed by user")).to_contain_text("1")
    expect(page.locator("main h1")).to_contain_text("Done")


def test_the_devices_of_an_event_are_read_again_when_the_look_that_sees_its_end_fails(stage):
    stage.expects("503")
    network = community(stage)
    event = network.say("Hello")
    network.finished(event)
    answers = {"done": False, "fails": True}

    def begun(route):
        answer = route.fetch()
        json = answer.json()
        if answers["done"]:
            route.fulfill(response=answer)
        elif "items" in json:
            route.fulfill(response=answer, json=json | {"items": [each | {"state": "pending"} for each in json["items"]]})
        else:
            route.fulfill(response=answer, json=json | {"state": "delivering", "recipients": json["recipients"] | {"resolved": 0}})

    def devices(route):
        if answers["done"] and answers["fails"]:
            answers["fails"] = False
            route.fulfill(status=503)
        else:
            begun(route)

    context = stage.context(network)
    context.route(f"**/v1/networks/*/events/{event}", begun)
    context.route(f"**/v1/networks/*/events/{event}/deliveries?*", devices)
    page = stage.open(f"{network.id}/events/{event}", context=context)
    row = page.get_by_role("table", name="Devices of this event").locator("tbody tr")
    expect(row).to_contain_text("Waiting")
    answers["done"] = True
    expect(page.locator("main h1")).to_contain_text("Done")
    expect(page.locator("dt:has-text('People concerned') + dd")).to_have_text("2")
    until(lambda: page.evaluate("1") and not answers["fails"], "the devices could not be read")
    look(page)
    expect(row).to_contain_text("Delivered")


def test_events_are_filtered_by_what_the_address_says(stage):
    network = community(stage)
    network.say("Hello")
    page = stage.open(f"{network.id}/events", session=network)
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_label("Type").select_option("channel.created")
    expect(page.get_by_text("No event matches")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Type")).to_have_value("channel.created")
    page.get_by_label("Type").select_option("message.sent")
    expect(page.locator("tbody tr")).to_have_count(1)


def test_after_a_filter_that_is_refused_events_come_in_by_another(stage):
    stage.expects("400 (Bad Request)")
    network = community(stage)
    page = stage.open(f"{network.id}/events?type=bogus", session=network)
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Type").select_option("message.sent")
    expect(page.get_by_text("No event matches")).to_be_visible()
    network.say("Hello")
    expect(page.locator("tbody tr")).to_have_count(1)


def test_more_events_are_shown_without_a_gap_while_others_come_in(stage):
    network = community(stage)
    for number in range(55):
        network.say(f"Hello {number}")
    page = stage.open(f"{network.id}/events", session=network)
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(50)
    looks, more = [], []
    page.route(lambda url: "/events?" in url and "cursor=" not in url, lambda route: looks.append(route) if not looks else route.continue_())
    page.route(lambda url: "/events?" in url and "cursor=" in url, lambda route: more.append(route))
    newest = [network.say(f"News {number}") for number in range(3)][-1]
    until(lambda: page.evaluate("1") and looks, "it is looked for news")
    page.get_by_role("button", name="Show more").click()
    looks[0].continue_()
    expect(page.locator(f"a[href$='/events/{newest}']")).to_be_visible()
    until(lambda: page.evaluate("1") and more, "more is asked for")
    more[0].continue_()
    expect(rows).to_have_count(58)


def test_somebody_is_found_and_it_is_said_why_they_are_not_notified(stage):
    network = community(stage)
    page = stage.open(f"{network.id}/people", session=network)
    page.get_by_role("searchbox").fill("CAR")
    page.get_by_role("link", name="Carol").click()
    expect(page.locator("main h1")).to_have_text("Carol")
    page.get_by_role("tab", name="Why?").click()
    expect(page.get_by_text("Carol would not be notified")).to_be_visible()
    expect(page.get_by_text("Chat is switched off.").first).to_be_visible()
    page.get_by_role("tab", name="Switches").click()
    page.get_by_role("switch", name="Chat").click()
    until(lambda: network.get("users", "carol", "notifications")["modules"]["chat"]["enabled"], "Carol's switch is on")
    page.get_by_role("tab", name="Why?").click()
    expect(page.locator(".verdict")).to_contain_text("Carol")
    expect(page.get_by_text("Chat is switched off.")).to_have_count(0)
    visit(page, f"/console/{network.id}/people/bob?tab=devices")
    expect(page.get_by_text("bob-log")).to_be_visible()


def test_a_mistake_in_a_template_stands_at_its_column_and_a_good_one_is_saved(stage):
    stage.expects("400 (Bad Request)")
    network = stage.network()
    page = stage.open(f"{network.id}/templates?type=message.sent&locale=en", session=network)
    split = page.get_by_label("A title for each case")
    if split.is_checked():
        split.uncheck()
    title = page.get_by_role("textbox", name="Title")
    title.fill("New in %2s: %9s")
    expect(page.locator(".mistake").first).to_contain_text("13")
    title.fill("New in %2s")
    expect(page.get_by_role("figure", name="iPhone")).to_contain_text("New in General")
    page.get_by_role("button", name="Save").click()
    until(
        lambda: any(each["title"] == "New in %2s" for each in network.get("templates")["items"] if isinstance(each["title"], str)),
        "the template is saved",
    )
    page.get_by_role("button", name="Back to built-in").click()
    expect(page.get_by_text("Built-in").first).to_be_visible()


def test_a_credential_is_looked_at_before_it_is_saved(stage):
    network = stage.network()
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    page = stage.open(f"{network.id}/providers", session=network)
    page.locator("main input[type=file]").set_input_files({"name": "AuthKey_ABCDE12345.p8", "mimeType": "text/plain", "buffer": key})
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Key id")).to_have_value("ABCDE12345")
    dialog.get_by_label("App id").fill("com.example.chat")
    dialog.get_by_label("Team id").fill("TEAM123456")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("table", name="Credentials of apps")).to_contain_text("TEAM123456")
    assert network.get("providers", "apns", "apps", "com.example.chat")["keyId"] == "ABCDE12345"
    expect(page.locator("dialog")).to_have_count(0)
    assert "PRIVATE KEY" not in page.content()
