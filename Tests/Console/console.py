#!/usr/bin/env python3
"""Tries the console in a real browser: each page's main act, hostile names, keyboard, colours, widths, and what goes wrong.

One service with a database of its own, beside `carillon simulate`, and one headless Chromium (Debian's `chromium`, driven by
PyPI's playwright). A line for each test; of one that fails a picture is left in .build/console.

    python3 Tests/Console/console.py [--filter TEXT] [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import argparse
import contextlib
import importlib
import inspect
import os
import pathlib
import shutil
import sys
import time
import traceback

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent / "Interop")]

from playwright.sync_api import sync_playwright  # noqa: E402

from push_service import PushService, Receiver  # noqa: E402
from service import ROOT, Service, Simulator  # noqa: E402
from serving import work_folder  # noqa: E402
from stage import Stage  # noqa: E402
from web_app import WebApp  # noqa: E402

MODULES = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("test_*.py"))
PICTURES = ROOT / ".build/console"
# The sandbox of the browser does not work for root, nor in most containers; it opens nothing but our own pages.
BROWSER_OPTIONS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP console.test 127.0.0.1"]


def browser_path():
    return os.environ.get("CONSOLE_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")


def tests(wanted):
    for name in MODULES:
        module = importlib.import_module(name)
        for each, test in inspect.getmembers(module, inspect.isfunction):
            if each.startswith("test_") and wanted in each:
                yield test


def words(test):
    return test.__name__.removeprefix("test_").replace("_", " ")


def run(test, stage):
    """Runs a test; answers what went wrong, or nothing."""
    failure = None
    try:
        test(stage)
        complaints = stage.unexpected()
        if complaints:
            failure = "the browser complained:\n" + "\n".join(complaints)
    except Exception:
        failure = traceback.format_exc(limit=-4) + "\n".join(stage.unexpected())
    if failure:
        photograph(test, stage)
    stage.clear()
    return failure


def photograph(test, stage):
    PICTURES.mkdir(parents=True, exist_ok=True)
    for number, page in enumerate(page for context in stage.contexts for page in context.pages):
        try:
            page.screenshot(path=PICTURES / f"{test.__name__}-{number}.png", timeout=5000)
        except Exception as error:
            print(f"  no picture: {error}")


def play(program, act):
    """Starts everything, lets `act` work on a stage, and ends everything."""
    with work_folder() as folder:
        simulator = Simulator(program, f"{folder}/simulator")
        push, receiver, app = PushService(), Receiver(), WebApp()
        try:
            service = Service(program, folder, simulator.environment | {"CARILLON_CORS_ORIGINS": app.origin})
            try:
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(executable_path=browser_path(), args=BROWSER_OPTIONS)
                    with contextlib.closing(Stage(service, simulator, browser, push, receiver, app)) as stage:
                        result = act(stage)
                    browser.close()
                    return result
            finally:
                if service.stop() != 0:
                    sys.exit("the service ended badly:\n" + pathlib.Path(f"{folder}/log").read_text()[-4000:])
        finally:
            push.stop()
            receiver.stop()
            app.stop()
            simulator.stop()


def run_all(stage, wanted):
    passed = failed = 0
    for test in tests(wanted):
        started = time.monotonic()
        failure = run(test, stage)
        mark = "✘" if failure else "✔"
        print(f"{mark} {words(test)} ({time.monotonic() - started:.1f} s)", flush=True)
        if failure:
            failed += 1
            print(failure, flush=True)
        else:
            passed += 1
    return passed, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--filter", default="")
    parser.add_argument("program", nargs="?", default=str(ROOT / ".build/debug/carillon"))
    arguments = parser.parse_args()
    if browser_path() is None:
        print("no browser is installed: the console is not tried")
        return 0
    shutil.rmtree(PICTURES, ignore_errors=True)
    passed, failed = play(arguments.program, lambda stage: run_all(stage, arguments.filter))
    print(f"{passed} passed, {failed} failed")
    # A filter that fits nothing has tried nothing.
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
