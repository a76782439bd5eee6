"""What the page of providers does besides its main act: files that are no credentials, and lanes that are held up."""

import json

from playwright.sync_api import expect

DROP = """([name, text]) => {
    const files = new DataTransfer();
    files.items.add(new File([text], name));
    for (const type of ["dragover", "drop"]) {
        const event = new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: files });
        document.querySelector(".drop-zone").dispatchEvent(event);
    }
}"""
ACCOUNT = {"type": "service_account", "project_id": "acme-prod", "client_email": "push@acme-prod.iam.gserviceaccount.com"}


def test_what_cannot_be_a_credential_is_not_sent(stage):
    network = stage.network()
    page = stage.open(f"{network.id}/providers", session=network)
    sent = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "PUT" else None)
    for name, text, said in [
        ("service.json", json.dumps(ACCOUNT), "private_key is missing."),
        ("google-services.json", json.dumps({"project_info": {}, "client": []}), "which belongs in the app"),
        ("cut.p8", "-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----", "The key cannot be read"),
        ("notes.txt", "hello", "no service account"),
    ]:
        page.evaluate(DROP, [name, text])
        expect(page.get_by_role("dialog")).to_contain_text(said)
        expect(page.get_by_role("button", name="Save")).to_be_disabled()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    assert sent == []


def test_the_button_that_helps_is_beside_the_lane(stage):
    network = stage.network()
    network.put("providers", "webpush", body={"subject": "mailto:ops@acme.example"})
    since = "2026-11-20T10:00:00.000Z"
    brake = {"since": since, "reason": "brake: 60 of 70 devices reported as gone"}
    lane = {"appId": None, "host": None, "circuit": "open", "since": since, "reason": "403", "brake": None}
    lanes = [
        lane | {"provider": "webpush", "host": "push.example"},
        lane | {"provider": "webpush", "host": "gone.example", "circuit": "closed", "reason": None, "brake": brake},
        lane | {"provider": "webhook", "host": "hooks.example"},
    ]
    context = stage.context(network)
    context.route("**/v1/networks/*/providers", lambda route: route.fulfill(json={"items": lanes}))
    page = stage.open(f"{network.id}/providers", context=context)
    with page.expect_response("**/providers/webpush") as answer:
        page.locator("tr", has_text="push.example").get_by_role("button", name="Try again now").click()
    assert answer.value.request.method == "PUT" and answer.value.status == 200
    gone = page.locator("tr", has_text="gone.example")
    gone.get_by_role("button", name="Release the brake").click()
    with page.expect_response("**/webpush/release") as answer:
        page.get_by_role("button", name="Release for an hour").click()
    assert answer.value.status == 202 and answer.value.request.post_data_json == {"host": "gone.example"}
    gone.get_by_role("button", name="Restore devices").click()
    with page.expect_response("**/devices/restore") as answer:
        page.get_by_role("dialog").get_by_role("button", name="Restore", exact=True).click()
    assert answer.value.status == 200
    expect(page.locator("tr", has_text="hooks.example").get_by_role("button")).to_have_count(0)
    page.get_by_role("button", name="Make a new secret").click()
    page.get_by_role("dialog").get_by_role("button", name="Make a new secret").click()
    expect(page.locator(".secret-value")).to_contain_text("whsec_")


def test_what_helps_depends_on_the_reason(stage):
    network = stage.network()
    lane = {"provider": "apns", "host": None, "circuit": "open", "since": "2026-11-20T10:00:00.000Z", "brake": None}
    reasons = {
        "no credential for app": ("Paused", "Add credential"), "InvalidProviderToken": ("Failing", "Replace credential"),
        "token endpoint: invalid_grant": ("Failing", "Replace credential"), "name not found": ("Failing", None),
        "connection refused": ("Failing", None), "token endpoint: http 503": ("Failing", None), "something new": ("Failing", "Replace credential"),
    }
    lanes = [lane | {"appId": f"app-{number}", "reason": reason} for number, reason in enumerate(reasons)]
    context = stage.context(network)
    context.route("**/v1/networks/*/providers", lambda route: route.fulfill(json={"items": lanes}))
    context.route("**/providers/apns/apps/*", lambda route: route.fulfill(status=404, json={}))
    stage.expects("404")
    page = stage.open(f"{network.id}/providers", context=context)
    rows = page.get_by_role("table", name="Lanes")
    for number, (reason, (state, button)) in enumerate(reasons.items()):
        row = rows.locator("tr", has_text=f"app-{number}")
        expect(row).to_contain_text(state)
        expect(row).to_contain_text(reason)
        assert row.get_by_role("button").all_inner_texts() == ([button] if button else []), reason
    expect(rows.locator("tr", has_text="name not found")).to_contain_text("No name server knows this host")
    expect(rows.locator("tr", has_text="connection refused")).to_contain_text("It is tried again by itself")
