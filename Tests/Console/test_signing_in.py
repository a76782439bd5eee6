"""Coming in, finding one's way, and going out."""

from playwright.sync_api import expect

from service import segment
from stage import settled


def sign_in(page, key):
    page.get_by_label("Key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def test_a_wrong_key_is_refused_in_words(stage):
    stage.expects("401")
    page = stage.open()
    sign_in(page, "ck_nobody_nothing_bm9uZQ")
    expect(page.get_by_text("does not know this key")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('carillon.session')") is None


def test_a_key_that_is_for_something_else_is_refused_in_words(stage):
    network = stage.network()
    key = network.post("api-keys", body={"role": "events", "label": "Back end"})["apiKey"]
    page = stage.open()
    sign_in(page, key)
    expect(page.get_by_text("needs an admin key")).to_be_visible()


def test_an_admin_lands_in_their_network_and_comes_back_after_a_reload(stage):
    network = stage.network()
    page = stage.open()
    sign_in(page, network.key)
    page.wait_for_url(f"**/console/{network.id}/overview")
    page.get_by_role("link", name="Keys", exact=True).click()
    expect(page.locator("h1")).to_have_text("Keys")
    page.reload()
    expect(page.locator("h1")).to_have_text("Keys")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Overview")
    assert network.key not in page.url
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Key")).to_be_visible()
    assert page.evaluate("Object.values(sessionStorage).join() + Object.values(localStorage).join()").find(network.key) < 0


def test_the_menu_of_a_phone_closes_and_leaves_the_page_usable(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/keys", session=network, width=360, height=740)
    menu = page.get_by_role("button", name="Menu")
    menu.click()
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, network.key)
    expect(page.locator("h1")).to_have_text("Keys")
    settled(page)
    menu.click()
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(page.locator(".content")).to_have_js_property("inert", False)
    menu.click()
    page.set_viewport_size({"width": 1440, "height": 740})
    expect(page.locator(".content")).to_have_js_property("inert", False)
    page.get_by_role("button", name="New API key").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_an_operator_makes_a_network_and_sees_its_secrets_once(stage):
    page = stage.open(session="operator")
    page.get_by_role("button", name="Make a network").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Id").fill("made/here")
    dialog.get_by_role("button", name="Make it").click()
    secret = page.locator(".secret-value").first
    expect(secret).to_contain_text("ck_")
    key = secret.inner_text()
    page.keyboard.press("Escape")
    expect(secret).to_be_visible()
    page.get_by_role("button", name="I have stored them").click()
    page.wait_for_url(f"**/console/{segment('made/here')}/overview")
    settled(page)
    expect(page.locator("dialog")).to_have_count(0)
    assert key not in page.content()
    assert stage.service.call("GET", f"/v1/networks/{segment('made/here')}", token=key)["id"] == "made/here"


def test_an_address_that_is_none_says_so(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/nowhere/at/all", session=network)
    expect(page.locator("h1")).to_have_text("No such page")
