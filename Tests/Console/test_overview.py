"""What a network's first page says: how it fares in one sentence, and what is still to be done; and what the menu calls things."""

import re

from playwright.sync_api import expect

from stage import visit
from test_looks import faults_of
from test_notifying import Browser

MENU = ["Your servers", "Other systems' apps", "Other chat back ends"]


def ticked(page, step, state="done"):
    return page.locator(f".first-steps [data-step={step}][data-state={state}]")


def test_the_menu_and_the_pages_use_plain_words(stage):
    stage.expects("404")
    network = stage.network()
    page = stage.open(f"{network.id}/overview", session=network)
    for words in MENU:
        page.get_by_role("navigation", name="Console").get_by_role("link", name=words, exact=True).click()
        expect(page.locator("main h1")).to_have_text(words)
    menu = page.get_by_role("navigation", name="Console").inner_text()
    assert not re.search("faces|dialects|endpoints", menu, re.I), menu


def test_the_first_steps_are_ticked_when_they_are_true_and_no_chart_is_empty(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/overview", session=network, width=360, height=740)
    expect(page.locator(".state-line")).to_contain_text("No event was posted yet")
    for step in ("credential", "key", "event", "device", "browser"):
        expect(ticked(page, step, "waiting")).to_be_visible()
    expect(page.locator("c-chart:visible")).to_have_count(0)
    expect(ticked(page, "event", "waiting").get_by_role("link", name="Recent posts")).to_be_visible()
    assert not faults_of(page)

    network.put("providers", "webpush", body={"subject": "mailto:ops@example.org"})
    network.post("api-keys", body={"role": "events", "label": "Chat back end"})
    network.load({"user": {"id": "bob"}}, {"device": {"id": "bob-log", "userId": "bob", "provider": "log"}})
    page.reload()
    for step in ("credential", "key", "device"):
        expect(ticked(page, step)).to_be_visible()
    expect(ticked(page, "event", "waiting")).to_be_visible()
    network.put("channels", "general", "members", body={"userIds": ["alice", "bob"]})
    network.finished(network.say("Hello"))
    page.reload()
    expect(ticked(page, "event")).to_be_visible()
    expect(page.locator("c-chart:visible").first).to_be_visible()
    ticked(page, "browser", "waiting").get_by_role("link", name="Notify this browser").click()
    expect(page.locator("main h1")).to_have_text("Try it")


def test_nothing_is_to_be_done_when_this_browser_was_notified_too(stage):
    network = stage.network()
    network.patch(body={"webPushHosts": ["127.0.0.1"]})
    network.post("api-keys", body={"role": "events", "label": "Chat back end"})
    network.say("Hello")
    browser = Browser(stage, network)
    browser.press()
    expect(browser.step("delivery", "done")).to_be_visible()
    stage.push.messages.get(timeout=15)
    visit(browser.page, f"/console/{network.id}/overview")
    expect(browser.page.locator(".state-line")).to_contain_text("nothing failed")
    expect(browser.page.get_by_text("First steps")).to_have_count(0)


def test_one_sentence_says_how_a_network_fares(stage):
    network = stage.network()
    network.load({"user": {"id": "bob"}}, {"member": {"channelId": "general", "userId": "bob"}}, {"device": {"id": "bob-log", "userId": "bob", "provider": "log"}})
    network.finished(network.say("Hello"))
    page = stage.open(f"{network.id}/overview", session=network)
    state = page.locator(".state-line")
    expect(state).to_contain_text("Working")
    expect(state).to_contain_text("1 event in the last hour, 1 notification, nothing failed.")
    network.patch("notifications", body={"events": {"message.sent": {"enabled": False}}})
    page.reload()
    expect(state).to_contain_text("1 thing below should be looked at")
    network.patch("notifications", body={"enabled": False})
    page.reload()
    expect(state).to_contain_text("Nobody is notified: all notifications are switched off.")
