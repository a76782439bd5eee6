"""What the pages of one user do besides their main act: who wins, two admins at one switch, and each level of Why?."""

from playwright.sync_api import expect

import example
from stage import look, settled, until


def filled(stage):
    network = stage.network()
    network.load(*example.directory(), {"device": {"id": "kofi-desk", "userId": "kofi", "provider": "log"}})
    return network


def test_the_switches_of_a_user_decide_who_wins_and_two_admins_hear_of_each_other(stage):
    stage.expects("412")
    network = filled(stage)
    page = stage.open(f"{network.id}/people/kofi", session=network)
    messages = page.locator("tr", has=page.get_by_text("Messages", exact=True))
    expect(messages).to_contain_text("Notified")

    page.get_by_role("switch", name="Chat").click()
    expect(messages).to_contain_text("User stops it")
    assert network.get("users", "kofi", "notifications")["modules"]["chat"]["enabled"] is False
    page.get_by_role("button", name="Undo").click()
    until(lambda: network.get("users", "kofi", "notifications")["updatedAt"] is None, "it is as it was before")

    page.get_by_label("In channel").fill("On call")
    page.get_by_label("In channel").press("Enter")
    page.get_by_role("switch", name="Mentions only").click()
    expect(messages).to_contain_text("Channel stops it")
    assert network.get("users", "kofi", "channels", "on-call", "notifications")["mentionsOnly"] is True

    network.put("users", "kofi", "channels", "on-call", "notifications", body={"enabled": False})
    page.get_by_role("switch", name="Mentions only").click()
    expect(page.locator(".toast")).to_contain_text(["Somebody else has changed these switches"])
    expect(page.get_by_role("switch", name="This channel")).to_have_attribute("aria-checked", "false")
    page.get_by_role("tab", name="Channels").click()
    expect(page.locator("tr", has_text="on-call")).to_contain_text("Off")
    page.get_by_role("tab", name="Devices").click()
    expect(page.locator("tr", has_text="kofi-desk")).to_contain_text("Active")


def test_what_others_changed_meanwhile_stays_when_a_change_is_undone_or_a_dialog_saved(stage):
    network = filled(stage)
    page = stage.open(f"{network.id}/people/kofi", session=network)

    def now():
        return network.get("users", "kofi", "notifications")

    page.get_by_role("switch", name="Chat").click()
    undo = page.locator(".toast", has_text="Chat is switched off").get_by_role("button", name="Undo")
    # A message stays while it has the focus.
    undo.focus()
    page.get_by_role("button", name="1 hour mute of everything").dispatch_event("click")
    expect(page.get_by_role("button", name="Unmute everything")).to_be_visible()
    network.patch("users", "kofi", "notifications", body={"quietHours": {"from": "01:00", "to": "02:00", "timeZone": "Africa/Accra"}})
    look(page)
    expect(page.get_by_text("01:00–02:00")).to_be_visible()
    undo.click()
    until(lambda: now()["modules"]["chat"]["enabled"], "Chat is on again")
    assert now()["mutedUntil"] and now()["quietHours"]["from"] == "01:00", now()

    page.get_by_role("button", name="Change… quiet hours").click()
    network.patch("users", "kofi", "notifications", body={"quietHours": {"from": "03:00"}})
    look(page)
    expect(page.get_by_text("03:00–02:00")).to_be_visible()
    page.get_by_label("From").fill("04:00")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast", has_text="Somebody else has changed these switches")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert now()["quietHours"]["from"] == "03:00"


def test_a_users_switch_whose_answer_is_lost_is_looked_up(stage):
    stage.expects("ERR_FAILED")
    network = filled(stage)
    page = stage.open(f"{network.id}/people/kofi", session=network)
    page.route("**/users/kofi/notifications", lambda route: (route.fetch(), route.abort()) if route.request.method == "PUT" else route.continue_())
    page.get_by_role("switch", name="Chat").click()
    expect(page.locator(".toast", has_text="whether it is saved is not known")).to_be_visible()
    expect(page.locator(".toast", has_text="Chat is switched off.")).to_be_visible()
    expect(page.get_by_role("switch", name="Chat")).to_have_attribute("aria-checked", "false")


def test_dots_are_no_channel_and_nothing_else_is_shown_for_them(stage):
    network = filled(stage)
    page = stage.open(f"{network.id}/people/kofi?channel=..", session=network)
    expect(page.get_by_text("“..” is no id")).to_be_visible()
    expect(page.get_by_role("switch", name="Notifications", exact=True)).to_be_visible()
    expect(page.get_by_role("switch", name="This channel")).to_have_count(0)


def test_why_asks_for_a_channel_first_where_somebody_has_none(stage):
    network = stage.network()
    network.put("users", "zoe", body={"displayName": "Zoe"})
    page = stage.open(f"{network.id}/people/zoe?tab=why", session=network)
    expect(page.get_by_text("No channel is chosen")).to_be_visible()
    page.get_by_label("What happens").select_option("notification.direct")
    expect(page.locator(".verdict")).to_contain_text("Zoe would")


def test_more_people_are_shown_also_when_the_service_fails_once(stage):
    stage.expects("503")
    network = stage.network()
    network.load(*({"user": {"id": f"user-{number:02}"}} for number in range(60)))
    page = stage.open(f"{network.id}/people", session=network)
    expect(page.locator("tbody tr")).to_have_count(50)
    page.route("**/users?*cursor=*", lambda route: route.fulfill(status=503), times=1)
    page.get_by_role("button", name="Show more").click()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("tbody tr")).to_have_count(60)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


def test_roles_mutes_and_quiet_hours_are_set_and_checked(stage):
    stage.expects("400")
    network = filled(stage)
    page = stage.open(f"{network.id}/people/kofi", session=network)
    page.get_by_role("button", name="Change whose acts count for Chat").click()
    page.get_by_label("Whose acts they hear of").select_option("only")
    page.get_by_label("Roles").fill("moderator, <b>bot</b>")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".roles-control").first).to_contain_text("only from <b>bot</b>, moderator")

    page.get_by_role("button", name="Set… quiet hours").click()
    page.get_by_label("Time zone").fill("Mars/Base")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Time zone")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Time zone").fill("Africa/Accra")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="1 day mute of everything").click()
    expect(page.get_by_role("button", name="Unmute everything")).to_be_visible()
    set_now = network.get("users", "kofi", "notifications")
    assert set_now["quietHours"]["timeZone"] == "Africa/Accra" and set_now["mutedUntil"]
    page.get_by_role("button", name="Back to the defaults").first.click()
    until(lambda: network.get("users", "kofi", "notifications")["updatedAt"] is None, "these are the defaults")


def test_why_asks_about_an_invitation_as_one(stage):
    network = filled(stage)
    event = network.post("events", body={"id": "invitation", "type": "channel.invited", "data": {
        "channel": {"id": "random"}, "user": {"id": "alice"}, "invited": ["kofi"]}})["id"]
    network.finished(event)
    page = stage.open(f"{network.id}/people/kofi?tab=why&event={event}", session=network)
    expect(page.get_by_label("What happens")).to_have_value("channel.invited")
    expect(page.locator(".verdict")).to_contain_text("would be notified on 1 device")
    expect(page.locator(".source")).to_contain_text('"channel.invited"')


def test_why_says_which_level_decides_and_shows_the_notification(stage):
    network = filled(stage)
    event = network.say("Lunch?", user="alice")
    network.finished(event)
    network.put("users", "kofi", "channels", "on-call", "notifications", body={"mutedUntil": "2036-01-01T00:00:00Z"})
    page = stage.open(f"{network.id}/people/kofi?tab=why&event={event}", session=network)
    expect(page.locator(".verdict")).to_contain_text("Kofi Mensah would be notified on 1 device")
    expect(page.locator(".why-history")).to_contain_text("Delivered")
    expect(page.get_by_label("In channel")).to_have_value("general")
    expect(page.get_by_label("Who does it")).to_have_value("alice")

    page.get_by_label("In channel").fill("on-call")
    page.get_by_label("Text").fill("%2s is {{Message}}")
    expect(page.locator(".verdict")).to_contain_text("would not be notified")
    expect(page.locator(".level.decides")).to_contain_text("Channel")
    expect(page.locator(".level.decides")).to_contain_text("Muted until 1 Jan 2036")
    expect(page.locator(".device-frame .note-body")).to_have_text(["%2s is {{Message}}"] * 3)
    network.patch("users", "kofi", "notifications", body={"enabled": False})
    page.get_by_label("Mentions them").check()
    expect(page.locator(".level.decides")).to_contain_text("User")
    expect(page.locator(".level.forbids")).to_have_count(2)
    page.get_by_label("Who does it").fill("kofi")
    expect(page.locator(".verdict")).to_contain_text("nobody is notified of their own act")
    settled(page)
