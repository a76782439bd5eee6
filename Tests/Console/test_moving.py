"""A network's move to another placement: begun, followed, called back, and what is refused meanwhile."""

import json
import re

from playwright.sync_api import expect

import placements
import test_hostile
from service import Network
from stage import tab_to, until, visit
from test_looks import VISIBLE_RULES, faults_of
from test_placements import divided

STEPS = ["draining", "fenced", "copying", "switching", "purging"]
MOVE = {"from": "default", "to": "p1", "step": "copying", "rows": 12_345, "bytes": 3 << 20, "startedAt": "2026-11-20T10:00:00.000Z",
        "frozenMs": 2400}
REFUSALS = [
    (409, "move-in-progress", "the network moves already"),
    (409, "schemas-differ", "the tables of placements default and p1 are of different releases: migrate both"),
    (409, "only-placement", "there is one placement, where all networks are"),
    (503, "placement-unavailable", "placement p1: the server is away"),
]


def region(page):
    return page.get_by_role("region", name="Placement")


def opened(stage, network, **options):
    stage.expects("404")
    return stage.open(f"{network.id}/settings", session="operator", **options)


def ask(page):
    region(page).get_by_role("button", name="Move to another placement…").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    return page.get_by_role("dialog")


def begin(page):
    ask(page).get_by_role("button", name="Move it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def form(page):
    return page.get_by_role("form", name="Name and language")


def saving(page, text):
    """Saves another name; answers what is said about it."""
    form(page).get_by_label("Name", exact=True).fill(text)
    with page.expect_response(lambda response: response.request.method == "PATCH"):
        form(page).get_by_role("button", name="Save").click()
    said = form(page).locator(".problem").or_(page.locator(".toast", has_text="Saved."))
    expect(said.first).to_be_visible()
    return said.first.inner_text()


def last_step(network):
    return network.service.call("GET", network.path("move"))["step"]


def refuse(route, status, kind, detail, title="It is refused"):
    route.fulfill(status=status, content_type="application/problem+json", headers={"x-request-id": f"r-{kind}"},
                  body=json.dumps({"type": f"/problems/{kind}", "title": title, "status": status, "detail": detail}))


def answers(context, network, move):
    """Has the service say this of a move."""
    context.route(f"**{network.path('move')}", lambda route: route.fulfill(json=move))


def test_a_network_is_moved_and_everything_goes_on_there(stage):
    # Who hears of its arrival first may still be refused.
    stage.expects("503")
    divided(stage)
    network = Network(stage.service, "on-the-way")
    network.put("users", "bob", body={"displayName": "Bob"})
    page = opened(stage, network)
    expect(region(page)).to_contain_text("default")
    expect(region(page).get_by_role("group", name="Move")).to_have_count(0)
    dialog = ask(page)
    assert dialog.get_by_label("Move it to").locator("option").evaluate_all("all => all.map(({ value }) => value)") == ["p1"]
    expect(dialog).to_contain_text("nothing can be changed in it, and events are refused with 503")
    dialog.get_by_role("button", name="Cancel").click()
    assert network.service.call("GET", network.path())["placement"] == "default"

    begin(page)
    expect(page.locator(".toast", has_text="The network is in p1 now.")).to_be_visible(timeout=60_000)
    expect(region(page)).to_contain_text("Moved from default to p1")
    expect(region(page).get_by_role("link")).to_have_text("p1")
    expect(region(page).get_by_role("button", name="Cancel the move")).to_have_count(0)
    expect(region(page).get_by_role("button", name="Move to another placement…")).to_be_visible()
    expect(region(page)).to_contain_text("What is left in default is removed after some minutes.")
    until(lambda: network.service.call("GET", network.path())["placement"] == "p1", "whoever asks is told so")
    assert network.get("users", "bob")["displayName"] == "Bob"

    # What was open goes on, and so does what is opened.
    until(lambda: "Saved." in saving(page, "Arrived"), "it can be changed again")
    assert network.get()["displayName"] == "Arrived"
    visit(page, "/console")
    row = page.get_by_role("table", name="Networks").locator("tbody tr", has_text=network.id)
    expect(row.locator("[data-title=Placement]")).to_have_text("p1")
    visit(page, f"/console/{network.id}/settings")
    expect(region(page)).to_contain_text("Moved from default to p1")


def test_a_move_is_called_back_and_nothing_typed_meanwhile_is_lost(stage):
    stage.expects("503")
    # Elsewhere than at home, where moves are written down.
    divided(stage, default="full", p1="open")
    network = Network(stage.service, "called-back")
    placements.occupy(stage.first, "p1", network.id)
    page = opened(stage, network)
    begin(page)
    expect(region(page).get_by_role("heading", name="On its way from p1 to default")).to_be_focused()
    expect(region(page).locator("[data-step=draining]")).to_have_attribute("data-state", "running")
    expect(region(page).get_by_role("button", name="Move to another placement…")).to_have_count(0)

    until(lambda: "503" in saving(page, "Meanwhile"), "changes are refused", 60)
    name = form(page)
    expect(name.locator(".problem")).to_contain_text("The network is moving to another placement")
    expect(name.locator(".problem")).to_contain_text("nothing was changed")
    expect(name.get_by_label("Name", exact=True)).to_have_value("Meanwhile")
    visit(page, f"/console/{network.id}/tags")
    visit(page, f"/console/{network.id}/settings")
    expect(region(page).get_by_role("heading")).to_contain_text(["Placement", "On its way from p1 to default"])

    with placements.held(stage.first, "p1", network.id):
        region(page).get_by_role("button", name="Cancel the move").focus()
        page.keyboard.press("Enter")
        expect(region(page)).to_contain_text("It is called back, and goes on in p1 in a moment.")
        expect(region(page).get_by_role("button", name="Cancel the move")).to_have_count(0)
        expect(region(page).get_by_role("heading", name="On its way")).to_be_focused()
    expect(page.locator(".toast", has_text="The network stays in p1.")).to_be_visible(timeout=60_000)
    expect(region(page)).to_contain_text("Not moved from p1 to default")
    expect(region(page)).to_contain_text("It was cancelled: everything goes on in p1.")
    expect(region(page).get_by_role("link")).to_have_text("p1")
    assert last_step(network) == "cancelled"
    until(lambda: "Saved." in saving(page, "Afterwards"), "it can be changed again")
    assert network.get()["displayName"] == "Afterwards"


def test_other_pages_keep_what_is_typed_while_their_network_moves_or_is_away(stage):
    stage.expects("503")
    network = stage.network()
    network.put("users", "bob", body={"displayName": "Bob"})
    for kind, title in (("network-moving", "The network is moving to another placement"),
                        ("placement-unavailable", "The placement of the network cannot be used at the moment")):
        context = stage.context(network)

        def answer(route):
            asks = route.request.method == "GET" or route.request.method == "POST" and not route.request.url.endswith("/notifications")
            route.continue_() if asks else refuse(route, 503, kind, "nothing was changed", title)

        context.route(f"**{network.path()}/**", answer)
        page = stage.open(f"{network.id}/channels", context=context)
        page.get_by_role("button", name="New channel").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Id").fill("general")
        dialog.get_by_role("button", name="Make the channel").click()
        expect(dialog.locator(".problem")).to_contain_text(title)
        expect(dialog.get_by_label("Id")).to_have_value("general")
        page.keyboard.press("Escape")

        visit(page, f"/console/{network.id}/send")
        page.get_by_label("Users").fill("bob")
        page.get_by_label("Text").fill("Hello")
        page.get_by_role("button", name="Send…").click()
        dialog.get_by_role("button", name="Send", exact=True).click()
        expect(page.locator(".problem").first).to_contain_text(title)
        page.keyboard.press("Escape")
        expect(page.get_by_label("Text")).to_have_value("Hello")
        expect(page.get_by_label("Users")).to_have_value("bob")

        visit(page, f"/console/{network.id}/switches")
        switch = page.get_by_role("switch", name="All notifications")
        switch.click()
        expect(page.locator(".toast", has_text=f"could not be saved. {title}: nothing was changed")).to_be_visible()
        expect(switch).to_have_attribute("aria-checked", "true")
        # The service itself is not away.
        expect(page.locator(".banner")).to_have_text("")


def test_a_move_that_somebody_else_began_is_said_and_shown(stage):
    stage.expects("409")
    divided(stage)
    network = Network(stage.service, "of-another")
    page = opened(stage, network)
    with placements.held(stage.first, "default"):
        stage.service.call("POST", network.path("move"), {"to": "p1"})
        dialog = ask(page)
        dialog.get_by_role("button", name="Move it").click()
        expect(dialog.locator(".problem")).to_contain_text("the network moves already")
        expect(dialog.get_by_label("Move it to")).to_have_value("p1")
        page.keyboard.press("Escape")
        expect(region(page).get_by_role("heading", name="On its way from default to p1")).to_be_visible()
    expect(region(page)).to_contain_text("Moved from default to p1", timeout=60_000)
    expect(region(page).get_by_role("link")).to_have_text("p1")


def test_a_network_that_is_there_already_is_shown_there(stage):
    divided(stage)
    network = Network(stage.service, "there-already")
    page = opened(stage, network)
    dialog = ask(page)
    stage.service.call("POST", network.path("move"), {"to": "p1"})
    until(lambda: last_step(network) in ("purging", "done"), "it is there", 60)
    dialog.get_by_role("button", name="Move it").click()
    expect(page.locator(".toast", has_text="The network is in p1 already.")).to_be_visible()
    expect(region(page).get_by_role("link")).to_have_text("p1")
    expect(region(page)).to_contain_text("Moved from default to p1")


def test_what_is_refused_about_moves_is_said(stage):
    stage.expects("409", "503", "400")
    divided(stage)
    network = Network(stage.service, "refused")
    context = stage.context("operator")

    def third(route):
        body = route.fetch().json()
        route.fulfill(json=[*body, body[1] | {"name": "p2", "ready": False}])

    context.route("**/v1/placements", third)
    page = opened(stage, network, context=context)
    dialog = ask(page)
    to = dialog.get_by_label("Move it to")
    expect(to.locator("option")).to_have_text(["Choose a placement", re.compile(r"p1 \(full, \d+ networks?\)"), "p2 (full, cannot be used now)"])
    expect(to).to_be_focused()
    dialog.get_by_role("button", name="Move it").click()
    expect(dialog).to_contain_text("This is needed.")
    # The API knows no such placement.
    to.select_option("p2")
    dialog.get_by_role("button", name="Move it").click()
    expect(dialog).to_contain_text("there is no placement \"p2\"")
    to.select_option("p1")
    for status, kind, detail in REFUSALS:
        address = f"**{network.path('move')}"
        page.route(address, lambda route: refuse(route, status, kind, detail) if route.request.method == "POST" else route.continue_())
        dialog.get_by_role("button", name="Move it").click()
        expect(dialog.locator(".problem")).to_contain_text(detail)
        expect(dialog.locator(".problem")).to_contain_text(f"r-{kind}")
        expect(to).to_have_value("p1")
        page.unroute(address)
    page.keyboard.press("Escape")
    expect(region(page).get_by_role("group", name="Move")).to_have_count(0)

    # It is switched over in the moment in which somebody wants it back.
    def answer(route):
        if route.request.method == "DELETE":
            move["step"] = "purging"
            refuse(route, 409, "move-switched", "the network has moved; another move brings it back")
        else:
            route.fulfill(json=move)

    move = dict(MOVE)
    page.route(f"**{network.path('move')}", answer)
    page.reload()
    region(page).get_by_role("button", name="Cancel the move").click()
    expect(page.locator(".toast", has_text="the network has moved; another move brings it back")).to_be_visible()
    expect(region(page)).to_contain_text("Moved from default to p1")


def test_each_step_of_a_move_is_shown(stage):
    divided(stage)
    network = Network(stage.service, "step-by-step")
    move = dict(MOVE)
    context = stage.context("operator")
    answers(context, network, move)
    page = opened(stage, network, context=context)
    cancel = region(page).get_by_role("button", name="Cancel the move")
    for number, step in enumerate(STEPS):
        move["step"] = step
        marks = region(page).locator("[data-step]")
        expect(marks.nth(number)).to_have_attribute("data-state", "running")
        states = marks.evaluate_all("all => all.map(({ dataset }) => dataset.state)")
        assert states == ["done"] * number + ["running"] + ["waiting"] * (len(STEPS) - number - 1), states
        expect(cancel).to_have_count(1 if number < STEPS.index("switching") else 0)
        expect(region(page).get_by_role("button", name="Move to another placement…")).to_have_count(0 if step != "purging" else 1)
        expect(region(page)).to_contain_text("12,345 rows, 3 MiB")
        expect(region(page)).to_contain_text("2.4 s")
    move["step"] = "copying"
    move["startedAt"] = "2026-11-20T11:00:00.000Z"
    page.reload()
    expect(region(page).locator("[data-step=copying]")).to_contain_text("table by table")
    move["rows"] = 23_456
    expect(region(page)).to_contain_text("23,456 rows, 3 MiB")
    move["reason"] = "<b>p1</b> does not answer"
    expect(region(page)).to_contain_text("It does not go on now, and is tried again: <b>p1</b> does not answer")
    move["step"] = "cancelled"
    expect(region(page)).to_contain_text("It stays in default: <b>p1</b> does not answer")
    expect(region(page).get_by_role("listitem")).to_have_count(0)


def test_nothing_is_asked_of_a_move_that_is_over(stage):
    divided(stage)
    network = Network(stage.service, "over")
    move = MOVE | {"from": "p1", "to": "default", "step": "purging"}
    context = stage.context("operator")
    context.clock.install()
    answers(context, network, move)
    asked = []
    context.on("request", lambda request: asked.append(request.url) if request.url.endswith("/move") else None)
    page = opened(stage, network, context=context)
    expect(region(page)).to_contain_text("Moved from p1 to default")
    move["step"] = "done"

    def is_told():
        page.clock.run_for(5_000)
        return region(page).locator(".badge").inner_text() == "Done"

    until(is_told, "what is left behind is looked for now and then")
    del asked[:]
    page.clock.run_for(120_000)
    assert asked == [], asked
    # Of a network that never moved it is asked once.
    context.unroute_all()
    visit(page, f"/console/{network.id}/tags")
    with page.expect_response(f"**{network.path('move')}"):
        visit(page, f"/console/{network.id}/settings")
    del asked[:]
    page.clock.run_for(120_000)
    assert asked == []


def test_where_a_network_went_is_asked_until_it_is_known(stage):
    stage.expects("503")
    divided(stage)
    network = Network(stage.service, "gone-there")
    move = MOVE | {"from": "p1", "to": "default", "step": "purging"}
    context = stage.context("operator")
    context.clock.install()
    answers(context, network, move)
    page = opened(stage, network, context=context)
    expect(region(page)).to_contain_text("Moved from p1 to default")

    # Somebody else moved it on.
    move |= {"from": "default", "to": "p1", "step": "done", "startedAt": "2026-11-20T11:00:00.000Z"}
    is_away = True

    def answer(route):
        if is_away:
            refuse(route, 503, "store-unavailable", "the database does not answer")
        else:
            route.fulfill(json={"placement": "p1"})

    def passes(condition):
        def later():
            page.clock.run_for(5_000)
            return condition()
        return later

    context.route(f"**{network.path()}", answer)
    until(passes(lambda: "the database does not answer" in region(page).inner_text()), "what failed is said")
    expect(region(page)).to_contain_text("Moved from default to p1")
    is_away = False
    until(passes(lambda: region(page).get_by_role("link").inner_text() == "p1"), "it is asked again")
    expect(region(page).locator(".problem")).to_have_count(0)
    asked = []
    context.on("request", lambda request: asked.append(request.url) if request.url.endswith("/move") else None)
    page.clock.run_for(120_000)
    assert asked == [], asked


def test_what_ended_does_not_go_on_when_its_last_look_fails(stage):
    page = stage.open(stage.network().id, session="operator")
    looks = page.evaluate("""async () => {
        const { live } = await import("/console/core/live.js");
        const { ApiError } = await import("/console/core/api.js");
        let looks = 0;
        const heard = [];
        const watch = live(async () => {
            looks += 1;
            await null;
            watch.stop();
            throw new ApiError({ status: 503 });
        }, 1, { onError: (error) => heard.push(error.status) });
        await new Promise((resolve) => { setTimeout(resolve, 100); });
        return [looks, watch.state, heard];
    }""")
    assert looks == [1, "stopped", []], looks


def test_a_move_is_begun_by_keyboard(stage):
    divided(stage)
    network = Network(stage.service, "by-keyboard")
    page = opened(stage, network)
    with placements.held(stage.first, "default"):
        tab_to(page, "button", "Move to another placement…")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog").get_by_label("Move it to")).to_be_focused()
        tab_to(page, "button", "Move it")
        page.keyboard.press("Enter")
        expect(region(page).get_by_role("heading", name="On its way from default to p1")).to_be_focused()
        tab_to(page, "button", "Cancel the move")
        page.keyboard.press("Enter")
    until(lambda: last_step(network) == "cancelled", "it is back", 60)
    expect(region(page)).to_contain_text("Not moved from default to p1")


def test_with_one_placement_and_for_admins_there_are_no_moves(stage):
    stage.expects("404")
    alone = stage.network()
    context = stage.context("operator")
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    page = stage.open(f"{alone.id}/settings", context=context)
    expect(page.get_by_role("form", name="Limits")).to_be_visible()
    expect(page.get_by_text("Move to another placement")).to_have_count(0)
    assert not [each for each in asked if each.endswith("/move")], asked

    divided(stage)
    network = Network(stage.service, "of-its-admin")
    context = stage.context(network)
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    page = stage.open(f"{network.id}/settings", context=context)
    expect(region(page)).to_contain_text("default")
    expect(region(page).get_by_role("button")).to_have_count(0)
    assert not [each for each in asked if each.endswith("/move")], asked


def test_moves_are_accessible_and_shown_as_text_on_wide_and_narrow_screens(stage):
    divided(stage)
    network = Network(stage.service, "looked-at-while-moving")
    for rules, options in ((None, {}), (VISIBLE_RULES, {"width": 360, "height": 740, "scheme": "dark"})):
        for move in (None, MOVE, MOVE | {"reason": test_hostile.NAMES[0]}, MOVE | {"step": "purging"},
                     MOVE | {"step": "cancelled", "reason": test_hostile.NAMES[7]}):
            context = stage.context("operator", reduced_motion="reduce", script=test_hostile.WATCH, **options)
            if move:
                answers(context, network, move)
            page = opened(stage, network, context=context)
            expect(region(page).get_by_role("group", name="Move")).to_have_count(1 if move else 0)
            test_hostile.check(page, "a move")
            assert not (faults := faults_of(page, *filter(None, [rules]))), faults
            if not move:
                ask(page)
                assert not (faults := faults_of(page, *filter(None, [rules]))), faults
