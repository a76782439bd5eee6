"""Names and texts that want to be something else show as themselves."""

import json
import re

from playwright.sync_api import expect

import test_looks
from service import segment
from stage import visit

NAMES = [
    "<img src=x onerror=\"window.hostile='img'\">",
    "</style><style>body{display:none}</style>",
    "javascript:window.hostile='url'",
    "\u202eevil\u202c \u2066عربي",
    "\u200b\u2060\u200b",
    "\"><script>window.hostile='script'</script>",
    "{{Message}} %2s ${window.hostile=1}",
    "W" * 10_000,
    "Ẓ̴̢̛͔̳̮̤̭͙́̑̓a̶̱̼͎̅l̵̻̈́g̵̳̀o̷͇͐ " * 20,
]
# What people, and the servers of strangers, have written wherever the API shows it.
TEXTS = {"displayName", "label", "description", "reason", "error", "lastError", "stateReason", "title", "body", "detail", "failure"}
WATCH = "window.hostile = null; window.alert = () => { window.hostile = 'alert'; };"


def spoil(value, number):
    """An answer with hostile texts in the place of all others."""
    if isinstance(value, list):
        return [spoil(each, number + place) for place, each in enumerate(value)]
    if not isinstance(value, dict):
        return value
    return {
        key: NAMES[(number + place) % len(NAMES)]
        if key in TEXTS and (each is None or isinstance(each, str)) else spoil(each, number + place)
        for place, (key, each) in enumerate(value.items())
    }


def check(page, where):
    assert page.evaluate("window.hostile") is None, where
    assert page.locator("img[src=x], main style, main script").count() == 0, where
    assert page.evaluate("getComputedStyle(document.body).display") != "none", where
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{where} is {wide} px too wide"
    bad = page.evaluate("[...document.querySelectorAll('a[href]')].map((a) => a.protocol).filter((p) => !/^(https?|mailto):$/.test(p))")
    assert bad == [], f"{where}: {bad}"


def test_whatever_the_api_says_is_shown_as_text_on_every_page(stage):
    # The previews of templates are asked for with what the answers said, and not all dialects are set up.
    stage.expects("400 (Bad Request)", "404 (Not Found)")
    network, event = test_looks.filled(stage)
    context = stage.context(network, width=360, height=740, script=WATCH)
    numbers = iter(range(10_000))

    def answer(route):
        if route.request.method not in ("GET", "POST"):
            return route.continue_()
        response = route.fetch()
        if "json" not in response.headers.get("content-type", "") or not response.ok:
            return route.fulfill(response=response)
        body = spoil(response.json(), next(numbers))
        return route.fulfill(response=response, body=json.dumps(body), headers=response.headers)

    context.route("**/v1/networks/**", answer)
    page = stage.open("acme/keys", context=context)
    for address in test_looks.addresses(network, event):
        visit(page, address)
        check(page, address)


def test_hostile_names_come_through_the_real_service_as_they_are(stage):
    network = stage.network("a<b>&\"'/é%2F", NAMES[0])
    for number, name in enumerate(NAMES):
        if len(name.encode()) <= 256:
            network.post("api-keys", body={"role": "events", "label": name})
        if len(name.encode()) <= 1000:
            network.put("users", f"<i>{number}</i>", body={"displayName": name})
    page = stage.open(f"{network.path('').split('/')[3]}/keys", session=network, width=360, script=WATCH)
    expect(page.get_by_text(NAMES[0]).first).to_be_attached()
    labels = page.locator("tbody tr").all_inner_texts()
    assert any("javascript:window.hostile='url'" in each for each in labels)
    assert any("U+200B" in each for each in labels), "what is invisible is spelt out"
    check(page, "keys")
    visit(page, f"/console/{network.path('').split('/')[3]}/people")
    expect(page.get_by_text(NAMES[0]).first).to_be_attached()
    check(page, "people")
    page.locator("tbody a").first.click()
    expect(page.locator("main h1")).to_be_visible()
    check(page, "one of the people")
    page = stage.open(session="operator", width=360, height=740, script=WATCH)
    expect(page.get_by_text(NAMES[0]).first).to_be_attached()
    expect(page.get_by_text(network.id).first).to_be_attached()
    check(page, "the operator's list")


def test_what_ails_networks_is_shown_as_text_in_the_operators_list(stage):
    # What endpoints of strangers answered stands in it, and so does what any admin called things.
    items = [
        {
            "network": each, "displayName": NAMES[number - 1], "state": "failing", "events": {"lastHour": 1}, "oldestSeconds": 81,
            "reasons": [
                {"kind": kind, "name": each, "since": "2026-11-20T10:00:00.000Z", "detail": NAMES[number - 2]}
                for kind in ("endpoint", "source", "lane", "brake")
            ],
        }
        for number, each in enumerate(NAMES)
    ]
    context = stage.context("operator", width=360, height=740, script=WATCH)
    context.route(re.compile(r"/v1/overview"), lambda route: route.fulfill(json={"items": items}))
    page = stage.open(context=context)
    rows = page.get_by_role("table", name="Networks").locator("tbody tr")
    expect(rows).to_have_count(len(NAMES))
    for each in NAMES[:3]:
        expect(page.get_by_text(each).first).to_be_attached()
    expect(rows.nth(2)).to_contain_text(f"Endpoint: {NAMES[2]} {NAMES[0]}")
    expect(page.locator(".turn", has_text="RLO").first).to_be_attached()
    check(page, "the operator's list")
    assert not test_looks.faults_of(page)
    page.get_by_label("Name or id").fill(NAMES[0])
    expect(rows).to_have_count(2)
    check(page, "what the operator found")


def test_hostile_ids_come_through_every_page_that_sets_a_network_up(stage):
    stage.expects("404")
    ids = ["<script>window.hostile='id'</script>", "\u202eevil\u202c %2F/..?#&", "W" * 200, "عربي \u2066a"]
    names = [NAMES[5], NAMES[3], "W" * 200, ""]
    network = stage.network(name=NAMES[5])
    network.load(
        *({"user": {"id": each, "displayName": name}} for each, name in zip(ids, names)),
        *({"channel": {"id": each, "displayName": name}} for each, name in zip(ids, names)),
        *({"member": {"channelId": ids[0], "userId": each}} for each in ids),
        *({"subscription": {"tag": ids[0], "userId": each}} for each in ids),
    )
    for each, name in zip(ids, names):
        network.put("tags", each, body={"description": name})
        network.put("sources", each, body={"url": stage.receiver.url, "intervalSeconds": 3600, "enabled": False})
        network.post("events", body={"id": each, "type": each})
    page = stage.open(f"{network.id}/settings", session=network, width=360, height=740, script=WATCH)
    expect(page.get_by_label("Name", exact=True)).to_have_value(NAMES[5])
    check(page, "settings")
    for address in ("people", "channels", "tags", "sources", "posts", "send", "import"):
        visit(page, f"/console/{network.id}/{address}")
        if address not in ("send", "import"):
            expect(page.get_by_text(ids[0]).first).to_be_attached()
            expect(page.locator(".turn", has_text="RLO").first).to_be_attached()
        check(page, address)
    for address in ("channels", "tags"):
        for each in ids:
            visit(page, f"/console/{network.id}/{address}/{segment(each)}")
            check(page, f"{address} {each}")
        visit(page, f"/console/{network.id}/{address}/{segment(ids[0])}")
        expect(page.locator("main tbody tr")).to_have_count(4)
        page.get_by_role("button", name=f"Remove {ids[0]}").click()
        expect(page.locator("main tbody tr")).to_have_count(3)
        check(page, f"{address}, one fewer")
    assert not test_looks.faults_of(page)


def test_what_turns_the_direction_of_a_name_is_seen_instead_of_obeyed(stage):
    network = stage.network()
    network.put("users", "bob", body={"displayName": "\u202eevil\u202c \u2067gpj.exe"})
    network.put("users", "blank", body={"displayName": "\u202e\u2066 \u2069"})
    page = stage.open(f"{network.id}/people", session=network)
    bob = page.locator("tr", has_text="bob").locator(".name").first
    expect(bob).to_have_text("RLOevilPDF RLIgpj.exe")
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", page.locator("main").inner_text())
    expect(bob.locator(".turn").first).to_have_attribute("title", re.compile(r"^U\+202E: "))
    expect(page.locator("tr", has_text="blank").locator(".invisible")).to_contain_text("U+202E U+2066")
    assert not test_looks.faults_of(page)


def test_what_other_systems_call_things_is_shown_as_text(stage):
    network = stage.network()
    at = "2026-11-20T10:00:00.000Z"
    answers = {
        "faces": {"items": [
            {"face": "ably", "externalId": each, "ios": {"appId": each}, "namespaces": {each: {"push": True}}, "updatedAt": at} for each in NAMES
        ]},
        "keys": {"items": [{"name": each, "label": each, "rights": {each: [each]}, "createdAt": at} for each in NAMES]},
        "recent": {"items": [
            {"at": at, "operation": each, "verdict": each, "status": 400, "reason": each, "eventId": each} for each in NAMES
        ]},
        "dialects": {"items": [{"dialect": "cloudevents", "document": {
            "enabled": True, "secrets": [{"setAt": at}], "basic": {"user": NAMES[0], "setAt": at}, "ignoreSenders": NAMES, "updatedAt": at,
        }}]},
        "preview": {"status": NAMES[0], "events": [{"type": each, "data": {each: each}} for each in NAMES]},
    }
    context = stage.context(network, width=360, height=740, script=WATCH)
    asked = re.compile(r"/v1/networks/[^/]+/(?:faces|dialects)")
    context.route(asked, lambda route: route.fulfill(json=answers[route.request.url.split("?")[0].split("/")[-1]]))

    page = stage.open(f"{network.id}/faces", context=context)
    check(page, "faces")
    visit(page, f"/console/{network.id}/faces/ably")
    for each in NAMES[:4]:
        expect(page.get_by_text(each).first).to_be_attached()
    check(page, "a face")
    page.get_by_role("button", name="Change").first.click()
    expect(page.get_by_role("dialog").get_by_label("iOS: app")).to_have_value(NAMES[0])
    check(page, "settings of a face")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Revoke").first.click()
    expect(page.get_by_role("dialog")).to_contain_text(NAMES[0])
    page.keyboard.press("Escape")

    visit(page, f"/console/{network.id}/dialects/cloudevents")
    expect(page.get_by_text(NAMES[0]).first).to_be_attached()
    page.get_by_label("Body").fill(NAMES[0])
    page.get_by_role("button", name="Read it").click()
    expect(page.locator(".preview-event")).to_have_count(len(NAMES))
    check(page, "a dialect")
