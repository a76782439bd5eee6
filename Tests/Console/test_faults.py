"""What goes wrong around an open page is said politely, and mends itself."""

from playwright.sync_api import expect

import test_looks
from stage import look, settled, tab_to, until, visit

BANNER = "The service does not answer"


def test_the_policy_blocks_what_was_injected(stage):
    stage.expects("Content Security Policy", "violates the following", "Refused to", "foreign.invalid")
    network, _ = test_looks.filled(stage)
    page = stage.open("acme/keys", session=network)
    page.evaluate("""() => {
        const add = (tag, set) => document.body.append(Object.assign(document.createElement(tag), set));
        window.broken = [];
        window.violations = [];
        document.addEventListener("securitypolicyviolation", (event) => violations.push(event.effectiveDirective));
        add("script", { textContent: "window.broken.push('inline script')" });
        add("script", { src: "https://foreign.invalid/script.js" });
        add("img", { src: "https://foreign.invalid/beacon.png" });
        add("link", { rel: "stylesheet", href: "https://foreign.invalid/style.css" });
        document.body.insertAdjacentHTML("beforeend", "<b id=inline onclick=\\"broken.push('handler')\\" style='display:none'>b</b>");
        document.body.insertAdjacentHTML("beforeend", "<a id=go href=\\"javascript:broken.push('url')\\">a</a>");
        document.getElementById("inline").click();
        document.getElementById("go").click();
        fetch("https://foreign.invalid/steal").catch(() => violations.push("fetch"));
    }""")
    page.wait_for_function("violations.includes('fetch') && violations.length >= 8")
    found = set(page.evaluate("violations"))
    assert {"script-src-elem", "script-src-attr", "style-src-attr", "style-src-elem", "img-src", "connect-src"} <= found, found
    assert page.evaluate("broken") == []
    assert page.evaluate("getComputedStyle(document.getElementById('inline')).display") != "none"


def test_the_console_cannot_be_framed(stage):
    stage.expects("frame-ancestors", "Refused to frame", "ERR_BLOCKED_BY_RESPONSE", "404")
    page = stage.context().new_page()
    page.route("**/frame", lambda route: route.fulfill(content_type="text/html", body=f"<iframe src='{stage.origin}/console'></iframe>"))
    page.goto(f"{stage.origin}/frame")
    frame = next(each for each in page.frames if each.parent_frame)
    assert frame.query_selector("#app") is None


def test_a_key_that_is_revoked_while_a_page_is_open_ends_the_session(stage):
    stage.expects("401")
    network = stage.network()
    second = network.post("api-keys", body={"role": "admin", "label": "Other"})
    page = stage.open(f"{network.id}/keys", session=network)
    own = next(key["id"] for key in network.get("api-keys")["items"] if key["id"] != second["id"])
    stage.service.call("DELETE", network.path("api-keys", own))
    page.get_by_role("link", name="Switches").click()
    expect(page.get_by_text("You were signed out.")).to_be_visible()
    page.get_by_label("Key").fill(second["apiKey"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("main h1")).to_have_text("Switches")


def test_a_page_outlives_a_restart_of_the_service(stage):
    stage.expects("ERR_", "503", "Failed to fetch dynamically imported module")
    network = stage.network()
    page, other = (stage.open(f"{network.id}/{each}", session=network) for each in ("events", "keys"))
    stage.service.stop()
    try:
        expect(page.get_by_text(BANNER).first).to_be_visible()
        expect(page.locator("main h1")).to_have_text("Events")
        other.get_by_role("link", name="Templates").click()
        expect(other.get_by_role("alert")).to_contain_text(BANNER)
    finally:
        stage.service.start()
        stage.service.wait()
    # A page that could not be loaded can be, and one that asks for nothing by itself hears that the service is there.
    expect(other.locator(".banner")).to_have_text("")
    expect(other.get_by_role("table")).to_be_visible()
    event = network.say("After the restart")
    expect(page.locator(f"a[href*='{event}']").first).to_be_visible(timeout=30_000)
    expect(page.locator(".banner")).to_have_text("")


def test_a_page_that_is_opened_while_nothing_answers_comes_back_by_itself(stage):
    stage.expects("ERR_", "Failed to fetch dynamically imported module", "503", "404")
    network = stage.network()
    network.put("users", "bob", body={"displayName": "Bob"})
    page = stage.open(f"{network.id}/keys", session=network)
    page.context.set_offline(True)
    page.get_by_role("link", name="Templates").click()
    expect(page.get_by_role("alert")).to_contain_text(BANNER)
    expect(page.get_by_text("This page comes back by itself.")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_role("table")).to_be_visible()

    # What only part of the service refuses, until the alert has been seen: what comes back sooner would not show it.
    def refused(path, link):
        page.route(path, lambda route: route.fulfill(status=503))
        page.get_by_role("link", name=link, exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("503")
        page.unroute(path)

    refused("**/v1/networks/*/users?*", "People")
    expect(page.get_by_role("link", name="Bob")).to_be_visible()
    refused("**/v1/networks/*/tags*", "Tags")
    expect(page.get_by_text("No tag is declared")).to_be_visible()
    refused("**/v1/networks/*", "Settings")
    page.get_by_role("link", name="Overview").focus()
    expect(page.get_by_role("form", name="Name and language")).to_be_visible()
    expect(page.get_by_role("link", name="Overview")).to_be_focused()


def test_who_is_offline_is_told_and_comes_back(stage):
    stage.expects("ERR_INTERNET_DISCONNECTED")
    network = stage.network()
    page = stage.open(f"{network.id}/keys", session=network)
    visit(page, f"/console/{network.id}/switches")
    page.context.set_offline(True)
    page.get_by_role("switch", name="All notifications").click()
    expect(page.get_by_text(BANNER).first).to_be_visible()
    expect(page.get_by_role("switch", name="All notifications")).to_have_attribute("aria-checked", "true")
    page.context.set_offline(False)
    page.get_by_role("switch", name="All notifications").click()
    until(lambda: network.get("notifications")["enabled"] is False, "the switch is off")
    expect(page.locator(".banner")).to_have_text("")


def test_two_admins_at_one_switch_hear_of_each_other(stage):
    stage.expects("412")
    network = stage.network()
    one, other = (stage.open(f"{network.id}/switches", session=network) for _ in range(2))
    # The other one has not looked since: what looks by itself, every now and then, finds nothing new.
    other.route("**/notifications", lambda route: route.fulfill(status=304) if "if-none-match" in route.request.headers else route.fallback())
    one.get_by_role("switch", name="Message sent").click()
    until(lambda: network.get("notifications")["events"]["message.sent"]["enabled"] is False, "the first one is saved")
    other.get_by_role("switch", name="All notifications").click()
    dialog = other.get_by_role("dialog")
    expect(dialog).to_contain_text("Somebody else changed this")
    assert network.get("notifications")["enabled"] is True
    dialog.get_by_role("button", name="Switch it off all the same").click()
    undo = other.locator(".toast", has_text="All notifications: off").get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    assert network.get("notifications")["enabled"] is False
    undo.click()
    expect(other.locator(".toast", has_text="It is as it was before.")).to_be_visible()
    assert network.get("notifications")["enabled"] is True
    assert network.get("notifications")["events"]["message.sent"]["enabled"] is False


def writes(route):
    return route.request.method in ("PUT", "PATCH")


def test_two_switches_in_quick_succession_are_saved_one_after_the_other(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/switches", session=network)
    held = []
    page.route("**/notifications", lambda route: held.append(route) if writes(route) and not held else route.continue_())
    page.get_by_role("switch", name="Message sent").click()
    until(lambda: page.evaluate("1") and held, "the first is under way")
    page.get_by_role("switch", name="Member joined").click()
    expect(page.get_by_role("switch", name="Member joined")).to_have_attribute("aria-busy", "true")
    held[0].continue_()
    for name in ("Message sent", "Member joined"):
        expect(page.locator(".toast", has_text=f"{name}: off")).to_be_visible()
    events = network.get("notifications")["events"]
    assert not events["message.sent"]["enabled"] and not events["member.joined"]["enabled"], events
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_switch_whose_answer_is_lost_is_looked_up_and_said(stage):
    stage.expects("ERR_FAILED", "503")
    network = stage.network()
    page = stage.open(f"{network.id}/switches", session=network)

    def lose(route):
        route.fetch()
        route.abort()

    def doubt(route):
        route.fetch()
        route.fulfill(status=503, content_type="application/problem+json", body='{"type": "/problems/unavailable", "outcome": "unknown"}')

    for name, loses, said, state in (
        ("Message sent", lose, "Message sent: off", "false"),
        ("Member joined", lambda route: route.abort(), "Member joined is not saved: the service did not answer.", "true"),
        ("Channel created", doubt, "Channel created: off", "false"),
    ):
        page.route("**/notifications", lambda route: loses(route) if writes(route) else route.continue_())
        page.get_by_role("switch", name=name).click()
        expect(page.locator(".toast", has_text=f"{name}: whether it is saved is not known")).to_be_visible()
        expect(page.locator(".toast", has_text=said)).to_be_visible()
        expect(page.get_by_role("switch", name=name)).to_have_attribute("aria-checked", state)
        page.unroute("**/notifications")
    page.locator(".toast", has_text="Channel created: off").get_by_role("button", name="Undo").click()
    until(lambda: network.get("notifications")["events"]["channel.created"]["enabled"], "it is on again")
    assert network.get("notifications")["events"]["message.sent"]["enabled"] is False
    expect(page.locator(".toast", has_text="Somebody else")).to_have_count(0)


def test_events_are_not_asked_for_while_nobody_looks(stage):
    network = stage.network()
    page = stage.context(network).new_page()
    page.clock.install()
    page.goto(f"{stage.origin}/console/{network.id}/events")
    expect(page.get_by_text("No event yet")).to_be_visible()
    look = "isHidden => { Object.defineProperty(document, 'hidden', { get: () => isHidden, configurable: true });" \
        " document.dispatchEvent(new Event('visibilitychange')); }"
    page.evaluate(look, True)
    expect(page.locator(".live-badge")).to_contain_text("Resting")
    settled(page)
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/events?" in request.url else None)
    network.say("Hello")
    page.clock.run_for(60_000)
    assert asked == []
    page.evaluate(look, False)
    expect(page.locator("tbody tr")).to_have_count(1)


def test_a_clock_that_is_wrong_is_said_and_does_not_move_times(stage):
    network, _ = test_looks.filled(stage)
    context = stage.context(network)
    page = context.new_page()
    page.clock.install(time="2031-01-01T00:00:00Z")
    page.goto(f"{stage.origin}/console/acme/keys")
    expect(page.get_by_text("This computer’s clock is").first).to_be_visible()
    settled(page)
    assert "d ago" not in page.locator("tbody").first.inner_text()


def test_an_answer_that_took_long_is_no_wrong_clock(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/keys", session=network)
    offsets = page.evaluate("""async () => {
        const { connection } = await import("/console/core/connection.js");
        const hear = (ahead, ms) => {
            connection.hearClock(new Date(Date.now() + ahead).toUTCString(), Date.now() - ms);
            return connection.state.clockOffset;
        };
        return [hear(0, 240_000), hear(-240_000, 240_000), hear(600_000, 0), hear(600_000, 240_000), hear(0, 0)];
    }""")
    assert offsets[:2] == [0, 0] and offsets[4] == 0, offsets
    assert all(597_000 < each < 603_000 for each in offsets[2:4]), offsets


def test_a_page_that_is_not_followed_any_more_says_why(stage):
    stage.expects("403")
    network = stage.network()
    page = stage.open(f"{network.id}/switches", session=network)
    page.route("**/notifications", lambda route: route.fulfill(status=403))
    look(page)
    said = page.locator(".toast", has_text="403")
    expect(said).to_be_visible()
    page.unroute("**/notifications")
    network.patch("notifications", body={"enabled": False})
    said.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("switch", name="All notifications")).to_have_attribute("aria-checked", "false")


def test_everything_can_be_done_by_keyboard(stage):
    network = stage.network()
    page = stage.open()
    page.keyboard.type(network.key)
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_have_text("Overview")

    page.locator("body").evaluate("() => document.activeElement.blur()")
    tab_to(page, "link", "Skip to the page")
    tab_to(page, "link", "Switches")
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_have_text("Switches")
    expect(page.locator("main h1")).to_be_focused()
    tab_to(page, "switch", "All notifications")
    page.keyboard.press("Space")
    until(lambda: network.get("notifications")["enabled"] is False, "the switch is off")
    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    until(lambda: network.get("notifications")["enabled"] is True, "the switch is on again")

    page.evaluate("document.querySelector('nav a').focus()")
    tab_to(page, "link", "Keys")
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_have_text("Keys")
    tab_to(page, "button", "New API key")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    expect(page.locator(".secret-value")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("tr", has_text="By keyboard")).to_be_visible()
