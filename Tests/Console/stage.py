"""What every test of the console stands on: one service, one browser, and pages that are watched."""

import contextlib
import itertools
import json
import pathlib
import sys
import time

from playwright.sync_api import expect

import placements
from service import Network, Refused
from serving import work_folder

PATIENCE_MS = 15_000
SIGNED_IN = """
try {
  if (window === top && !sessionStorage.getItem("carillon.tested")) {
    sessionStorage.setItem("carillon.tested", "yes");
    sessionStorage.setItem("carillon.session", JSON.stringify(SESSION));
  }
} catch { /* A frame of another origin has no storage. */ }
"""
expect.set_options(timeout=PATIENCE_MS)


class Stage:
    """Makes networks and pages for a test, and says afterwards what the browser complained of."""

    def __init__(self, service, simulator, browser, push, receiver, app):
        self.first, self.simulator, self.browser = service, simulator, browser
        self.service, self.divided_folder, self.divided = service, None, None
        self.push, self.receiver, self.app = push, receiver, app
        self.contexts, self.complaints, self.expected = [], [], ()
        self.numbers = itertools.count(1)

    @property
    def origin(self):
        return self.service.address

    def network(self, network=None, name=None):
        """A new network of this test's own."""
        return Network(self.service, network or f"n{next(self.numbers)}", name)

    def divide(self):
        """Has the rest of this test go by a service whose networks are in several placements."""
        if self.divided is None:
            self.divided_folder = work_folder()
            self.divided = placements.start(self.first, self.divided_folder.name)
        self.service = self.divided

    def close(self):
        """Ends what tests have started."""
        if self.divided is None:
            return
        status, log = self.divided.stop(), pathlib.Path(self.divided_folder.name, "log").read_text()
        self.divided_folder.cleanup()
        if status != 0:
            sys.exit("the service of several placements ended badly:\n" + log[-4000:])

    def expects(self, *parts):
        """What the browser may complain of in this test: it calls every refusal of a request an error."""
        self.expected += parts

    def context(self, session=None, width=1440, height=900, scheme="light", script=None, granted=(), origin=None, **options):
        """Somebody's browser; `session` is a network, whose admin it is, "operator", or nobody."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB", **options
        )
        context.set_default_timeout(PATIENCE_MS)
        self.contexts.append(context)
        if session == "operator":
            signed_in = {"token": self.service.token, "role": "operator", "network": None}
        elif session is not None:
            signed_in = {"token": session.key, "role": "admin", "network": session.id}
        if session is not None:
            context.add_init_script(SIGNED_IN.replace("SESSION", json.dumps(signed_in)))
        if script:
            context.add_init_script(script)
        if granted:
            context.grant_permissions(list(granted), origin=origin or self.origin)
        context.on("console", self.hear)
        context.on("weberror", lambda error: self.complaints.append(f"uncaught: {error.error}"))
        return context

    def hear(self, message):
        if message.type == "error":
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")

    def open(self, address="", session=None, context=None, origin=None, **options):
        """A page of the console, once it is there."""
        context = context or self.context(session, origin=origin, **options)
        page = context.new_page()
        page.goto("/".join([origin or self.origin, "console", *([address] if address else [])]))
        expect(page.locator("h1").first).to_be_visible()
        settled(page)
        return page

    def unexpected(self):
        """What the browser complained of and no test expects."""
        return [each for each in self.complaints if not any(part in each for part in self.expected)]

    def clear(self):
        for context in self.contexts:
            # A context may be gone already, and a request still on its way to where a test answers it.
            with contextlib.suppress(Exception):
                context.unroute_all(behavior="ignoreErrors")
                for page in context.pages:
                    page.unroute_all(behavior="ignoreErrors")
                context.close()
        self.contexts, self.complaints, self.expected = [], [], ()
        self.service = self.first


def settled(page):
    """Waits until nothing on the page is being fetched."""
    expect(page.locator(".skeleton")).to_have_count(0)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def look(page):
    """Has whatever looks by itself look now."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def visit(page, address):
    """Goes to another page of the console without loading the document anew; waits until it is there."""
    if page.evaluate("location.pathname + location.search") == address:
        return
    page.evaluate(
        """address => {
            document.querySelector("main").firstElementChild.dataset.left = "yes";
            history.pushState(null, "", address);
            dispatchEvent(new PopStateEvent("popstate"));
        }""",
        address,
    )
    expect(page.locator("main [data-left]")).to_have_count(0)
    expect(page.locator("main h1")).to_be_visible()
    settled(page)


def held(page, pattern, methods=("PUT", "PATCH", "POST")):
    """Holds the first of what a page sends there; answers a list that gets it."""
    found = []
    page.route(pattern, lambda route: found.append(route) if route.request.method in methods and not found else route.fallback())
    return found


def tab_to(page, role, name):
    """Goes by keyboard to what has this name."""
    target = page.get_by_role(role, name=name, exact=True)
    expect(target).to_be_visible()
    for _ in range(60):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            # A row that is a link shows it all around.
            rings = target.evaluate("element => [null, '::after'].map((part) => getComputedStyle(element, part).outlineStyle)")
            assert set(rings) != {"none"}, f"{name} has the focus and does not show it"
            return
    raise AssertionError(f"{name} is not reached by keyboard")


def until(condition, what, seconds=15):
    """Waits for what is true of the service."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found = condition()
        except Refused:
            found = None
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")
