"""The pages by which a network is set up, with the keyboard alone and where there is little room."""

from playwright.sync_api import expect

from stage import settled, tab_to, until


def go(page, name):
    page.evaluate("document.querySelector('nav a').focus()")
    tab_to(page, "link", name)
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_have_text(name)
    # On the heading, or in the search where a page begins with one.
    expect(page.locator("main h1:focus, main input[type=search]:focus")).to_have_count(1)
    settled(page)


def test_a_network_is_set_up_by_keyboard(stage):
    stage.expects("404")
    network = stage.network()
    page = stage.open(f"{network.id}/overview", session=network)
    dialog, focused = page.get_by_role("dialog"), page.locator(":focus")

    go(page, "Settings")
    tab_to(page, "textbox", "Name")
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    until(lambda: network.get()["displayName"] == "By keyboard", "the network has its name")

    go(page, "Channels")
    tab_to(page, "button", "New channel")
    page.keyboard.press("Enter")
    expect(dialog.locator("[name=id]")).to_be_focused()
    page.keyboard.type("general")
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_have_text("general")
    tab_to(page, "combobox", "New member: user")
    page.keyboard.type("bob")
    page.keyboard.press("Enter")
    until(lambda: network.get("channels", "general", "members")["items"], "Bob is a member")
    expect(focused).to_have_attribute("name", "users")
    expect(page.get_by_role("button", name="Remove bob")).to_be_visible()
    page.keyboard.press("Shift+Tab")
    expect(focused).to_have_text("Remove bob")
    page.keyboard.press("Enter")
    until(lambda: not network.get("channels", "general", "members")["items"], "Bob is none any more")

    go(page, "Tags")
    tab_to(page, "button", "New tag")
    page.keyboard.press("Enter")
    expect(dialog.locator("[name=id]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(focused).to_have_text("New tag")

    go(page, "Sources")
    tab_to(page, "button", "New source")
    page.keyboard.press("Enter")
    page.keyboard.type("crm")
    page.keyboard.press("Tab")
    page.keyboard.type(stage.receiver.url)
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("Source secret")
    tab_to(page, "button", "I have stored it")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Change crm")).to_be_visible()
    network.delete("sources", "crm")

    network.load({"device": {"id": "bob-log", "userId": "bob", "provider": "log"}})
    go(page, "Send")
    tab_to(page, "combobox", "Users")
    page.keyboard.type("bob")
    tab_to(page, "textbox", "Text")
    page.keyboard.type("By keyboard")
    tab_to(page, "button", "Send…")
    page.keyboard.press("Enter")
    tab_to(page, "button", "Send")
    page.keyboard.press("Enter")
    expect(page.locator("[data-step=done][data-state=done]")).to_be_visible()

    go(page, "Recent posts")
    tab_to(page, "button", "Copy address")
    go(page, "Import")
    with page.expect_file_chooser():
        tab_to(page, "button", "Choose a file…")
        page.keyboard.press("Enter")
    go(page, "Templates")
    tab_to(page, "link", "Built-in : Message sent in Arabic")
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_have_text("Message sent in Arabic")
