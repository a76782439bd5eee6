"""How every page looks: no scrolling sideways, nothing that an accessibility checker calls serious, in either scheme."""

import json

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

import example
from stage import settled, visit

SERIOUS = ["serious", "critical"]
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], "resultTypes": ["violations"]}
# What may differ in another scheme and width; the rest was looked at already.
VISIBLE_RULES = {
    "runOnly": {"type": "rule", "values": [
        "color-contrast", "link-in-text-block", "scrollable-region-focusable", "aria-hidden-focus", "label", "list",
    ]},
    "resultTypes": ["violations"],
}
FIRST_PAGE_LIMIT = 150_000
# Looks for faults; the checker stays in the page.
FAULTS = """async ([serious, options]) => {
    const { violations } = await axe.run(document, options);
    const faults = violations.filter(({ impact }) => serious.includes(impact))
        .flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target} ${html.slice(0, 120)}`));
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (wide > 0) faults.push(`${wide} px too wide`);
    if (matchMedia("(prefers-reduced-motion)").matches && document.getAnimations().length > 0) faults.push("something moves");
    return faults;
}"""


def addresses(network, event):
    """Every page of a network, as it is below /console/."""
    endpoint = network.get("endpoints")["items"][0]["id"]
    pages = ["overview", "switches", "events", f"events/{event}", "posts", "people", "people/emre", "people/emre?tab=why", "channels", "channels/general", "templates",
             "templates?type=message.sent&locale=th", "send", "tags", "tags/beta", "sources", "import", "providers", "endpoints", f"endpoints/{endpoint}", "faces", "faces/ably", "dialects", "dialects/stream",
             "dead-letters", "keys", "settings", "try"]
    return [f"/console/{network.id}/{each}" for each in pages]


def filled(stage, cache={}):
    """One network for all tests that only look."""
    if "network" not in cache:
        cache["network"] = stage.network("acme", "Acme")
        cache["event"] = example.fill(stage, cache["network"])
    return cache["network"], cache["event"]


def faults_of(page, rules=RULES):
    """What is seriously wrong with a page as it is now."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(FAULTS, [SERIOUS, rules])


def look_at_all(stage, rules=RULES, **options):
    # Dialects that are not set up are not found.
    stage.expects("404")
    network, event = filled(stage)
    page = stage.open("acme/overview", session=network, reduced_motion="reduce", **options)
    faults = {}
    for address in addresses(network, event):
        visit(page, address)
        faults[address] = faults_of(page, rules)
    faults = {address: each for address, each in faults.items() if each}
    assert not faults, json.dumps(faults, indent=1, ensure_ascii=False)


def test_every_page_is_accessible_on_a_wide_light_screen(stage):
    look_at_all(stage)


def test_every_page_is_accessible_on_a_narrow_dark_screen(stage):
    look_at_all(stage, VISIBLE_RULES, width=360, height=740, scheme="dark")


def test_the_operators_list_of_networks_is_accessible_on_wide_and_narrow_screens(stage):
    network, _ = filled(stage)
    for options in ({}, {"width": 360, "height": 740, "scheme": "dark"}):
        page = stage.open(session="operator", reduced_motion="reduce", **options)
        row = page.get_by_role("table", name="Networks").locator("tbody tr").filter(has=page.get_by_text(network.id, exact=True))
        expect(row).to_contain_text("Failing")
        assert not (faults := faults_of(page)), faults
        page.get_by_role("button", name="Make a network").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert not (faults := faults_of(page)), faults
        page.keyboard.press("Escape")
        page.get_by_label("Name or id").fill("nobody at all")
        expect(page.get_by_text("No network matches")).to_be_visible()
        assert not (faults := faults_of(page)), faults


def test_the_page_to_sign_in_dialogs_and_the_menu_are_accessible(stage):
    network, _ = filled(stage)
    assert not faults_of(stage.open(width=360, scheme="dark"))
    page = stage.open("acme/keys", session=network, width=360, height=740, reduced_motion="reduce")
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("link", name="Try it")).to_be_visible()
    assert not faults_of(page)
    page.get_by_role("link", name="Your servers").click()
    settled(page)
    page.get_by_role("button", name="New endpoint").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert not faults_of(page)


def test_pages_open_by_their_addresses(stage):
    network, event = filled(stage)
    page = stage.context(network).new_page()
    for address in addresses(network, event)[3:8:2]:
        page.goto(stage.origin + address)
        expect(page.locator("main h1")).to_be_visible()
        settled(page)
        expect(page.locator("nav [aria-current=page]")).to_have_count(1)
        assert page.title().endswith("· acme · Carillon"), page.title()


def test_the_first_page_weighs_little(stage):
    network, _ = filled(stage)
    page = stage.context().new_page()
    page.goto(f"{stage.origin}/console")
    page.get_by_label("Key").fill(network.key)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/acme/overview")
    settled(page)
    expect(page.get_by_role("region", name="First steps")).to_be_visible()
    weights = page.evaluate("""Object.fromEntries(
        [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].filter(({ name }) => name.includes("/console"))
            .map(({ name, encodedBodySize }) => [name, encodedBodySize]))""")
    total = sum(weights.values())
    assert 10_000 < total < FIRST_PAGE_LIMIT, f"{total} bytes: {weights}"
    print(f"  {total} bytes in {len(weights)} files")
