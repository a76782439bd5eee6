"""Placements: how each is and which take new networks, where a network is made, and whose networks are missing in the list."""

import json

from playwright.sync_api import expect

import placements
import test_hostile
from service import Network
from stage import settled, tab_to, until, visit
from test_looks import VISIBLE_RULES, faults_of


def divided(stage, **states):
    """Two placements in the states that are named; otherwise `default` is open, and `p1` is full."""
    stage.divide()
    for name, state in ({"default": "open", "p1": "full"} | states).items():
        stage.service.call("PATCH", f"/v1/placements/{name}", {"state": state})


def said_of(stage, name):
    return next(each for each in stage.service.call("GET", "/v1/placements") if each["name"] == name)


def state_of(stage, name):
    return said_of(stage, name)["state"]


def rows_of(page):
    return page.get_by_role("table", name="Placements").locator("tbody tr")


def test_with_one_placement_the_operator_hears_of_none(stage):
    stage.expects("404")
    network = stage.network()
    page = stage.open(session="operator")
    with page.expect_response("**/v1/placements") as answer:
        page.reload()
    assert len(answer.value.json()) == 1
    settled(page)
    expect(page.get_by_role("columnheader", name="Id")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Placement")).to_have_count(0)
    with page.expect_response("**/v1/placements"):
        page.get_by_role("button", name="Make a network").first.click()
    expect(page.get_by_role("dialog").get_by_label("Id")).to_be_focused()
    expect(page.get_by_role("dialog").get_by_label("Placement")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Placements")).to_have_count(0)
    visit(page, f"/console/{network.id}/settings")
    expect(page.get_by_role("region", name="Placement")).to_have_count(0)
    visit(page, "/console/placements")
    expect(rows_of(page)).to_have_count(1)
    expect(rows_of(page).get_by_role("button")).to_have_count(0)


def test_the_operator_sees_how_placements_are(stage):
    divided(stage)
    page = stage.open(session="operator")
    page.get_by_role("link", name="Placements").click()
    expect(page.locator("main h1")).to_have_text("Placements")
    expect(page.locator("nav [aria-current=page]")).to_have_text("Placements")
    rows = rows_of(page)
    expect(rows).to_have_count(2)
    home, other = (rows.filter(has=page.get_by_text(name, exact=True)) for name in ("default", "p1"))
    expect(home).to_contain_text("Open")
    expect(home.locator("[data-title='Can be used']")).to_have_text("Yes")
    expect(home.locator("[data-title=Schema]")).to_have_text(str(said_of(stage, "default")["schema"]["version"]))
    expect(home.locator("[data-title=Size]")).to_contain_text("MiB")
    expect(other.locator("[data-title=State]")).to_have_text("Full")

    # Somebody else opens it.
    stage.service.call("PATCH", "/v1/placements/p1", {"state": "open"})
    expect(other.locator("[data-title=State]")).to_have_text("Open")
    page.reload()
    expect(rows).to_have_count(2)
    assert page.title() == "Placements · Carillon"


def test_a_placement_that_is_away_is_said_and_whose_networks_are_missing(stage):
    divided(stage)
    Network(stage.service, "still-there", "Still there")
    with placements.away(stage.first, "p1"):
        stage.service.stop()
        stage.service.start()
        stage.service.wait()
        page = stage.open("placements", session="operator")
        row, usable = rows_of(page).nth(1), rows_of(page).nth(1).locator("[data-title='Can be used']")
        expect(usable).to_contain_text("No")
        expect(usable).to_contain_text("not currently accepting connections")
        for column in ("Schema", "Size"):
            expect(row.locator(f"[data-title={column}]")).to_have_text("not known")
        visit(page, "/console")
        missing = page.locator(".notice", has_text="missing here")
        expect(missing).to_contain_text("its networks are missing here: p1.")
        expect(page.get_by_role("table", name="Networks").locator("tbody tr", has_text="still-there")).to_be_visible()
        missing.get_by_role("link").click()
        expect(page.locator("main h1")).to_have_text("Placements")
        settled(page)
    # Once it is back, the page says so by itself.
    until(lambda: said_of(stage, "p1")["ready"], "p1 is back", 60)
    expect(usable).to_have_text("Yes", timeout=30_000)
    visit(page, "/console")
    expect(missing).to_have_count(0)


def test_what_migrations_a_placement_lacks_is_said(stage):
    divided(stage)
    context = stage.context("operator")

    def answer(route):
        body = route.fetch().json()
        body[1]["schema"] = {"version": 58, "pending": ["0059_a", "0060_b", "0061_c", "0062_d"]}
        route.fulfill(json=body)

    context.route("**/v1/placements", answer)
    page = stage.open("placements", context=context)
    expect(rows_of(page).nth(1).locator("[data-title=Schema]")).to_have_text("4 pending58; lacks 0059_a, 0060_b, 0061_c and 1 more")


def test_the_operator_says_which_placements_take_new_networks(stage):
    stage.expects("409")
    divided(stage)
    page = stage.open("placements", session="operator")
    dialog, other = page.get_by_role("dialog"), rows_of(page).nth(1)
    other.get_by_role("button", name="Open p1").click()
    expect(dialog).to_contain_text("Open it for new networks?")
    expect(dialog).to_contain_text("The placement is p1, with ")
    expect(dialog).to_contain_text("Every replica has to know the placement")
    dialog.get_by_role("button", name="Cancel").click()
    assert state_of(stage, "p1") == "full"
    other.get_by_role("button", name="Open p1").click()
    dialog.get_by_role("button", name="Open it").click()
    expect(dialog).to_have_count(0)
    expect(other.locator("[data-title=State]")).to_have_text("Open")
    assert state_of(stage, "p1") == "open"

    other.get_by_role("button", name="Mark leaving p1").click()
    expect(dialog).to_contain_text("Those that are there stay")
    expect(dialog).not_to_contain_text("No other placement is open")
    dialog.get_by_role("button", name="Mark it as leaving").click()
    expect(other.locator("[data-title=State]")).to_have_text("Leaving")
    assert state_of(stage, "p1") == "leaving"

    home = rows_of(page).nth(0)
    home.get_by_role("button", name="Mark full default").click()
    expect(dialog).to_contain_text("No other placement is open: no network can be made until one is.")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert state_of(stage, "default") == "open"

    # What is refused is said as the API says it.
    page.route("**/v1/placements/p1", lambda route: route.fulfill(
        status=409, content_type="application/problem+json", headers={"x-request-id": "r-placement"},
        body=json.dumps({"type": "about:blank", "title": "Conflict", "status": 409, "detail": "there is one placement"})))
    other.get_by_role("button", name="Open p1").click()
    dialog.get_by_role("button", name="Open it").click()
    expect(dialog).to_contain_text("there is one placement")
    expect(dialog).to_contain_text("r-placement")


def test_a_placement_is_opened_by_keyboard(stage):
    divided(stage)
    page = stage.open(session="operator")
    expect(page.get_by_role("link", name="Placements")).to_be_visible()
    page.evaluate("document.querySelector('nav a').focus()")
    tab_to(page, "link", "Placements")
    page.keyboard.press("Enter")
    expect(page.locator("main h1:focus")).to_have_text("Placements")
    settled(page)
    tab_to(page, "button", "Open p1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Open it")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    until(lambda: state_of(stage, "p1") == "open", "p1 is open")
    # In the row that it was in, where other buttons are now.
    expect(rows_of(page).nth(1).locator("button:focus")).to_have_count(1)


def test_a_network_is_made_in_a_placement_and_shown_there(stage):
    stage.expects("404")
    divided(stage)
    Network(stage.service, "at-home", "At home")
    divided(stage, p1="open")
    page = stage.open(session="operator")
    expect(page.locator(".notice")).to_have_count(0)
    page.get_by_role("button", name="Make a network").first.click()
    dialog = page.get_by_role("dialog")
    where = dialog.get_by_label("Placement")
    expect(where).to_be_visible()
    assert where.locator("option").evaluate_all("all => all.map(({ value }) => value)") == ["", "default", "p1"]
    expect(dialog.locator("[name=id]")).to_be_focused()
    dialog.get_by_label("Id").fill("elsewhere")
    where.select_option("p1")
    # It has filled up meanwhile.
    stage.service.call("PATCH", "/v1/placements/p1", {"state": "full"})
    stage.expects("409")
    dialog.get_by_role("button", name="Make it").click()
    expect(dialog.locator(".problem")).to_contain_text("p1")
    stage.service.call("PATCH", "/v1/placements/p1", {"state": "open"})
    dialog.get_by_role("button", name="Make it").click()
    page.get_by_role("button", name="I have stored them").click()
    page.wait_for_url("**/console/elsewhere/overview")
    settled(page)
    assert stage.service.call("GET", "/v1/networks/elsewhere")["placement"] == "p1"

    visit(page, "/console/elsewhere/settings")
    expect(page.get_by_role("region", name="Placement")).to_contain_text("p1")
    assert not (faults := faults_of(page)), faults
    page.get_by_role("region", name="Placement").get_by_role("link", name="p1").click()
    expect(page.locator("main h1")).to_have_text("Placements")
    visit(page, "/console")
    rows = page.get_by_role("table", name="Networks").locator("tbody tr")
    expect(rows.filter(has_text="elsewhere").locator("[data-title=Placement]")).to_have_text("p1")
    expect(rows.filter(has_text="at-home").locator("[data-title=Placement]")).to_have_text("default")
    # Where networks are is asked once.
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_label("Name or id").fill("ELSE")
    expect(rows).to_have_count(1)
    assert not [each for each in asked if "/v1/networks" in each], asked


def test_an_admin_has_no_page_of_placements(stage):
    stage.expects("404")
    divided(stage)
    network = Network(stage.service, "of-an-admin")
    page = stage.open("placements", session=network)
    page.wait_for_url(f"**/console/{network.id}/overview")
    expect(page.get_by_role("link", name="Placements")).to_have_count(0)
    visit(page, f"/console/{network.id}/settings")
    expect(page.get_by_role("region", name="Placement")).to_contain_text("default")
    expect(page.get_by_role("region", name="Placement").get_by_role("link")).to_have_count(0)


def test_placements_are_accessible_and_shown_as_text_on_wide_and_narrow_screens(stage):
    divided(stage)
    Network(stage.service, "looked-at")

    def answer(route):
        body = route.fetch().json()
        for number, each in enumerate(body):
            each["reason"] = test_hostile.NAMES[number] * 3
        route.fulfill(json=body)

    for rules, options in ((None, {}), (VISIBLE_RULES, {"width": 360, "height": 740, "scheme": "dark"})):
        context = stage.context("operator", reduced_motion="reduce", script=test_hostile.WATCH, **options)
        context.route("**/v1/placements", answer)
        page = stage.open(context=context)
        expect(page.get_by_role("columnheader", name="Placement")).to_have_count(1)
        assert not (faults := faults_of(page, *filter(None, [rules]))), faults
        visit(page, "/console/placements")
        expect(page.get_by_text(test_hostile.NAMES[0]).first).to_be_visible()
        expect(page.get_by_text(test_hostile.NAMES[1]).first).to_be_visible()
        test_hostile.check(page, "placements")
        assert not (faults := faults_of(page, *filter(None, [rules]))), faults
        rows_of(page).nth(1).get_by_role("button", name="Open p1").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert not (faults := faults_of(page, *filter(None, [rules]))), faults
