"""The operator's list of networks, and the filter of an event's devices."""

from playwright.sync_api import expect

from stage import until


def troubled(stage, identifier, name):
    """A network with a device that nothing can be sent to, and something that was."""
    network = stage.network(identifier, name)
    network.load(
        {"user": {"id": "bob"}}, {"channel": {"id": "general"}}, {"member": {"channelId": "general", "userId": "bob"}},
        {"device": {"id": "bob-log", "userId": "bob", "provider": "log"}},
    )
    network.put("devices", "phone", body={
        "userId": "bob", "provider": "apns", "appId": "com.example.none", "environment": "production", "token": "cd" * 32,
    })
    network.say("Hello")
    until(lambda: any(lane["circuit"] == "open" for lane in network.get("providers")["items"]), "the lane without a credential waits")
    return network


def test_the_operator_sees_first_which_networks_have_something_wrong(stage):
    stage.network("0-well", "Well")
    network = troubled(stage, "zz-broken", "Broken")
    page = stage.open(session="operator")
    rows = page.get_by_role("table", name="Networks").locator("tbody tr")
    row = rows.filter(has_text="zz-broken")
    expect(row).to_contain_text("Failing")
    expect(row).to_contain_text("apns/com.example.none")
    expect(rows.filter(has_text="0-well")).to_contain_text("New")
    texts = rows.all_inner_texts()
    places = [next(index for index, text in enumerate(texts) if identifier in text) for identifier in ("zz-broken", "0-well")]
    assert places == sorted(places), texts
    page.get_by_label("State").select_option("failing")
    expect(rows.filter(has_text="0-well")).to_have_count(0)
    expect(row).to_be_visible()
    page.get_by_label("Name or id").fill("BROK")
    expect(rows).to_have_count(1)
    page.reload()
    expect(page.get_by_label("State")).to_have_value("failing")
    expect(rows).to_have_count(1)
    page.get_by_label("Name or id").fill("nobody at all")
    expect(page.get_by_text("No network matches")).to_be_visible()
    page.get_by_label("Name or id").fill("")
    row.get_by_role("link").click()
    page.wait_for_url(f"**/console/{network.id}/overview")


def test_devices_of_an_event_are_filtered_by_what_the_address_says(stage):
    network = troubled(stage, "of-devices", "Devices")
    event = network.get("events")["items"][0]["id"]
    page = stage.open(f"{network.id}/events/{event}", session=network)
    rows = page.get_by_role("table", name="Devices of this event").locator("tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_label("Device’s state").select_option("pending")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("phone")
    page.reload()
    expect(page.get_by_label("Device’s state")).to_have_value("pending")
    page.get_by_label("Through").select_option("log")
    expect(page.get_by_text("No device matches")).to_be_visible()
    page.get_by_label("Device’s state").select_option("")
    expect(rows).to_contain_text("bob-log")
    # At once: what is typed has not had its moment yet.
    page.evaluate("""() => {
        for (const [name, value] of [["userId", "bob"], ["provider", ""], ["state", "pending"]]) {
            const input = document.querySelector(`[name=${name}]`);
            input.value = value;
            input.dispatchEvent(new Event("input"));
        }
    }""")
    page.wait_for_url(lambda url: "state=pending" in url and "userId=bob" in url and "provider" not in url)
    page.get_by_label("Device’s state").select_option("")
    page.get_by_label("User’s id").fill("carol")
    expect(page.get_by_text("No device matches")).to_be_visible()
