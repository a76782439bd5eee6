"""The pages of channels: found, made, described, filled with members, and removed."""

from playwright.sync_api import expect

from service import Refused
from stage import held, until
from test_hostile import NAMES
from test_looks import faults_of


def members(network, channel="general"):
    return [each["userId"] for each in network.get("channels", channel, "members")["items"]]


def test_a_channel_is_made_named_filled_and_removed(stage):
    stage.expects("400", "404")
    network = stage.network()
    network.put("users", "bob", body={"displayName": "Bob Adeyemi"})
    page = stage.open(f"{network.id}/channels", session=network)
    page.get_by_role("button", name="New channel").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Make the channel").click()
    expect(dialog).to_contain_text("This is needed.")
    dialog.get_by_label("Id").fill("general")
    dialog.get_by_label("Name").fill(NAMES[0])
    dialog.get_by_role("button", name="Make the channel").click()
    expect(page.locator("main h1")).to_have_text(NAMES[0])
    expect(page.get_by_text("Nobody is a member")).to_be_visible()

    page.get_by_label("New member: user").fill("bob adeyemi")
    expect(page.locator("datalist option[value=bob]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("table", name="Members of this channel")).to_contain_text("bob")
    page.get_by_label("New member: user").fill("<i>zoe</i>")
    page.keyboard.press("Enter")
    expect(page.get_by_role("table", name="Members of this channel")).to_contain_text("<i>zoe</i>")
    assert members(network) == ["<i>zoe</i>", "bob"]

    page.get_by_role("button", name="Remove bob").click()
    until(lambda: members(network) == ["<i>zoe</i>"], "Bob is no member")
    page.get_by_role("button", name="Undo").click()
    until(lambda: members(network) == ["<i>zoe</i>", "bob"], "Bob is a member again")
    expect(page.get_by_role("table", name="Members of this channel")).to_contain_text("bob")
    page.get_by_role("link", name="Their switches of bob").click()
    expect(page.get_by_role("switch", name="This channel")).to_be_visible()
    page.go_back()
    expect(page.locator("main h1")).to_have_text(NAMES[0])

    page.get_by_role("button", name="Change").click()
    dialog.get_by_label("Name").fill("General")
    dialog.get_by_label("conversation of two").check()
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("main h1")).to_have_text("General")
    assert network.get("channels", "general") == {"id": "general", "displayName": "General", "direct": True}

    page.get_by_role("button", name="Remove channel").click()
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("No channel is found")).to_be_visible()
    try:
        network.get("channels", "general")
        raise AssertionError("it is still there")
    except Refused as refusal:
        assert refusal.status == 404


def test_who_is_typed_while_somebody_is_added_stays(stage):
    network = stage.network()
    network.put("channels", "general", "members", body={"userIds": []})
    page = stage.open(f"{network.id}/channels/general", session=network)
    who, sent = page.get_by_label("New member: user"), held(page, "**/members/*")
    who.fill("bob")
    page.keyboard.press("Enter")
    until(lambda: page.evaluate("1") and sent, "Bob is being added")
    who.fill("carol")
    sent[0].continue_()
    expect(page.get_by_role("table", name="Members of this channel")).to_contain_text("bob")
    expect(who).to_have_value("carol")


def test_a_dialog_goes_with_its_page(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/overview", session=network)
    page.get_by_role("link", name="Channels").click()
    page.get_by_role("button", name="New channel").click()
    page.get_by_role("dialog").get_by_label("Id").fill("general")
    page.go_back()
    expect(page.locator("main h1")).to_have_text("Overview")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert network.get("channels")["items"] == []


def test_a_channel_is_found_by_its_name_and_shows_its_last_events(stage):
    network = stage.network()
    network.load(*({"channel": {"id": f"c-{number:02}", "displayName": f"Room {number:02}"}} for number in range(60)),
                 {"member": {"channelId": "c-07", "userId": "alice"}})
    event = network.say("Hello", channel="c-07")
    network.say("Elsewhere", channel="c-08")
    page = stage.open(f"{network.id}/channels", session=network, width=360, height=740)
    expect(page.locator("tbody tr")).to_have_count(50)
    for words in ("ROOM 07", "07"):
        page.get_by_role("searchbox").fill(words)
        expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Room 07").click()
    events = page.get_by_role("table", name="The last events of this channel")
    expect(events.locator("tbody tr")).to_have_count(1)
    expect(events.locator(f"a[href$='{event}']")).to_be_visible()
    assert not faults_of(page)


def test_all_members_of_a_large_channel_are_shown_page_by_page(stage):
    network = stage.network()
    network.put("channels", "all", "members", body={"userIds": [f"u-{number:04}" for number in range(250)]})
    page = stage.open(f"{network.id}/channels/all", session=network)
    rows = page.get_by_role("table", name="Members of this channel").locator("tbody tr")
    expect(rows).to_have_count(100)
    for shown in (200, 250):
        page.get_by_role("button", name="Show more").click()
        expect(rows).to_have_count(shown)
