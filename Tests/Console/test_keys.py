"""The page of keys: made, shown once, revoked; and nobody is locked out by accident."""

from playwright.sync_api import expect

from service import Refused
from stage import look, settled, until


def test_a_key_is_made_shown_once_and_revoked(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/keys", session=network, granted=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="New API key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Role").select_option("admin")
    dialog.get_by_label("Label").fill("Second admin")
    dialog.get_by_role("button", name="Make the key").click()
    secret = page.locator(".secret-value")
    expect(secret).to_contain_text("ck_")
    key = secret.inner_text()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == key
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(secret).to_be_visible()
    page.get_by_role("button", name="I have stored it").click()
    # A dialog that is closed goes from the document a moment later.
    expect(secret).to_have_count(0)
    assert key not in page.content()
    assert stage.service.call("GET", network.path("api-keys"), token=key)["items"]

    page.locator("tr", has_text="Second admin").get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()
    expect(page.locator("tr", has_text="Second admin")).to_have_count(0)
    try:
        stage.service.call("GET", network.path("api-keys"), token=key)
        raise AssertionError("the key is still accepted")
    except Refused as error:
        assert error.status == 401


def test_a_dialog_cannot_be_closed_while_what_it_makes_is_under_way(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/keys", session=network)
    held = []
    page.route("**/api-keys", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    page.get_by_role("button", name="New API key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Make the key").click()
    until(lambda: page.evaluate("1") and held, "the request is under way")
    for button in ("Cancel", "Close"):
        dialog.get_by_role("button", name=button, exact=True).click()
        expect(dialog.get_by_role("button", name="Make the key")).to_be_visible()
    page.keyboard.press("Escape")
    held[0].continue_()
    expect(page.locator(".secret-value")).to_contain_text("ck_")


def test_a_secret_that_is_shown_once_stays_when_the_session_ends(stage):
    stage.expects("401")
    network = stage.network()
    page = stage.open(f"{network.id}/endpoints", session=network)
    page.get_by_role("button", name="New endpoint").click()
    page.get_by_role("dialog").get_by_label("URL").fill(stage.receiver.url)
    page.get_by_role("dialog").get_by_role("button", name="Make the endpoint").click()
    expect(page.locator(".secret-value")).to_contain_text("whsec_")
    page.route("**/v1/**", lambda route: route.fulfill(status=401))
    look(page)
    expect(page.locator("main h1")).to_have_text("Sign in")
    expect(page.locator(".secret-value")).to_contain_text("whsec_")
    page.get_by_role("button", name="I have stored it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_page_that_is_left_while_a_key_is_revoked_says_nothing_more(stage):
    network = stage.network()
    network.post("api-keys", body={"role": "events", "label": "Other"})
    page = stage.open(f"{network.id}/keys", session=network)
    for button in ("Revoke key Other", "Remove key"):
        page.get_by_role("button", name=button).click()
        with page.expect_request(lambda request: request.method == "DELETE"):
            page.route("**/v1/**", lambda route: None if route.request.method == "DELETE" else route.continue_())
            page.get_by_role("dialog").get_by_role("button").last.click()
        page.get_by_role("link", name="Tags").click()
        expect(page.locator("main h1")).to_have_text("Tags")
        settled(page)
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.unroute("**/v1/**")
        page.go_back()


def test_the_last_admin_key_cannot_go_by_accident(stage):
    stage.expects("409", "401")
    network = stage.network()
    page = stage.open(f"{network.id}/keys", session=network)
    own = page.locator("tr", has_text="You are signed in with this")
    own.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke it and sign out").click()
    dialog = page.get_by_role("dialog", name="This is the last admin key")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Revoke the last admin key").click()
    expect(dialog).to_contain_text("That is not the network’s id.")
    dialog.get_by_role("button", name="Keep it").click()
    expect(own).to_be_visible()
    assert len(network.get("api-keys")["items"]) == 1

    own.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke it and sign out").click()
    dialog.get_by_role("textbox").fill(network.id)
    dialog.get_by_role("button", name="Revoke the last admin key").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert stage.service.call("GET", network.path("api-keys"))["items"] == []


def test_secrets_are_rotated_and_user_token_keys_added(stage):
    stage.expects("400")
    network = stage.network()
    page = stage.open(f"{network.id}/keys", session=network)
    page.get_by_role("button", name="Rotate").click()
    page.get_by_role("dialog").get_by_label("The former secret goes on").select_option("0")
    page.get_by_role("dialog").get_by_role("button", name="Make a new secret").click()
    expect(page.locator(".secret-value")).to_contain_text("whsec_")
    page.get_by_role("button", name="I have stored it").click()

    page.get_by_role("button", name="Add a key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Kind").select_option("ES256")
    dialog.get_by_label("Public key").fill("not a key")
    dialog.get_by_role("button", name="Add the key").click()
    expect(dialog.locator(".field-error").filter(has_text="PUBLIC KEY")).to_be_visible()
    dialog.get_by_label("Kind").select_option("made")
    dialog.get_by_role("button", name="Add the key").click()
    expect(page.locator(".secret-value")).to_be_visible()
    page.get_by_role("button", name="I have stored it").click()
    expect(page.get_by_role("button", name="Remove")).to_have_count(2)
    page.get_by_role("button", name="Make a token").click()
    page.get_by_role("dialog").get_by_label("User").fill("bob")
    page.get_by_role("dialog").get_by_role("button", name="Make the token").click()
    token = page.locator(".secret-value").inner_text()
    assert stage.service.call("GET", "/v1/whoami", token=token) == {"role": "user", "network": network.id, "userId": "bob"}
    page.get_by_role("button", name="I have stored it").click()

    page.get_by_role("button", name="Remove").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_role("button", name="Remove")).to_have_count(1)
    assert len(network.get("user-token-keys")["items"]) == 1
