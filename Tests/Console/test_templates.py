"""What the editor of templates does besides its main act: samples, undo, two admins, and where mistakes are marked."""

from playwright.sync_api import expect

from stage import held, until


def test_a_template_is_written_with_its_preview_saved_undone_and_put_back(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/templates", session=network)
    row = page.locator("tr", has=page.get_by_text("fr", exact=True))
    expect(row.get_by_text("Built-in", exact=True)).to_have_count(4)
    row.get_by_role("link").nth(1).click()
    expect(page.locator("main h1")).to_have_text("Member joined in French")
    page.get_by_role("textbox", name="Body One joined").fill("%1s est là (%2s)")
    bodies = page.locator(".device-frame .note-body")
    expect(bodies).to_have_text(["Alice est là (General)"] * 3)
    page.get_by_label("Sample").select_option("placeholder")
    expect(bodies).to_have_text(["%2s est là ({{Message}})"] * 3)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".editor-status")).to_contain_text("Your own")
    assert network.get("templates", "member.joined", "fr")["body"]["one"] == "%1s est là (%2s)"
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator(".editor-status")).to_contain_text("Built-in")
    assert network.get("templates", "member.joined", "fr")["origin"] == "builtIn"

    page.get_by_role("textbox", name="Body One joined").fill("mine %2s")
    network.put("templates", "member.joined", "fr", body={"title": "%s", "body": "theirs"})
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_contain_text("Somebody else has changed this template")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("link", name="All templates").click()
    page.get_by_role("button", name="Leave").click()
    row.get_by_role("link").nth(1).click()
    page.get_by_role("button", name="Back to built-in").click()
    expect(page.locator(".editor-status")).to_contain_text("Built-in")
    page.go_back()
    expect(row.get_by_text("Built-in", exact=True)).to_have_count(4)


def test_what_is_typed_while_a_template_is_saved_stays(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/templates?type=member.joined&locale=fr", session=network)
    body, sent = page.get_by_role("textbox", name="Body One joined"), held(page, "**/templates/member.joined/fr")
    body.fill("%1s est là")
    page.get_by_role("button", name="Save").click()
    until(lambda: page.evaluate("1") and sent, "it is being saved")
    body.fill("%1s est ici")
    sent[0].continue_()
    expect(page.locator(".editor-status")).to_contain_text("Your own")
    expect(page.locator(".editor-status")).to_contain_text("Not saved")
    expect(body).to_have_value("%1s est ici")
    assert network.get("templates", "member.joined", "fr")["body"]["one"] == "%1s est là"


def test_a_mistake_is_shown_at_its_column_and_other_directions_and_lengths_in_frames(stage):
    stage.expects("400", "404")
    network = stage.network()
    page = stage.open(f"{network.id}/templates?type=message.sent&locale=nl", session=network)
    expect(page.locator(".editor-status")).to_contain_text("Missing")
    page.get_by_role("textbox", name="Body Text").fill("👩‍👩‍👧 é 100%, %s")
    mistake = page.locator(".template-field", has=page.get_by_role("textbox", name="Body Text"))
    expect(mistake.locator("mark")).to_have_text("%")
    expect(mistake).to_contain_text("column 8: a lone '%'")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("textbox", name="Body Text")).to_be_focused()
    page.get_by_role("textbox", name="Body Text").fill("«%s»")
    expect(mistake.locator("mark")).to_have_count(0)
    page.get_by_label("Sample").select_option("rtl")
    expect(page.locator(".device-frame.browser .note-title")).to_contain_text("ليلى")
    page.get_by_label("Sample").select_option("long")
    expect(page.locator(".frame-facts")).to_contain_text("text: 302 characters")
    page.get_by_label("Case", exact=True).select_option("image")
    expect(page.locator(".device-frame.iphone .note-body")).to_have_text("Image Message")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".editor-status")).to_contain_text("Your own")
    assert network.get("templates", "message.sent", "nl")["body"]["text"] == "«%s»"


def test_ones_own_templates_are_marked_in_the_grid_and_found_in_it(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/templates", session=network)
    expect(page.get_by_role("radio", name="With your own")).to_have_count(0)
    network.put("templates", "message.sent", "th", body={"title": "%1s", "body": "%s"})
    page.reload()
    own, other = page.locator("td .network"), page.locator("td .builtIn").first
    expect(own).to_have_count(1)
    expect(own).to_contain_text("Your own")
    colour = "element => getComputedStyle(element).backgroundColor"
    assert own.evaluate(colour) != other.evaluate(colour)
    page.get_by_role("radio", name="With your own").check(force=True)
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("Thai")
