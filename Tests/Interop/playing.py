"""What tests with other systems' clients and servers have in common: one service and one simulator for all acts of a script."""

import argparse
import asyncio
import contextlib
import inspect
import pathlib
import sys
import time
import traceback

from service import ROOT, Network, Service, Simulator
from serving import work_folder

# What a killed replica was about to send is sent within 90 seconds: its lease of a minute and some.
PATIENCE = 100


def eventually(what, look):
    """Waits until something is there, and answers it."""
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {PATIENCE} seconds")
        time.sleep(0.05)
    return found


def equal(what, found, expected):
    assert found == expected, f"{what}:\n  found    {found!s:.2000}\n  expected {expected!s:.2000}"


class Set:
    """What acts are played on: the service, the push services, and a network that may send to all of them."""

    def __init__(self, program, folder, settings):
        self.folder = pathlib.Path(folder)
        self.simulator = Simulator(program, f"{folder}/simulator")
        try:
            self.service = Service(program, folder, self.simulator.environment | settings)
        except BaseException:
            self.simulator.stop()
            raise
        self.network = self.make_network("acme")

    def make_network(self, name):
        """A network with credentials for `com.example.chat` and for browsers."""
        network = Network(self.service, name)
        network.patch(body={"webPushHosts": ["default", "127.0.0.1"]})
        for path, _ in self.simulator.credentials.items():
            network.put(*path.split("/"), body=self.simulator.credential(path.split("/")[1]))
        return network

    def bind(self, face, name, settings, network=None):
        """Binds a name, as only the operator may."""
        path = (network or self.network).path("faces", face, name)
        return self.service.call("PUT", path, settings)

    def said(self):
        """All that the service wrote, in this and in former lives."""
        return "".join(path.read_text(errors="replace") for path in self.folder.glob("log*"))


@contextlib.contextmanager
def stage(program, **settings):
    with work_folder() as folder:
        played = Set(program, folder, settings)
        try:
            yield played
        finally:
            ended = played.service.stop()
            played.simulator.stop()
        if ended != 0:
            sys.exit(f"the service ended with {ended}:\n" + played.said()[-4000:])


def perform(acts, *arguments):
    """Plays acts one after the other, each on what those before it left; a line for each. Ends at the first that fails."""
    loop = asyncio.new_event_loop()
    for act in acts:
        started = time.monotonic()
        words = act.__name__.replace("_", " ")
        try:
            played = act(*arguments)
            if inspect.iscoroutine(played):
                loop.run_until_complete(played)
        except Exception:
            print(f"✘ {words}\n{traceback.format_exc()}", flush=True)
            return 1
        print(f"✔ {words} ({time.monotonic() - started:.1f} s)", flush=True)
    return 0


def program_argument():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default=str(ROOT / ".build/debug/carillon"))
    return parser.parse_args().program
