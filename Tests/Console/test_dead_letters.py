"""The page of dead letters, with more of them than anybody wants to see."""

import re

from playwright.sync_api import expect

from stage import settled, until

# As the service writes them, all at once: posting so many events would take too long.
COPIES = """
INSERT INTO dead_letters ({columns})
SELECT {values} FROM (SELECT * FROM dead_letters WHERE network_id = '{network}' LIMIT 1) AS letter, generate_series(1, {count}) AS n
"""
CHANGED = {
    "letter_id": "gen_random_uuid()", "user_id": "'user ' || n", "device_id": "'copy-' || n", "at": "letter.at - n * interval '1 second'",
}


def copy_letter(service, network, count):
    columns = service.query(
        "SELECT column_name FROM information_schema.columns WHERE table_name = 'dead_letters' AND is_generated = 'NEVER'"
    ).split()
    values = [CHANGED.get(column, f"letter.{column}") for column in columns]
    service.query(COPIES.format(columns=", ".join(columns), values=", ".join(values), network=network, count=count))


def with_letters(stage, count):
    """A network with dead letters: one that came about as they do, and copies of it."""
    network = stage.network()
    network.put("users", "bob", body={"displayName": "Bob"})
    network.put("channels", "general", "members", body={"userIds": ["bob", "alice"]})
    network.put("providers", "apns", "apps", "com.example.chat", body=stage.simulator.credential("apns"))
    network.put("devices", "d-1", body={
        "userId": "bob", "provider": "apns", "appId": "com.example.chat", "environment": "production",
        "token": "fa1140011" + "0" * 55,
    })
    network.finished(network.say("Hello"))
    until(lambda: network.get("dead-letters")["items"], "a dead letter")
    if count > 1:
        copy_letter(stage.service, network.id, count - 1)
    return network


def rows(page):
    return page.locator("tbody tr")


def device(page):
    """What the first row of a page is known by."""
    return rows(page).first.locator("td").nth(3)


def test_a_hundred_thousand_dead_letters_are_read_a_page_at_a_time(stage):
    network = with_letters(stage, 100_000)
    page = stage.open(f"{network.id}/dead-letters", session=network)
    expect(rows(page)).to_have_count(50)
    elements = page.evaluate("document.querySelectorAll('*').length")
    for _ in range(3):
        left = device(page).inner_text()
        page.get_by_role("button", name="Newer").click()
        expect(device(page)).not_to_have_text(left)
        settled(page)
    expect(rows(page)).to_have_count(50)
    assert page.evaluate("document.querySelectorAll('*').length") < elements + 100
    assert "cursor=" in page.url
    shown = device(page).inner_text()
    page.reload()
    expect(device(page)).to_have_text(shown)
    page.get_by_role("button", name="First").click()
    expect(device(page)).not_to_have_text(shown)
    expect(page).not_to_have_url(re.compile("cursor="))

    page.get_by_role("button", name="Delete all shown").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete them").click()
    expect(page.get_by_text("50 dead letters deleted.").first).to_be_attached()
    expect(rows(page)).to_have_count(50)
    assert stage.service.query(f"SELECT count(*) FROM dead_letters WHERE network_id = '{network.id}'") == "99950"


def test_the_page_that_was_asked_for_last_is_shown_and_nothing_is_deleted_that_is_not(stage):
    stage.expects("503")
    network = with_letters(stage, 160)
    page = stage.open(f"{network.id}/dead-letters", session=network)
    first = device(page).inner_text()
    page.get_by_role("button", name="Newer").click()
    expect(device(page)).not_to_have_text(first)
    held = []
    page.route("**/dead-letters?*", lambda route: held.append(route) if "cursor=" in route.request.url else route.continue_())
    page.get_by_role("button", name="Newer").click()
    until(lambda: page.evaluate("1") and held, "the third page is asked for")
    page.get_by_role("button", name="First").click()
    expect(device(page)).to_have_text(first)
    with page.expect_response("**/dead-letters?*cursor=*"):
        held[0].continue_()
    page.wait_for_timeout(200)
    expect(device(page)).to_have_text(first)
    assert "cursor=" not in page.url
    page.unroute("**/dead-letters?*")

    page.route("**/dead-letters?*", lambda route: route.fulfill(status=503), times=1)
    page.get_by_role("button", name="Newer").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("button", name="Delete all shown")).to_be_disabled()
    expect(page.get_by_role("button", name="Retry all shown")).to_be_disabled()
    page.get_by_role("button", name="Try again").click()
    expect(rows(page)).to_have_count(50)
    expect(page.get_by_role("button", name="Delete all shown")).to_be_enabled()


def test_a_dead_letter_is_opened_retried_and_deleted(stage):
    network = with_letters(stage, 3)
    page = stage.open(f"{network.id}/dead-letters", session=network)
    expect(rows(page)).to_have_count(3)
    rows(page).first.get_by_role("button", name="Open").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("com.example.chat")
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog).to_have_count(0)
    expect(rows(page)).to_have_count(2)
    network.put("devices", "d-1", body={"userId": "bob", "provider": "log"})
    rows(page).last.get_by_role("button", name="Retry").click()
    expect(rows(page)).to_have_count(1)
    expect(rows(page).first.get_by_role("button", name="Retry")).to_be_focused()
    rows(page).first.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No dead letters")).to_be_visible()
    until(lambda: not network.get("dead-letters")["items"], "no dead letters")
