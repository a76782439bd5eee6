"""The page of settings: what a network says of itself is changed, refused at its field, and the network removed by its operator."""

from playwright.sync_api import expect

from service import Refused
from stage import held, settled, until
from test_looks import faults_of


def form(page, name):
    return page.get_by_role("form", name=name)


def save(page, name):
    form(page, name).get_by_role("button", name="Save").click()
    # Another's message may still be there.
    settled(page)
    expect(page.locator(".toast", has_text="Saved.")).not_to_have_count(0)


def test_an_admin_names_the_network_and_says_who_may_register_devices(stage):
    stage.expects("400", "404")
    network = stage.network()
    page = stage.open(f"{network.id}/settings", session=network)
    form(page, "Name and language").get_by_label("Name", exact=True).fill("<b>Acme</b>")
    form(page, "Name and language").get_by_label("Language").fill("th")
    save(page, "Name and language")
    assert (network.get()["displayName"], network.get()["defaultLocale"]) == ("<b>Acme</b>", "th")
    expect(page.locator(".network-name")).to_have_text("<b>Acme</b>")

    devices = form(page, "Devices")
    expect(devices).to_contain_text("read anybody’s notifications")
    devices.get_by_label("Who may register a device").select_option("appKey")
    devices.get_by_label("Push services").fill("default, *.example.org")
    save(page, "Devices")
    assert network.get()["deviceRegistration"] == "appKey" and network.get()["webPushHosts"] == ["default", "*.example.org"]
    devices.get_by_label("Push services").fill("https://no.host/")
    devices.get_by_role("button", name="Save").click()
    expect(devices.get_by_label("Push services")).to_have_attribute("aria-invalid", "true")
    devices.get_by_label("Push services").fill("")
    devices.get_by_role("button", name="Save").click()
    expect(devices.get_by_label("Push services")).to_have_value("default")
    assert network.get()["webPushHosts"] == ["default"], "what is left empty is the default"

    expect(page.get_by_text("Whoever runs the service changes them.")).to_be_visible()
    expect(form(page, "Limits")).to_have_count(0)
    expect(page.get_by_role("button", name="Remove this network…")).to_have_count(0)


def test_a_setting_that_is_saved_leaves_its_neighbours_as_others_set_them(stage):
    stage.expects("404")
    network = stage.network()
    page = stage.open(f"{network.id}/settings", session=network)
    network.patch(body={"defaultLocale": "th"})
    form(page, "Name and language").get_by_label("Name", exact=True).fill("Acme")
    save(page, "Name and language")
    assert (network.get()["displayName"], network.get()["defaultLocale"]) == ("Acme", "th")
    expect(form(page, "Name and language").get_by_label("Language")).to_have_value("th")


def test_what_is_typed_while_settings_are_saved_stays(stage):
    stage.expects("404")
    network = stage.network()
    page = stage.open(f"{network.id}/settings", session=network)
    own, sent = form(page, "Name and language"), held(page, f"**{network.path()}")
    own.get_by_label("Name", exact=True).fill("Acme")
    own.get_by_role("button", name="Save").click()
    until(lambda: page.evaluate("1") and sent, "it is being saved")
    own.get_by_label("Language").fill("th")
    sent[0].continue_()
    expect(page.locator(".toast", has_text="Saved.")).to_be_visible()
    expect(own.get_by_label("Language")).to_have_value("th")
    own.get_by_role("button", name="Save").click()
    until(lambda: page.evaluate("1") and network.get()["defaultLocale"] == "th", "the other is saved, too")
    assert network.get()["displayName"] == "Acme"


def test_the_operator_changes_limits_and_puts_them_back(stage):
    stage.expects("400", "404")
    network = stage.network()
    page = stage.open(f"{network.id}/settings", session="operator")
    limits = form(page, "Limits")
    limits.get_by_label("Devices of a user").fill("7")
    limits.get_by_label("Events a second").fill("5")
    limits.get_by_label("Requests a second by an app’s key").fill("9")
    save(page, "Limits")
    found = network.get()["limits"]
    assert (found["devicesPerUser"], found["eventsPerSecond"], found["requestsPerSecond"]) == (7, 5, {"user": 20, "app": 9})
    limits.get_by_label("Devices of a user").fill("many")
    limits.get_by_role("button", name="Save").click()
    expect(limits.get_by_label("Devices of a user")).to_have_attribute("aria-invalid", "true")
    limits.get_by_label("Devices of a user").fill("")
    limits.get_by_label("Events a second").fill("")
    limits.get_by_role("button", name="Save").click()
    expect(limits.get_by_label("Devices of a user")).to_have_value("50")
    assert network.get()["limits"]["eventsPerSecond"] is None


def test_a_server_is_asked_about_foreign_tokens_and_nobody_again(stage):
    stage.expects("404", "400")
    network = stage.network()
    page = stage.open(f"{network.id}/settings", session=network)
    foreign = form(page, "Foreign user tokens")
    foreign.get_by_label("Address").fill(stage.receiver.url)
    foreign.get_by_label("Where the user’s id").fill("id")
    foreign.get_by_role("button", name="Save").click()
    expect(foreign.get_by_label("Where the user’s id")).to_have_attribute("aria-invalid", "true")
    foreign.get_by_label("Where the user’s id").fill("/id")
    save(page, "Foreign user tokens")
    assert network.get("user-token-introspection")["url"] == stage.receiver.url
    foreign.get_by_role("button", name="Ask nobody").click()
    page.get_by_role("dialog").get_by_role("button", name="Ask nobody").click()
    expect(foreign.get_by_role("button", name="Ask nobody")).to_have_count(0)
    try:
        network.get("user-token-introspection")
        raise AssertionError("somebody is asked")
    except Refused as refusal:
        assert refusal.status == 404


def test_a_network_is_removed_only_by_who_types_its_id(stage):
    stage.expects("404")
    network = stage.network()
    page = stage.open(f"{network.id}/settings", session="operator", width=360, height=740)
    page.get_by_role("button", name="Remove this network…").click()
    dialog = page.get_by_role("dialog")
    assert not faults_of(page)
    dialog.get_by_label("Type the network’s id").fill(network.id + "x")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("This is not its id.")
    assert network.get()["id"] == network.id
    dialog.get_by_label("Type the network’s id").fill(network.id)
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_have_text("Networks")
    assert network.id not in [each["id"] for each in stage.service.call("GET", "/v1/networks?limit=1000")["items"]]
