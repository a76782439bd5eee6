"""The page to try it: an event goes out by a form, and what comes of it is seen."""

from playwright.sync_api import expect

from stage import settled, until
from test_sending import lose


def test_an_event_is_posted_and_followed_to_its_devices(stage):
    network = stage.network()
    network.load(
        {"user": {"id": "bob"}}, {"user": {"id": "carol"}}, {"channel": {"id": "general"}},
        {"member": {"channelId": "general", "userId": "bob"}}, {"member": {"channelId": "general", "userId": "carol"}},
        {"device": {"id": "bob-log", "userId": "bob", "provider": "log"}},
    )
    network.put("users", "carol", "notifications", body={"enabled": False})
    page = stage.open(f"{network.id}/try", session=network)
    form = page.get_by_role("form", name="Post an event")
    form.get_by_label("Text").fill("Hello <b>everybody</b>")
    form.get_by_role("button", name="Post the event").click()
    done = page.locator("[data-step=done][data-state=done]")
    expect(done).to_be_visible()
    expect(page.locator("[data-step=recipients]")).to_contain_text("1 notified, 1 suppressed by their own switches")
    expect(page.locator("[data-step=deliveries]")).to_contain_text("bob-log")
    done.get_by_role("link", name="Open the event").click()
    page.wait_for_url(f"**/console/{network.id}/events/*")
    assert len(network.get("events")["items"]) == 1


def test_each_type_of_event_can_be_posted_and_mistakes_stand_at_their_fields(stage):
    stage.expects("400")
    network = stage.network()
    page = stage.open(f"{network.id}/try", session=network)
    form = page.get_by_role("form", name="Post an event")
    for kind in ["channel.created", "member.joined"]:
        form.get_by_label("Type").select_option(kind)
        form.get_by_role("button", name="Post the event").click()
        until(lambda: kind in [event["type"] for event in network.get("events")["items"]], f"{kind} is posted")
        expect(page.locator("[data-step=done][data-state=done]")).to_be_visible()
    form.get_by_label("Channel id").fill("x" * 300)
    form.get_by_role("button", name="Post the event").click()
    expect(form.locator(".field-error").filter(has_text="256")).to_be_visible()
    form.get_by_label("Channel id").fill("")
    form.get_by_role("button", name="Post the event").click()
    expect(form.get_by_text("This is needed.")).to_be_visible()


def test_an_event_is_posted_once_after_a_lost_answer_and_anew_when_it_is_edited(stage):
    stage.expects("503")
    network = stage.network()
    page = stage.open(f"{network.id}/try", session=network)
    form = page.get_by_role("form", name="Post an event")
    for text, posted in (("Hello", 1), ("Hello again", 3)):
        page.route("**/v1/networks/*/events", lose, times=1)
        form.get_by_label("Text").fill("Hello")
        form.get_by_role("button", name="Post the event").click()
        expect(form.get_by_role("alert")).to_be_visible()
        form.get_by_label("Text").fill(text)
        form.get_by_role("button", name="Post the event").click()
        settled(page)
        expect(form.get_by_role("alert")).to_have_count(0)
        assert len(network.get("events")["items"]) == posted
