"""The pages by which a network is filled: tags, sources, and a file of lines."""

import json

from playwright.sync_api import expect

from push_service import Subscription
from stage import until
from test_looks import faults_of
from test_notifying import SUBSCRIBING, deliver

PEOPLE = """
INSERT INTO channels (network_id, channel_id, display_name, facts_at) VALUES ('{network}', 'all', 'Everybody', now());
INSERT INTO users (network_id, user_id, display_name, facts_at)
    SELECT '{network}', 'u-' || lpad(n::text, 6, '0'), 'Person ' || n, now() FROM generate_series(1, 100000) AS n;
INSERT INTO members (network_id, channel_id, user_id, is_member, facts_at)
    SELECT '{network}', 'all', 'u-' || lpad(n::text, 6, '0'), true, now() FROM generate_series(1, 100000) AS n;
"""


def menu(page, name):
    page.get_by_role("navigation", name="Console").get_by_role("link", name=name, exact=True).click()
    expect(page.locator("main h1")).to_have_text(name)


def test_a_network_is_set_up_and_somebody_told_in_the_console_alone(stage):
    stage.expects("404")
    subscription = Subscription(stage.push.origin)
    page = stage.open(session="operator", script=SUBSCRIBING.replace("SUBSCRIPTION", json.dumps(subscription.json)), granted=["notifications"])
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Make a network").first.click()
    dialog.get_by_label("Id").fill("alone")
    dialog.get_by_role("button", name="Make it").click()
    page.get_by_role("button", name="I have stored them").click()
    expect(page.get_by_role("region", name="First steps")).to_be_visible()

    menu(page, "Settings")
    page.get_by_label("Push services that browsers may name").fill("default, 127.0.0.1")
    page.get_by_role("form", name="Devices").get_by_role("button", name="Save").click()
    expect(page.get_by_label("Push services that browsers may name")).to_have_value("default, 127.0.0.1")
    expect(page.get_by_text("Saved.").first).to_be_visible()
    menu(page, "Channels")
    page.get_by_role("button", name="New channel").click()
    dialog.get_by_label("Id").fill("general")
    dialog.get_by_role("button", name="Make the channel").click()
    for person in ("bob", "carol"):
        page.get_by_label("New member: user").fill(person)
        page.keyboard.press("Enter")
        expect(page.get_by_role("table", name="Members of this channel")).to_contain_text(person)

    menu(page, "Try it")
    trying = page.get_by_role("form", name="Notify this browser")
    trying.get_by_label("As the user").fill("bob")
    trying.get_by_label("Contact").fill("mailto:ops@example.org")
    trying.get_by_role("button", name="Notify this browser").click()
    expect(page.locator("[data-step=delivery][data-state=done]")).to_be_visible()
    deliver(page, stage.origin, subscription.read(stage.push.messages.get(timeout=15)[1]))
    expect(page.locator("[data-step=shown][data-state=done]")).to_be_visible()

    menu(page, "Send")
    page.get_by_label("To", exact=True).select_option("channelId")
    page.get_by_label("Channel").fill("general")
    page.get_by_label("Text").fill("Hello, both of you")
    page.get_by_role("button", name="Send…").click()
    dialog.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("[data-step=recipients]")).to_contain_text("1 notified, 1 without a device")
    assert "Hello, both of you" in subscription.read(stage.push.messages.get(timeout=15)[1])

    menu(page, "People")
    page.get_by_role("link", name="carol").first.click()
    page.get_by_role("tab", name="Why?").click()
    expect(page.locator(".verdict")).to_contain_text("no device")
    menu(page, "Overview")
    expect(page.locator("[data-step=credential][data-state=done]")).to_be_visible()
    expect(page.locator("[data-step=browser][data-state=done]")).to_be_visible()
    expect(page.locator("[data-step=event][data-state=waiting]")).to_be_visible()


def test_a_hundred_thousand_people_are_found_listed_and_counted_up_to_a_limit(stage):
    network = stage.network()
    stage.service.query(PEOPLE.format(network=network.id))
    page = stage.open(f"{network.id}/people", session=network)
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/v1/" in request.url else None)
    for words, found in [("u-09999", 10), ("99999", 1), ("person 12345", 1), ("1234", 11)]:
        page.get_by_role("searchbox").fill(words)
        expect(page.locator("tbody tr")).to_have_count(found)
    menu(page, "Channels")
    page.get_by_role("link", name="Everybody").click()
    expect(page.get_by_role("table", name="Members of this channel").locator("tbody tr")).to_have_count(100)
    menu(page, "Send")
    page.get_by_label("To", exact=True).select_option("everyone")
    expect(page.locator(".audience")).to_contain_text("10,000 users or more")
    assert len(asked) < 40, asked


def test_a_tag_is_declared_subscribed_to_and_removed(stage):
    stage.expects("404")
    network = stage.network()
    network.load({"user": {"id": "bob", "displayName": "Bob"}}, {"device": {"id": "bob-log", "userId": "bob", "provider": "log"}})
    page = stage.open(f"{network.id}/tags", session=network)
    page.get_by_role("button", name="New tag").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Tag").fill("<b>beta</b>")
    dialog.get_by_label("Description").fill("Early birds")
    dialog.get_by_label("Users may subscribe themselves").check()
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_have_text("<b>beta</b>")
    assert network.get("tags", "<b>beta</b>")["selfService"] is True

    page.get_by_label("New subscriber: user").fill("Bob")
    expect(page.locator("datalist option[value=bob]")).to_have_count(1)
    page.keyboard.press("Enter")
    subscribers = page.get_by_role("table", name="Subscribers of this tag")
    expect(subscribers).to_contain_text("bob")
    page.get_by_label("Kind").select_option("devices")
    page.get_by_label("New subscriber: device").fill("nothing")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("404")
    page.get_by_label("New subscriber: device").fill("bob-log")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(subscribers.locator("tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Remove bob", exact=True).click()
    expect(subscribers.locator("tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(subscribers.locator("tbody tr")).to_have_count(2)

    page.get_by_role("link", name="← Tags").click()
    expect(page.locator("main h1")).to_have_text("Tags")
    expect(page.locator("tbody tr")).to_contain_text("2 subscribers")
    page.get_by_role("link", name="<b>beta</b>").click()
    page.get_by_role("button", name="Remove tag").click()
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("No tag is declared")).to_be_visible()
    assert network.get("tags")["items"] == []


def test_a_source_is_made_fails_works_again_and_is_removed(stage):
    stage.expects("400")
    network = stage.network()
    stage.receiver.poll_status = 500
    try:
        page = stage.open(f"{network.id}/sources", session=network, width=360, height=740)
        page.get_by_role("button", name="New source").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Id").fill("crm")
        dialog.get_by_label("URL").fill("javascript:alert(1)")
        dialog.get_by_role("button", name="Make the source").click()
        expect(dialog.get_by_label("URL")).to_have_attribute("aria-invalid", "true")
        dialog.get_by_label("URL").fill(stage.receiver.url)
        dialog.get_by_label("It is asked every").fill("3")
        dialog.get_by_role("button", name="Make the source").click()
        expect(page.locator(".secret-value")).to_contain_text("whsec_")
        page.get_by_role("button", name="I have stored it").click()
        row = page.locator("tbody tr")
        expect(row).to_contain_text("Failing", timeout=30_000)
        expect(row).to_contain_text("500")
        assert not faults_of(page)
        page.get_by_role("button", name="Menu").click()
        page.get_by_role("link", name="Overview").click()
        expect(page.get_by_role("region", name="Attention")).to_contain_text("Source crm is failing")
        expect(page.locator(".state-line")).to_contain_text("Failing")
        page.go_back()
    finally:
        stage.receiver.poll_status = 204
    page.get_by_role("button", name="Change crm").click()
    dialog.get_by_label("It is asked every").fill("60")
    dialog.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Working", timeout=30_000)
    expect(row).to_contain_text("Good")
    page.get_by_role("button", name="Remove crm").click()
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("No source", exact=True)).to_be_visible()
    assert network.get("sources")["items"] == []


def drop(page, *lines, name="people.ndjson"):
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    page.locator("main input[type=file]").set_input_files({"name": name, "mimeType": "application/x-ndjson", "buffer": text.encode()})


def test_a_file_of_lines_is_looked_at_and_imported(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/import", session=network)
    drop(page, *({"user": {"id": f"u-{number}"}} for number in range(3000)), "", {"channel": {"id": "general"}},
         {"member": {"channelId": "general", "userId": "u-1"}}, {"device": {"id": "d", "userId": "u-1", "provider": "log"}}, name="<i>people</i>.ndjson")
    found = page.get_by_role("region", name="What is in <i>people</i>.ndjson")
    expect(found).to_contain_text("Users described3,000")
    expect(found).to_contain_text("Devices registered1")
    assert network.get("users")["items"] == [], "nothing is sent before it is wanted"
    page.get_by_role("button", name="Import 3,003 lines").click()
    expect(page.get_by_role("region", name="It is imported")).to_contain_text("3,000", timeout=30_000)
    assert network.get("channels", "general", "members")["items"] == [{"userId": "u-1"}]


def test_mistakes_in_lines_are_named_here_and_by_the_service(stage):
    stage.expects("400")
    network = stage.network()
    page = stage.open(f"{network.id}/import", session=network, width=360, height=740)
    drop(page, {"user": {"id": "bob"}}, "{no json", {"person": {"id": "<img src=x>"}}, "[]")
    expect(page.get_by_text("3 lines cannot be read")).to_be_visible()
    expect(page.get_by_text("Line 2 is no JSON")).to_be_visible()
    expect(page.get_by_text("Line 3 has to be one of")).to_be_visible()
    expect(page.get_by_role("button", name="Import")).to_have_count(0)
    assert not faults_of(page)
    drop(page, {"user": {"id": "bob"}}, {"user": {"id": ""}})
    page.get_by_role("button", name="Import 2 lines").click()
    expect(page.get_by_role("alert")).to_contain_text("2")
    assert network.get("users")["items"] == []


def test_an_import_shows_its_progress_and_is_not_left_by_accident(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/import", session=network)
    held = []
    page.route("**/import", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    drop(page, {"user": {"id": "bob"}})
    page.get_by_role("button", name="Import 1 line").click()
    until(lambda: page.evaluate("1") and held, "the import is on its way")
    expect(page.get_by_role("progressbar")).to_be_visible()
    drop(page, {"user": {"id": "carol"}}, name="other.ndjson")
    expect(page.locator(".toast", has_text="The import is not over")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("link", name="Keys").click()
    page.get_by_role("dialog").get_by_role("button", name="Stay").click()
    held[0].continue_()
    expect(page.get_by_role("region", name="It is imported")).to_be_visible()
    page.get_by_role("link", name="Keys").click()
    expect(page.locator("main h1")).to_have_text("Keys")


SLOW = """
const { stream } = Blob.prototype;
Blob.prototype.stream = function () {
    if (this.name !== "slow.ndjson") return stream.call(this);
    return new ReadableStream({ start: (controller) => { window.finish = () => controller.close(); } });
};
"""


def test_of_two_files_the_later_one_is_looked_at(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/import", session=network, script=SLOW)
    drop(page, {"user": {"id": "bob"}}, name="slow.ndjson")
    expect(page.get_by_text("Looking at slow.ndjson")).to_be_visible()
    drop(page, {"user": {"id": "bob"}}, name="quick.ndjson")
    quick = page.get_by_role("region", name="What is in quick.ndjson")
    expect(quick).to_be_visible()
    page.evaluate("finish()")
    page.wait_for_timeout(200)
    expect(quick).to_be_visible()
    expect(page.get_by_role("button", name="Import 1 line")).to_be_focused()
