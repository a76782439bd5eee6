#!/usr/bin/env python3
"""What a stranger does on the first day: installs the package, makes a network in the console alone, has a browser and phones notified, sends,
reads it, finds out why somebody got nothing, backs it up, and restores it on another machine with the commands of docs/backup.md.

The machines are this one without Swift and without Carillon, in a room of their own (Tests/Packaging/machines.py). It needs root, a
browser, dpkg and PostgreSQL's server, and takes about a minute.

    python3 Tests/Console/stranger.py [PROGRAM]    # PROGRAM: an optimised build; that of Scripts/carillon, unless given
"""

import json
import pathlib
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "Console"), str(TESTS / "Interop"), str(TESTS / "Packaging")]

from playwright.sync_api import expect, sync_playwright  # noqa: E402

from console import BROWSER_OPTIONS, browser_path  # noqa: E402
from image_trial import call, run  # noqa: E402
from machines import MANAGEMENT, PUBLIC, SETTINGS, ThisMachine, Unit  # noqa: E402
from package_trial import ROOM, make  # noqa: E402
from pages import Page  # noqa: E402
from playing import equal, eventually, perform  # noqa: E402
from push_service import PushService, Subscription  # noqa: E402
from service import Simulator  # noqa: E402
from test_notifying import SUBSCRIBING, deliver  # noqa: E402

ORIGIN = f"http://127.0.0.1:{PUBLIC}"
PAGE = Page("backup.md")
# Nobody is there to be asked for a unit: the test starts and stops it, and runs what would be run beside it.
SUDO = """#!/bin/bash
case $1 in
    -u) user=$2 && shift 2 && exec runuser -u "$user" -- "$@" ;;
    systemctl) exit 0 ;;
    systemd-run)
        until [[ $1 == carillon ]]; do shift; done
        set -a && . /etc/carillon/carillon.env && set +a
        cd /usr/lib/carillon && exec runuser -u carillon -- env CARILLON_DATA_DIR=/var/lib/carillon "$@"
        ;;
    *) exec "$@" ;;
esac
"""


class Place:
    """A machine with the package, and the stranger's shell on it."""

    def __init__(self, folder, package, push_services):
        folder.mkdir()
        self.machine = ThisMachine(folder)
        self.machine.install(package)
        # As those of Apple and Google: the system trusts them, and no file of further roots is named.
        settings = dict(push_services)
        roots = pathlib.Path(settings.pop("CARILLON_EXTRA_CA_FILE")).read_text()
        with open(self.machine.root / "etc/ssl/certs/ca-certificates.crt", "a", encoding="utf-8") as file:
            file.write(roots)
        sudo = self.machine.root / "usr/local/bin/sudo"
        sudo.parent.mkdir(parents=True, exist_ok=True)
        sudo.write_text(SUDO)
        sudo.chmod(0o755)
        with open(self.machine.root / SETTINGS, "a", encoding="utf-8") as file:
            file.write(f"CARILLON_LISTEN=127.0.0.1:{PUBLIC}\nCARILLON_MANAGEMENT_LISTEN=127.0.0.1:{MANAGEMENT}\n")
            # The browser's push service is on this machine.
            file.write("CARILLON_EGRESS_ALLOW=127.0.0.0/8\n")
            file.writelines(f"{name}={value}\n" for name, value in settings.items())
        self.home = self.machine.root / "root"
        self.unit = Unit(self.machine)

    def enter(self, block):
        return self.machine.must("bash", "-euo", "pipefail", "-c", f"cd /root && {block}")


class Scene:
    def __init__(self, folder, package, browser, push, simulator):
        self.folder, self.package, self.push, self.simulator = folder, package, push, simulator
        self.subscription = Subscription(push.origin)
        context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
        context.add_init_script(SUBSCRIBING.replace("SUBSCRIPTION", json.dumps(self.subscription.json)))
        context.grant_permissions(["notifications"], origin=ORIGIN)
        self.page = context.new_page()

    def arrived(self):
        """The next notification, as the browser reads it."""
        return json.loads(self.subscription.read(self.push.messages.get(timeout=30)[1]))

    def ask(self, method, path, body=None):
        return json.loads(call(method, PUBLIC, f"/v1/networks/acme{path}", self.key, body))

    def send(self, text):
        return self.ask("POST", "/notifications", {"to": {"userIds": ["bob"]}, "title": text, "body": text})["id"]


def the_package_is_installed_and_leads_to_the_console(scene):
    scene.first = Place(scene.folder / "first", scene.package, scene.simulator.environment)
    scene.first.unit.__enter__()
    [token] = scene.first.enter("sudo cat /var/lib/carillon/operator-token").split()
    page = scene.page
    page.goto(ORIGIN)
    equal("where it leads", page.url.removeprefix(ORIGIN), "/console")
    page.get_by_label("Key").fill(token)
    page.get_by_role("button", name="Sign in").click()


def a_network_is_made_in_the_console_alone(scene):
    page = scene.page
    page.get_by_role("button", name="Make a network").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Id").fill("acme")
    dialog.get_by_role("button", name="Make it").click()
    expect(page.locator(".secret-value").first).to_be_visible()
    scene.key = page.locator(".secret-value").first.inner_text()
    page.get_by_role("button", name="I have stored").click()
    page.wait_for_url("**/console/acme/overview")
    page.goto(f"{ORIGIN}/console/acme/settings")
    hosts = page.get_by_label("Push services that browsers may name")
    hosts.fill("default\n127.0.0.1")
    page.locator("form").filter(has=hosts).get_by_role("button", name="Save").click()
    eventually("it is saved", lambda: "127.0.0.1" in scene.ask("GET", "")["webPushHosts"])


def a_browser_is_registered_and_notified(scene):
    page = scene.page
    page.goto(f"{ORIGIN}/console/acme/try")
    form = page.get_by_role("form", name="Notify this browser")
    form.get_by_label("As the user").fill("bob")
    form.get_by_label("Contact").fill("mailto:ops@example.org")
    form.get_by_role("button", name="Notify this browser").click()
    deliver(page, ORIGIN, scene.subscription.read(scene.push.messages.get(timeout=30)[1]))
    expect(page.locator("[data-step=shown][data-state=done]")).to_be_visible()


def phones_are_notified_by_push_services_that_the_system_trusts(scene):
    for provider in ("apns", "fcm"):
        scene.ask("PUT", f"/providers/{provider}/apps/com.example.chat", scene.simulator.credential(provider))
    phones = {name: scene.simulator.device(name) for name in ("iphone", "android")}
    for name, device in phones.items():
        scene.ask("PUT", f"/devices/{name}", device | {"userId": "dora"})
    scene.ask("POST", "/notifications", {"to": {"userIds": ["dora"]}, "title": "On phones", "body": "too"})
    for name, device in phones.items():
        equal(name, scene.simulator.received(device["token"])["title"], "On phones")


def two_people_are_in_a_channel(scene):
    page = scene.page
    page.goto(f"{ORIGIN}/console/acme/channels")
    page.get_by_role("button", name="New channel").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Id").fill("general")
    dialog.get_by_role("button", name="Make the channel").click()
    for user in ("bob", "carol"):
        page.get_by_label("New member: user").fill(user)
        page.keyboard.press("Enter")
        expect(page.get_by_role("table", name="Members of this channel")).to_contain_text(user)


def what_is_sent_is_read_and_it_says_why_somebody_got_nothing(scene):
    page = scene.page
    page.goto(f"{ORIGIN}/console/acme/send")
    for label, text in (("Users", "bob, carol"), ("Title", "Hello"), ("Text", "From a stranger")):
        page.get_by_label(label).fill(text)
    page.get_by_role("button", name="Send…").click()
    page.get_by_role("dialog").get_by_role("button", name="Send", exact=True).click()
    equal("read", scene.arrived()["body"], "From a stranger")
    expect(page.get_by_text("1 notified, 1 without a device")).to_be_visible()
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_label("Find somebody").fill("carol")
    page.locator("tbody tr", has_text="carol").get_by_role("link").first.click()
    page.get_by_role("tab", name="Why?").click()
    # The newest, which is what was just sent.
    page.get_by_label("Begin with").select_option(index=1)
    expect(page.locator(".why-history")).to_contain_text("It was sent to none of their devices")
    expect(page.get_by_label("What happens")).to_have_value("notification.direct")
    expect(page.locator(".verdict")).to_contain_text("carol would not be notified")
    expect(page.locator(".verdict")).to_contain_text("they have no device that could show it")


def it_is_backed_up_while_something_waits(scene):
    scene.push.status = 503
    scene.waiting = scene.send("Old news")
    tried = f"/events/{scene.waiting}/deliveries"
    eventually("it was tried", lambda: any(each["attempts"] for each in scene.ask("GET", tried)["items"]))
    _, embedded = PAGE.blocks("Backing up")
    scene.first.enter(embedded)
    scene.first.unit.__exit__()


def it_is_restored_on_another_machine(scene):
    second = scene.second = Place(scene.folder / "second", scene.package, scene.simulator.environment)
    # As the package has done it there.
    with second.unit:
        pass
    for name in ("carillon.dump", "master-key"):
        shutil.copy(scene.first.home / name, second.home / name)
    _, embedded = PAGE.blocks("Restoring")
    second.enter(embedded)
    said = second.enter(PAGE.blocks("Without sending what was pending")[1])
    assert "Discarded: 1 notification to a device." in said, said


def it_works_there_and_sends_nothing_old(scene):
    scene.push.status = 201
    with scene.second.unit:
        event = scene.ask("GET", f"/events/{scene.waiting}")
        equal("what waited", (event["state"], event["deliveries"]["expired"]), ("done", 1))
        [device] = scene.ask("GET", f"/events/{scene.waiting}/deliveries")["items"]
        equal("why", device["reason"], "discarded by an operator")
        scene.send("New")
        equal("read", scene.arrived()["title"], "New")
        equal("more", scene.push.messages.qsize(), 0)
        equal("doctor", scene.second.unit.start("carillon doctor >/dev/null").wait(), 0)


ACTS = [
    the_package_is_installed_and_leads_to_the_console,
    a_network_is_made_in_the_console_alone,
    a_browser_is_registered_and_notified,
    phones_are_notified_by_push_services_that_the_system_trusts,
    two_people_are_in_a_channel,
    what_is_sent_is_read_and_it_says_why_somebody_got_nothing,
    it_is_backed_up_while_something_waits,
    it_is_restored_on_another_machine,
    it_works_there_and_sends_nothing_old,
]


def play(program):
    # Memory, which is gone with the room.
    folder = pathlib.Path("/mnt")
    run("mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", folder)
    [package] = make(program, folder / "packages", "deb")
    with sync_playwright() as playwright:
        push = PushService()
        browser = playwright.chromium.launch(executable_path=browser_path(), args=BROWSER_OPTIONS)
        expect.set_options(timeout=30_000)
        simulator = Simulator(program, folder / "simulator")
        try:
            return perform(ACTS, Scene(folder, package, browser, push, simulator))
        finally:
            simulator.stop()


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--inside"]
    program = pathlib.Path(arguments[0] if arguments else TESTS.parent / ".build/optimised/release/carillon").resolve()
    if "--inside" in sys.argv:
        return play(program)
    return subprocess.run([*ROOM, sys.executable, __file__, "--inside", str(program)]).returncode


if __name__ == "__main__":
    sys.exit(main())
