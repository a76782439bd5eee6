"""Notify this browser: a real Web Push through the pipeline, and words for whatever refuses."""

import json

from playwright.sync_api import expect

from push_service import Subscription
from stage import settled, until

# A browser without a push service of its own gets a subscription whose keys this test knows.
SUBSCRIBING = """
if (window.PushManager) {
  const json = SUBSCRIPTION;
  let current = null;
  PushManager.prototype.subscribe = async (options) => {
    if (window.refusal) throw new DOMException(window.refusal[1], window.refusal[0]);
    const key = Uint8Array.from(options.applicationServerKey).buffer;
    current = { endpoint: json.endpoint, options: { applicationServerKey: key }, toJSON: () => json,
      unsubscribe: async () => { current = null; return true; } };
    return current;
  };
  PushManager.prototype.getSubscription = async () => current;
}
"""


def deliver(page, origin, text):
    """Hands a message to the service worker, as the browser does when its push service brings one."""
    session = page.context.new_cdp_session(page)
    registrations, ready = {}, set()

    def see(versions):
        ready.update(each["registrationId"] for each in versions if each["status"] == "activated")

    session.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.update(
        {each["registrationId"]: each for each in event["registrations"]}
    ))
    session.on("ServiceWorker.workerVersionUpdated", lambda event: see(event["versions"]))
    session.send("ServiceWorker.enable")
    while not (found := [each for each in ready if registrations.get(each, {}).get("scopeURL", "").startswith(origin)]):
        page.wait_for_timeout(20)
    session.send("ServiceWorker.deliverPushMessage", {"origin": origin, "registrationId": found[0], "data": text})


class Browser:
    """A page to try it, in a browser with a subscription."""

    def __init__(self, stage, network, subscription=None, **options):
        self.subscription = Subscription(stage.push.origin)
        script = SUBSCRIBING.replace("SUBSCRIPTION", json.dumps(subscription or self.subscription.json))
        options = {"granted": ["notifications"]} | options
        self.page = stage.open(f"{network.id}/try", session=network, script=script, **options)
        self.form = self.page.get_by_role("form", name="Notify this browser")

    def press(self, user="bob"):
        self.form.get_by_label("As the user").fill(user)
        contact = self.form.get_by_label("Contact")
        if contact.count():
            contact.fill("mailto:ops@example.org")
        self.form.get_by_role("button", name="Notify this browser").click()

    def step(self, name, state):
        return self.page.locator(f"[data-step={name}][data-state={state}]")

    def fails(self, step, words):
        expect(self.step(step, "failed")).to_contain_text(words)
        settled(self.page)

    def deliver(self, origin, text):
        deliver(self.page, origin, text)


def network_for(stage, **settings):
    network = stage.network()
    network.patch(body={"webPushHosts": ["127.0.0.1"]} | settings)
    return network


def test_the_service_worker_shows_what_carillon_encrypted(stage):
    network = network_for(stage)
    browser = Browser(stage, network)
    browser.form.get_by_label("Title").fill("Ding <b>dong</b>")
    browser.form.get_by_label("Text").fill("สวัสดี")
    browser.press()
    path, body = stage.push.messages.get(timeout=15)
    text = browser.subscription.read(body)
    expect(browser.step("delivery", "done")).to_be_visible()
    browser.deliver(stage.origin, text)
    expect(browser.step("shown", "done")).to_be_visible()
    shown = browser.page.evaluate(
        "navigator.serviceWorker.ready.then((each) => each.getNotifications())"
        ".then((all) => all.map(({ title, body, data }) => ({ title, body, data })))"
    )
    assert [(each["title"], each["body"]) for each in shown] == [("Ding <b>dong</b>", "สวัสดี")]
    assert shown[0]["data"]["networkId"] == network.id
    event = network.get("events", shown[0]["data"]["eventId"])
    assert event["deliveries"]["delivered"] == 1
    devices = network.get("users", "bob", "devices")["items"]
    assert [device["provider"] for device in devices] == ["webpush"] and devices[0]["id"].startswith("console-")

    browser.deliver(stage.origin, "no JSON at all")
    browser.page.wait_for_function("navigator.serviceWorker.ready.then((each) => each.getNotifications()).then((all) => all.length === 2)")

    browser.press("carol")
    stage.push.messages.get(timeout=15)
    expect(browser.step("delivery", "done")).to_be_visible()
    assert network.get("users", "bob", "devices")["items"] == [], "the same browser is one device"
    browser.page.reload()
    settled(browser.page)


def test_the_service_worker_shows_what_the_simulated_push_service_got(stage):
    network = network_for(stage)
    subscription = stage.simulator.device("browser")["subscription"]
    browser = Browser(stage, network, subscription)
    browser.form.get_by_label("Title").fill("Through the simulator")
    browser.press()
    expect(browser.step("delivery", "done")).to_be_visible()
    message = stage.simulator.received(subscription["endpoint"])
    assert (message["status"], message["title"]) == (201, "Through the simulator")
    browser.deliver(stage.origin, message["payload"])
    expect(browser.step("shown", "done")).to_be_visible()


def test_what_passes_by_itself_fails_no_step(stage):
    stage.expects("503", "ERR_FAILED")
    network = network_for(stage)
    browser = Browser(stage, network)
    failed = set()

    def fail_once(route):
        kind = route.request.url.rsplit("/", 1)[-1] == "deliveries"
        if kind in failed:
            return route.continue_()
        failed.add(kind)
        return route.abort() if kind else route.fulfill(status=503)

    browser.page.route("**/v1/networks/*/events/**", fail_once)
    browser.press()
    expect(browser.step("delivery", "done")).to_be_visible()
    stage.push.messages.get(timeout=15)
    assert failed == {True, False}


def test_a_push_service_that_the_network_does_not_take_can_be_allowed(stage):
    stage.expects("400")
    network = stage.network()
    browser = Browser(stage, network)
    browser.press()
    browser.fails("device", "webPushHosts")
    browser.page.get_by_role("button", name="Allow 127.0.0.1").click()
    expect(browser.page.get_by_text("Allowed. Try again.")).to_be_visible()
    assert network.get()["webPushHosts"] == ["default", "127.0.0.1"]
    browser.press()
    expect(browser.step("delivery", "done")).to_be_visible()
    stage.push.messages.get(timeout=15)


def test_a_blocked_permission_is_said_in_words(stage):
    network = network_for(stage)
    browser = Browser(stage, network)
    browser.page.evaluate("() => { Object.defineProperty(Notification, 'permission', { get: () => 'denied' }); }")
    browser.press()
    browser.fails("permission", "blocked")


def test_a_browser_that_cannot_subscribe_is_said_in_words(stage):
    network = network_for(stage)
    browser = Browser(stage, network)
    browser.page.evaluate("window.refusal = ['AbortError', 'Registration failed - push service error']")
    browser.press()
    browser.fails("subscription", "push service error")
    browser.page.evaluate("window.refusal = ['NotAllowedError', 'Registration failed - permission denied']")
    browser.press()
    browser.fails("subscription", "does not let this site be notified")


def test_a_page_without_https_says_that_it_cannot(stage):
    network = network_for(stage)
    browser = Browser(stage, network, granted=[], origin=stage.origin.replace("127.0.0.1", "console.test"))
    browser.press()
    browser.fails("able", "plain http")


def test_a_switch_that_forbids_and_a_push_service_that_is_gone_are_said_in_words(stage):
    network = network_for(stage)
    network.put("users", "bob", "notifications", body={"enabled": False})
    browser = Browser(stage, network)
    browser.press()
    browser.fails("switches", "user level")
    stage.push.status = 410
    try:
        browser.press("carol")
        browser.fails("delivery", "Unregistered")
    finally:
        stage.push.status = 201


def test_a_step_that_takes_long_says_what_it_waits_for_and_gives_up(stage):
    network = network_for(stage)
    browser = Browser(stage, network)
    browser.page.clock.install()
    browser.page.evaluate("() => { PushManager.prototype.subscribe = () => new Promise(() => {}); }")
    browser.press()
    expect(browser.step("subscription", "running")).to_be_visible()
    expect(browser.page.get_by_text("It waits for")).to_have_count(0)
    browser.page.clock.fast_forward(8_000)
    expect(browser.step("subscription", "running")).to_contain_text("It waits for the browser’s push service")
    browser.page.clock.fast_forward(22_000)
    browser.fails("subscription", "Given up after 30 s: it waited for the browser’s push service")


def test_a_push_service_that_does_not_take_it_is_given_up_and_the_event_goes_on(stage):
    stage.push.status = 503
    try:
        network = network_for(stage)
        browser = Browser(stage, network)
        browser.page.clock.install()
        browser.press()
        expect(browser.step("delivery", "running")).to_contain_text("It waits: http 503")
        browser.page.clock.fast_forward(31_000)
        browser.fails("delivery", "Given up after 30 s")
        browser.page.get_by_role("link", name="the event’s page").click()
        expect(browser.page.get_by_role("table", name="Devices of this event")).to_contain_text("503")
        # What is still tried again would come to another test.
        [event] = network.get("events")["items"]
        network.delete("events", event["id"], "deliveries")
        until(lambda: network.get("events", event["id"])["deliveries"]["expired"] == 1, "nothing is tried again")
    finally:
        stage.push.status = 201
