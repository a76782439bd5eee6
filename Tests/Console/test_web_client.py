"""Clients/web/carillon.js in an app of another origin, and in one of the service's own, against the service."""

import json
import re

from push_service import Subscription
from stage import until
from test_notifying import SUBSCRIBING, deliver
from user_tokens import user_token
from web_app import MODULE

TYPES = MODULE.with_suffix(".d.ts")
SETTINGS = """
async ({ url, network, tokens, key }) => {
  window.asked = 0;
  window.client = new carillon.Carillon({ url, network, token: async () => tokens[Math.min(asked++, tokens.length - 1)] });
  window.told ??= 0;
  carillon.onShown(() => { told += 1; });
  window.register = () => client.register({ worker: "/worker.js", key, locale: "th-TH" });
}
"""
TAP = """
async (tag) => {
  const [notification] = (await self.registration.getNotifications()).filter((each) => !tag || each.tag === tag);
  self.opened = [];
  WindowClient.prototype.focus = async function () { self.opened.push(`focus ${this.url}`); return this; };
  self.clients.openWindow = async (url) => { self.opened.push(`open ${url}`); };
  self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
}
"""


class Page:
    """Somebody's browser with the app open."""

    def __init__(self, stage, network, user, tokens=None, address="/", subscription=None, key=True):
        self.stage, self.network, self.user = stage, network, user
        self.subscription = Subscription(stage.push.origin, f"web-{network.id}")
        script = SUBSCRIBING.replace("SUBSCRIPTION", json.dumps(subscription or self.subscription.json))
        self.origin = stage.app.origin
        self.context = stage.context(script=script, granted=["notifications"], origin=self.origin)
        self.page = self.open(address)
        self.sign_in(user, tokens, key)

    def open(self, address):
        page = self.context.new_page()
        page.goto(self.origin + address)
        page.wait_for_function("window.carillon")
        return page

    def sign_in(self, user, tokens=None, key=True):
        self.user = user
        public_key = self.network.get("providers", "webpush")["publicKey"] if key else None
        self.page.evaluate(SETTINGS, {
            "url": self.stage.origin, "network": self.network.id, "key": public_key,
            "tokens": tokens or [user_token(self.network, user)],
        })

    def __call__(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def fails(self, script):
        return self.page.evaluate(f"({script})().then(() => null, ({{ code, status, message }}) => ({{ code, status, message }}))")

    def deliver(self, text):
        """Hands a push to the worker and waits until it says that it is shown: a browser that is asked sooner forgets it."""
        told = self("told")
        deliver(self.page, self.origin, text)
        self.page.wait_for_function("(told) => window.told > told", arg=told)

    def shown(self):
        return self("navigator.serviceWorker.ready.then((each) => each.getNotifications())"
                    ".then((all) => all.map(({ title, body, tag, icon, data }) => ({ title, body, tag, icon, data })))")

    def shows(self, count):
        return until(lambda: len(found := self.shown()) == count and found, f"{count} notifications, not {self.shown()}")

    def worker(self):
        return until(lambda: self.context.service_workers, "a service worker")[0]

    def pushed(self):
        """The next push for this browser, as it reads it."""
        path = None
        while path != f"/push/web-{self.network.id}":
            path, body = self.stage.push.messages.get(timeout=15)
        return self.subscription.read(body)

    def devices(self):
        return [each["id"] for each in self.network.get("users", self.user, "devices")["items"]]


def chat(stage, *members):
    network = stage.network()
    network.patch(body={"webPushHosts": ["127.0.0.1"]})
    network.put("providers", "webpush", body={"subject": "mailto:ops@example.org"})
    network.put("channels", "general", body={"displayName": "General"})
    for member in members:
        network.put("users", member, body={"displayName": member.capitalize()})
    network.put("channels", "general", "members", body={"userIds": list(members)})
    return network


def test_a_page_registers_is_told_and_goes_to_the_channel_that_is_tapped(stage):
    network = chat(stage, "alice", "bob")
    app = Page(stage, network, "bob")
    assert app("client.isRegistered()") is False
    device = app("register()")
    assert device["userId"] == "bob" and device["locale"] == "th-TH" and re.fullmatch("web-[A-Za-z0-9]{16}", device["id"])
    assert app("client.isRegistered()") is True
    app("register()")
    assert app.devices() == [device["id"]], "trying again makes no second device"
    assert [each["id"] for each in app("client.devices()")] == [device["id"]]

    app("() => { window.seen = []; carillon.onShown((notification) => seen.push(notification.body)); }")
    network.say("Hello", message={"id": "m-1", "type": "text", "text": "Hello"})
    app.deliver(app.pushed())
    [shown] = app.shows(1)
    assert (shown["title"], shown["body"], shown["tag"]) == ("Alice (General)", "Hello", "channel:general")
    assert shown["icon"].endswith("/icon.png") and shown["data"]["channelId"] == "general"
    app.page.wait_for_function("seen.join() === 'Hello'")

    worker = app.worker()
    worker.evaluate(TAP)
    app.page.wait_for_url(re.compile(f"{re.escape(stage.app.origin)}/channels/general#"))
    assert worker.evaluate("opened") == [f"focus {stage.app.origin}/"]
    assert app.shown() == []


def test_a_page_that_listens_is_not_loaded_anew_and_without_a_page_one_is_opened(stage):
    network = chat(stage, "bob")
    app = Page(stage, network, "bob")
    app("register()")
    app("() => { window.tapped = []; carillon.onTap((notification) => tapped.push(notification.channelId)); }")
    message = {"title": "Alice", "body": "Hi", "data": {"eventType": "message.sent", "channelId": "a b", "messageId": "m-9", "notificationId": "n-1"}}
    app.deliver(json.dumps(message))
    app.shows(1)
    worker = app.worker()
    worker.evaluate(TAP)
    app.page.wait_for_function("tapped.join() === 'a b'")
    assert app.page.url == f"{stage.app.origin}/"

    app.deliver(json.dumps(message))
    app.shows(1)
    elsewhere = app.context.new_page()
    app.page.goto("about:blank")
    elsewhere.close()
    worker.evaluate(TAP)
    until(lambda: worker.evaluate("opened") == [f"open {stage.app.origin}/channels/a%20b#m-9"], "a new window")


def test_messages_of_a_channel_share_a_place_and_copies_replace_their_originals(stage):
    network = chat(stage, "bob")
    app = Page(stage, network, "bob")
    app("register()")

    def message(number, channel="general", **data):
        return json.dumps({"title": "Alice", "body": f"Text {number}", "tag": f"n-{number}",
                           "data": {"eventType": "message.sent", "networkId": network.id, "channelId": channel, "notificationId": f"n-{number}"} | data})

    app.deliver(message(1))
    app.shows(1)
    app.deliver(message(2))
    until(lambda: [each["body"] for each in app.shown()] == ["Text 2 (2 new)"], "one notification of two messages")
    app.deliver(message(2))
    app.deliver(message(3, channel="other"))
    app.shows(2)
    assert sorted(each["body"] for each in app.shown()) == ["Text 2 (2 new)", "Text 3"], "a copy is no further message"
    app.deliver(message(4, eventType="member.joined"))
    app.deliver(message(4, eventType="member.joined"))
    assert [each["tag"] for each in app.shows(3) if each["body"] == "Text 4"] == ["n-4"]
    app.deliver("no JSON at all")
    assert any((each["title"], each["body"]) == ("Chat", "no JSON at all") for each in app.shows(4))

    app("(network) => carillon.clear({ network, channel: 'general' })", network.id)
    assert sorted(each["body"] for each in app.shows(2)) == ["Text 3", "no JSON at all"]


def test_what_a_browser_refuses_to_show_is_shown_without_what_it_refuses(stage):
    app = Page(stage, chat(stage, "bob"), "bob")
    app("register()")
    app.deliver(json.dumps({"title": "Pick", "body": "One", "actions": "none", "data": {"notificationId": "n-1"}}))
    assert [(each["title"], each["body"]) for each in app.shows(1)] == [("Pick", "One")]


def test_the_simulated_push_service_takes_what_the_page_has_registered(stage):
    network = chat(stage, "alice", "bob")
    subscription = stage.simulator.device("browser")["subscription"]
    app = Page(stage, network, "bob", subscription=subscription)
    app("register()")
    network.finished(network.say("Through the simulator"))
    message = stage.simulator.received(subscription["endpoint"])
    assert (message["status"], message["body"]) == (201, "Through the simulator")
    app.deliver(message["payload"])
    assert [each["body"] for each in app.shows(1)] == ["Through the simulator"]


def test_users_change_their_settings_and_those_of_channels(stage):
    network = chat(stage, "bob")
    app = Page(stage, network, "bob")
    assert app("client.settings()")["enabled"] is True
    changed = app("client.change({ modules: { chat: { enabled: false } }, quietHours: { from: '22:00', to: '07:00', timeZone: 'Asia/Bangkok' } })")
    assert changed["modules"]["chat"]["enabled"] is False
    assert network.get("users", "bob", "notifications")["quietHours"]["from"] == "22:00"
    assert app("client.change({ quietHours: null })")["quietHours"] is None
    assert app("client.channel('a/b').change({ mentionsOnly: true })")["mentionsOnly"] is True
    muted = app("client.channel('a/b').mute(new Date('2126-01-01T00:00:00Z'))")
    assert (muted["mutedUntil"], muted["mentionsOnly"]) == ("2126-01-01T00:00:00.000Z", True)
    assert network.get("users", "bob", "channels", "a/b", "notifications") == app("client.channel('a/b').settings()")
    assert app("client.channel('a/b').unmute()")["mutedUntil"] is None


def test_a_mistyped_setting_is_refused_in_the_services_words(stage):
    stage.expects("400")
    app = Page(stage, chat(stage, "bob"), "bob")
    found = app.fails("() => client.change({ muted: true })")
    assert (found["code"], found["status"]) == ("invalid-toggles", 400), found


def test_a_token_that_is_refused_is_asked_for_once_more(stage):
    stage.expects("401")
    network = chat(stage, "bob")
    app = Page(stage, network, "bob", tokens=[user_token(network, "bob", -3600), user_token(network, "bob")])
    assert app("client.settings()")["enabled"] is True and app("asked") == 2
    app.sign_in("bob", tokens=["none"])
    assert app.fails("() => client.settings()")["status"] == 401 and app("asked") == 2


def test_a_service_that_is_away_is_asked_again(stage):
    app = Page(stage, chat(stage, "bob"), "bob")
    stage.expects("503", "ERR_FAILED")
    answers = [lambda route: route.abort(), lambda route: route.fulfill(status=503, headers={"retry-after": "0", "access-control-allow-origin": "*"}),
               lambda route: route.continue_()]
    app.page.route("**/users/me/notifications", lambda route: answers.pop(0)(route))
    assert app("client.settings()")["enabled"] is True and answers == []


def test_who_signs_out_gets_nothing_more_and_leaves_nothing_on_the_screen(stage):
    network = chat(stage, "alice", "bob")
    app = Page(stage, network, "bob")
    app("register()")
    network.say("Secret")
    app.deliver(app.pushed())
    app.shows(1)
    app("client.signOut()")
    assert app.devices() == [] and app.shown() == [] and app("client.isRegistered()") is False
    assert network.finished(network.say("More"))["recipients"]["noDevice"] == 1
    app("client.signOut()")


def test_who_signs_out_while_the_service_is_away_is_unsubscribed_all_the_same(stage):
    stage.expects("ERR_FAILED")
    app = Page(stage, chat(stage, "bob"), "bob")
    app("register()")
    app.page.route("**/devices/*", lambda route: route.abort())
    assert app.fails("() => client.signOut()")["code"] == "no-answer"
    assert app("client.isRegistered()") is False


def test_a_shared_browser_belongs_to_whoever_has_signed_in_last(stage):
    network = chat(stage, "alice", "bob", "carol")
    app = Page(stage, network, "bob")
    app("register()")
    app.sign_in("carol")
    app("register()")
    assert len(app.devices()) == 1 and network.get("users", "bob", "devices")["items"] == []
    event = network.finished(network.say("For carol"))
    assert (event["recipients"]["notified"], event["recipients"]["noDevice"]) == (1, 1)
    assert [each["userId"] for each in network.get("events", event["id"], "deliveries")["items"]] == ["carol"]


def test_reasons_of_the_browser_have_codes(stage):
    stage.expects("broken", "script evaluation", "Uncaught")
    app = Page(stage, chat(stage, "bob"), "bob")
    assert app.fails("() => client.register({ worker: '/broken.js', key: 'AA' })")["code"] == "worker"
    app("window.refusal = ['NotAllowedError', 'no']")
    assert app.fails("register")["code"] == "subscription-denied"
    app("window.refusal = ['AbortError', 'no']")
    assert app.fails("register")["code"] == "subscription"
    app("() => { Object.defineProperty(Notification, 'permission', { get: () => 'denied' }); }")
    assert app.fails("register")["code"] == "denied"


def test_a_page_of_the_same_origin_asks_for_the_key_itself_and_has_the_same_module(stage):
    network = chat(stage, "bob")
    script = SUBSCRIBING.replace("SUBSCRIPTION", json.dumps(Subscription(stage.push.origin).json))
    page = stage.context(script=script, granted=["notifications"]).new_page()
    page.goto(f"{stage.origin}/console")
    assert page.evaluate("fetch('/console/carillon.js').then((answer) => answer.text())") == MODULE.read_text()
    device = page.evaluate("""async ([network, token]) => {
        const { Carillon } = await import("/console/carillon.js");
        return new Carillon({ network, token: () => token }).register({ worker: "/console/worker.js", scope: "/console/" });
    }""", [network.id, user_token(network, "bob")])
    assert device["userId"] == "bob"


def test_the_types_name_what_the_module_exports(stage):
    network = chat(stage, "bob")
    exported = set(Page(stage, network, "bob")("Object.keys(carillon)"))
    declared = set(re.findall(r"^export (?:class|function) (\w+)", TYPES.read_text(), re.M))
    assert exported == declared, exported ^ declared
    text, types = MODULE.read_text(), TYPES.read_text()
    methods = set(re.findall(r"^  (?:async )?(\w+)\(.*\) \{$", text[text.index("export class Carillon {"):text.index("\n}\n\n/** Throws where")], re.M))
    assert methods <= set(re.findall(r"^  (\w+)\(", types, re.M)), methods
