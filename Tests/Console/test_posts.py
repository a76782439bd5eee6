"""The page of recent posts: what the chat back end posted comes in by itself, with what became of it and why."""

import contextlib

from playwright.sync_api import expect

from service import Refused
from test_looks import faults_of


def test_posts_that_were_accepted_ignored_and_refused_are_seen_with_the_reason(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/events", session=network, width=360, height=740)
    page.get_by_role("link", name="See what was refused").click()
    expect(page.locator("main h1")).to_have_text("Recent posts")
    expect(page.get_by_text("Nothing was posted yet")).to_be_visible()
    expect(page.get_by_text(f"{stage.origin}/v1/networks/{network.id}/events")).to_be_visible()
    assert not faults_of(page)

    event = network.say("Hello", event="m-1")
    network.say("Hello", event="m-1")
    network.post("events", body={"id": "m-2", "type": "message.create"})
    network.post("events", body={"id": "m-3", "type": "<script>window.hostile = 1</script>"})
    with contextlib.suppress(Refused):
        network.post("events", body={"id": "m-4", "type": "message.sent"})
    rows = page.get_by_role("table", name="The latest, the newest first").locator("tbody tr")
    expect(rows).to_have_count(5)
    for row, verdict, reason in [
        (0, "Refused", "/data is required"), (1, "Ignored", "<script>window.hostile = 1</script>"),
        (2, "Ignored", "did you mean message.sent?"), (3, "Duplicate", ""), (4, "Accepted", ""),
    ]:
        expect(rows.nth(row)).to_contain_text(verdict)
        expect(rows.nth(row)).to_contain_text(reason)
    assert page.evaluate("window.hostile") is None
    assert not faults_of(page)
    rows.nth(4).get_by_role("link", name="Event").click()
    page.wait_for_url(f"**/events/{event}")
    expect(page.locator("main h1")).to_contain_text("Message sent")
