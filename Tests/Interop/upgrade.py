#!/usr/bin/env python3
"""Upgrades replicas of the former release one by one, under load: nobody gets an error, and nothing that was accepted is lost.

    python3 Tests/Interop/upgrade.py CHECKOUT [PROGRAM] [--devices N] [--members N] [--longest SECONDS]

CHECKOUT is the former release's, with its program built in .build/debug; PROGRAM is this one's, .build/debug/carillon unless given.
SECONDS is how much longer a sender may wait while the migrations run than before them.
"""

import argparse
import base64
import contextlib
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from cluster import Cluster
from playing import equal, eventually, perform
from service import Network, Service, Simulator
from serving import ROOT, clean_environment, start

TOKEN = "an-operator-token-of-this-test-alone"


class Release:
    """A checkout and the program that was built of it."""

    def __init__(self, root, program=None):
        self.root = pathlib.Path(root).resolve()
        self.program = str(program or self.root / ".build/debug/carillon")

    def migration(self, settings, folder):
        """`carillon migrate`, begun."""
        environment = clean_environment() | settings | {"CARILLON_DATA_DIR": f"{folder}/data", "CARILLON_LOG_FORMAT": "json"}
        return subprocess.Popen(
            [self.program, "migrate"], cwd=self.root, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )


class Replica(Service):
    """A service of either release, on the database that all share."""

    numbers = itertools.count()

    def __init__(self, release, folder, settings):
        self.name = f"replica-{next(self.numbers)}"
        self.folder = pathlib.Path(folder, self.name)
        self.folder.mkdir()
        self.program, self.settings, self.token = release.program, settings, TOKEN
        self.process, self.address = start(self.program, self.folder, settings, release.root)

    def is_ready(self):
        with contextlib.suppress(urllib.error.HTTPError, OSError):
            request = urllib.request.Request(
                self.address + "/v1/networks", headers={"authorization": f"Bearer {TOKEN}"}
            )
            return urllib.request.urlopen(request, timeout=10).status == 200
        return False


class Load:
    """Senders that post messages through whichever replica is behind the balancer, until they are answered 202."""

    def __init__(self, network):
        self.network, self.replicas, self.turn = network, [], itertools.count()
        self.accepted, self.wrong, self.longest, self.busy = [], [], 0.0, 0
        self.is_over = False
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(4)]

    def work(self, sender):
        for number in itertools.count():
            if self.is_over or self.wrong:
                return
            self.post(sender, f"m-{sender}-{number}")
            if number % 20 == 0:
                body = {"provider": "log", "userId": f"visitor-{number % 200}"}
                self.ask("PUT", self.network.path("devices", f"log-{sender}-{number % 200}"), body)
                self.ask("GET", self.network.path("channels", "general", "members"))

    def post(self, sender, text):
        message = {"type": "text", "text": text}
        event = {
            "id": text, "type": "message.sent",
            "data": {"channel": {"id": "general"}, "user": {"id": f"sender-{sender}"}, "message": message},
        }
        started = time.monotonic()
        if self.ask("POST", self.network.path("events"), event):
            self.accepted.append(text)
            self.longest = max(self.longest, time.monotonic() - started)

    def ask(self, method, path, body=None):
        """Asks one replica after the other; whether there was a good answer."""
        while not self.wrong and not self.is_over:
            replica = self.replicas[next(self.turn) % len(self.replicas)]
            request = urllib.request.Request(
                replica.address + path, method=method, data=None if body is None else json.dumps(body).encode(),
                headers={"authorization": f"Bearer {self.network.key}", "content-type": "application/json"},
            )
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    answer.read()
                    return True
            except urllib.error.HTTPError as error:
                if error.code != 503 or not error.headers.get("retry-after"):
                    self.wrong.append(f"{replica.name}: {method} {path}: {error.code} {error.read()[:500]}")
                    return False
                self.busy += 1
            except OSError:
                # It is being stopped.
                pass
            time.sleep(0.05)
        return False

    def goes_on(self, count=100):
        """Waits until some more were accepted."""
        goal = len(self.accepted) + count
        eventually("more events are accepted", lambda: self.wrong or len(self.accepted) >= goal)
        equal("answers that nobody may get", self.wrong, [])


class Scene:
    def __init__(self, former, new, folder, arguments):
        self.former, self.new, self.folder = former, new, pathlib.Path(folder)
        self.devices, self.members, self.longest = arguments.devices, arguments.members, arguments.longest
        os.chmod(folder, 0o755)
        self.stack = contextlib.ExitStack()
        cluster = self.cluster = Cluster(f"{folder}/cluster")
        self.stack.callback(cluster.stop)
        simulator = self.simulator = Simulator(new.program, f"{folder}/simulator")
        self.stack.callback(simulator.stop)
        self.settings = simulator.environment | {
            "CARILLON_DATABASE_URL": cluster.url, "CARILLON_OPERATOR_TOKEN": TOKEN,
            "CARILLON_MASTER_KEY": base64.b64encode(bytes(range(32))).decode(), "CARILLON_EGRESS_ALLOW": "127.0.0.0/8",
        }

    def replica(self, release):
        made = Replica(release, self.folder, self.settings)
        self.stack.callback(made.process.kill)
        return made

    def joins(self, release):
        """A replica more."""
        made = self.replica(release)
        eventually(f"{made.name} is ready", made.is_ready)
        self.load.replicas = self.load.replicas + [made]
        return made

    def leaves(self, replica):
        """As a balancer takes one away: no more requests, and then it is stopped."""
        self.load.replicas = [other for other in self.load.replicas if other is not replica]
        equal(f"the end of {replica.name}", replica.stop(), 0)

    def received(self):
        """What the phone was sent and took, each as often as it came."""
        taken = [request for request in self.simulator.requests() if request["status"] == 200]
        return [re.search(r"m-\d-\d+", json.dumps(request)).group() for request in taken]


def the_former_release_is_at_work(scene):
    migration = scene.former.migration(scene.settings, scene.folder)
    _, said = migration.communicate()
    equal("migrated: " + said[-500:], migration.returncode, 0)
    first = scene.replica(scene.former)
    eventually("the first is ready", first.is_ready)
    network = scene.network = Network(first, "acme")
    fcm = next(path for path in scene.simulator.credentials if path.startswith("providers/fcm"))
    network.put(*fcm.split("/"), body=scene.simulator.credential("fcm"))
    phone = scene.simulator.device("android")
    network.put("devices", "phone", body=phone | {"userId": "bob"})
    network.put("channels", "general", "members", "bob", body={})
    fill(scene)
    scene.load = Load(network)
    scene.load.replicas = [first]
    scene.joins(scene.former)
    for thread in scene.load.threads:
        thread.start()
    scene.load.goes_on()


def fill(scene):
    """As of a large network beside this one, of which there are no users that events could reach."""
    scene.cluster.query(f"""
        INSERT INTO networks (network_id, created_at) VALUES ('large', now());
        INSERT INTO members (network_id, channel_id, user_id, is_member, facts_at, since_event)
        SELECT 'large', 'c' || n % 10000, 'u' || n, true, now(), gen_random_uuid() FROM generate_series(1, {scene.members}) n;
        INSERT INTO devices (network_id, device_id, user_id, provider, app_id, address, address_hash, registered_at)
        SELECT 'large', 'd' || n, CASE WHEN n % 2 = 0 THEN '' ELSE 'u' || n END, 'fcm', 'app', 'a' || n,
               sha256(n::text::bytea), now()
        FROM generate_series(1, {scene.devices}) n
    """)


def a_new_replica_waits_for_the_migrations(scene):
    scene.waiting = scene.replica(scene.new)
    event = {"id": "early", "type": "user.updated", "data": {"user": {"id": "bob", "displayName": "Bob"}}}
    request = urllib.request.Request(
        scene.waiting.address + scene.network.path("events"), data=json.dumps(event).encode(), method="POST",
        headers={"authorization": f"Bearer {scene.network.key}", "content-type": "application/json"},
    )
    try:
        urllib.request.urlopen(request, timeout=10)
        raise AssertionError("it was accepted")
    except urllib.error.HTTPError as error:
        equal("its answer", (error.code, bool(error.headers["retry-after"])), (503, True))
    scene.load.goes_on()


def a_migrator_that_is_killed_is_followed_by_one_that_ends(scene):
    before, scene.load.longest = scene.load.longest, 0
    killed = scene.new.migration(scene.settings, scene.folder)
    for number, line in enumerate(line for line in killed.stderr if "Migrating the database" in line):
        if number == 2:
            break
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    scene.load.goes_on()
    migration = scene.new.migration(scene.settings, scene.folder)
    said, errors = migration.communicate()
    equal("migrated: " + errors[-500:], migration.returncode, 0)
    assert "applied" in said, said
    scene.load.goes_on()
    waited = scene.load.longest
    print(f"  the longest that a sender waited meanwhile: {waited:.2f} s, before: {before:.2f} s", flush=True)
    if scene.longest is not None:
        assert waited <= before + scene.longest, "the migrations held senders up"


def former_replicas_work_beside_new_ones(scene):
    eventually("the new replica is ready", scene.waiting.is_ready)
    scene.load.replicas = scene.load.replicas + [scene.waiting]
    scene.load.goes_on(300)


def former_replicas_are_replaced_one_by_one(scene):
    for former in scene.load.replicas[:2]:
        scene.joins(scene.new)
        scene.leaves(former)
        scene.load.goes_on()


def a_former_replica_can_come_back(scene):
    back = scene.joins(scene.former)
    scene.load.goes_on(300)
    scene.leaves(back)


def nothing_is_lost(scene):
    scene.load.is_over = True
    for thread in scene.load.threads:
        thread.join()
    equal("answers that nobody may get", scene.load.wrong, [])
    accepted = set(scene.load.accepted)
    eventually("everything is sent", lambda: accepted.issubset(scene.received()))
    received = scene.received()
    again = len(received) - len(set(received))
    print(f"  {len(accepted)} events, {again} sent more than once, {scene.load.busy} answers of 503", flush=True)
    for replica in list(scene.load.replicas):
        scene.leaves(replica)
    left = scene.cluster.query("SELECT (SELECT count(*) FROM inbox), (SELECT count(*) FROM deliveries)")
    equal("rows that are left of events and deliveries", left, "0|0")


ACTS = [
    the_former_release_is_at_work,
    a_new_replica_waits_for_the_migrations,
    a_migrator_that_is_killed_is_followed_by_one_that_ends,
    former_replicas_work_beside_new_ones,
    former_replicas_are_replaced_one_by_one,
    a_former_replica_can_come_back,
    nothing_is_lost,
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("former")
    parser.add_argument("program", nargs="?")
    parser.add_argument("--devices", type=int, default=200_000)
    parser.add_argument("--members", type=int, default=1_000_000)
    parser.add_argument("--longest", type=float)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="carillon-", dir="/tmp") as folder:
        scene = Scene(Release(arguments.former), Release(ROOT, arguments.program), folder, arguments)
        with scene.stack:
            ended = perform(ACTS, scene)
            if hasattr(scene, "load"):
                scene.load.is_over = True
    return ended


if __name__ == "__main__":
    raise SystemExit(main())
