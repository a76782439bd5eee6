#!/usr/bin/env python3
"""Plays docs/backup.md: its commands, as they stand, against real services. A dump that is taken under load is restored into another
PostgreSQL, and one of an embedded server in its place; what waited is given up, or sent; a later release is gone back from; a disk is full.

    python3 Tests/Interop/backup_page.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given

It takes some 40 seconds. The full disk needs a file system of its own, and so root.
"""

import base64
import contextlib
import functools
import hashlib
import hmac
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from backup_scene import OWNER, Beside, Scene, ask, known, message, say
from pages import Page
from playing import equal, eventually, perform, program_argument
from service import ROOT, Network, Service
from upgrade import Load
from user_tokens import user_token

PAGE = Page("backup.md")
NOBODY = "http://127.0.0.1:9/"
REASON = "discarded by an operator"


def a_network_is_at_work_and_something_waits(scene):
    scene.first = scene.replica()
    network = scene.network = Network(scene.first, "acme")
    network.put("providers", "fcm", "apps", "com.example.chat", body=scene.simulator.credential("fcm"))
    network.put("devices", "phone", body=scene.simulator.device("android") | {"userId": "bob"})
    network.put("devices", "iphone", body=scene.simulator.device("iphone") | {"userId": "carol"})
    for channel, user in (("general", "bob"), ("quiet", "bob"), ("late", "carol")):
        network.put("channels", channel, "members", user, body={})
    network.patch("users", "bob", "channels", "quiet", "notifications", body={"enabled": False})
    network.put("templates", "message.sent", "en", body={"title": "{{UserDisplayName}}", "body": "{{Message}}"})
    network.put("tags", "offers", body={"selfService": True})
    network.put("sources", "crm", body={"url": NOBODY, "intervalSeconds": 86_400})
    told = network.post("endpoints", body={"url": NOBODY, "mode": "observe", "events": ["message.sent"]})
    # There is no credential for iPhones yet, and nobody listens where the endpoint is.
    scene.waiting = say(network, "late", "waiting-for-a-credential")
    eventually("it waits", lambda: network.get("events", scene.waiting)["deliveries"]["pending"])
    scene.told = network.path("endpoints", told["endpoint"]["id"], "deliveries")


def an_embedded_server_is_dumped_while_it_works(scene):
    folder = scene.folder / "embedded"
    folder.mkdir()
    settings = scene.simulator.environment
    scene.embedded = Service(scene.program, folder, settings)
    scene.stack.callback(lambda: scene.embedded.process.kill())
    log = (folder / "log").read_text()
    assert "createdb" not in log, f"a first start says what is its own to do:\n{log}"
    network = scene.owned = Network(scene.embedded, "acme")
    network.put("devices", "iphone", body=scene.simulator.device("iphone") | {"userId": "carol"})
    network.put("channels", "late", "members", "carol", body={})
    say(network, "late", "waiting-in-an-embedded-server")
    eventually("it waits", lambda: network.get("events", network.say("And", channel="late"))["deliveries"]["pending"])
    _, embedded = PAGE.blocks("Backing up")
    scene.shell.run(scene.moved(embedded))
    equal("its end", scene.embedded.stop(), 0)


def there_is_a_later_release(scene):
    folder = scene.folder / "later"
    shutil.copytree(ROOT / "Migrations", folder)
    last = len(list(folder.glob("*.sql")))
    (folder / f"{last + 1:04}_of_the_later_release.sql").write_text("CREATE TABLE later (id bigint);\n")
    scene.later = {"CARILLON_MIGRATIONS_DIR": str(folder)}
    # The page has the numbers of its own time.
    [words] = re.findall(r"`(the database is at migration \d+, newer than [^`]*)`", PAGE.text)
    scene.refusal = re.sub(r"\d+", "{}", words).format(last + 1, last)


def the_former_program_refuses_an_embedded_server_of_a_later_one(scene):
    place = {"CARILLON_DATA_DIR": f"{scene.embedded.folder}/data"}
    scene.shell.run("carillon migrate", **place | scene.later)
    said = scene.shell.run("carillon serve", status=1, **place)
    assert scene.refusal in said, said


def it_is_restored_and_sends_what_waited_unless_it_is_told_not_to(scene):
    _, embedded = PAGE.blocks("Restoring")
    scene.shell.run(scene.moved(embedded))
    place = {"CARILLON_DATA_DIR": f"{scene.embedded.folder}/data"}
    said = scene.shell.run("carillon discard-pending", status=1, **place)
    assert re.search(r"\b[1-9]\d* notifications? to", said), said
    scene.embedded.start()
    scene.embedded.wait()
    scene.owned.put("providers", "apns", "apps", "com.example.chat", body=scene.simulator.credential("apns"))
    eventually("what waited arrives", lambda: scene.received("waiting-in-an-embedded-server"))
    equal("its end", scene.embedded.stop(), 0)


def a_dump_is_taken_under_load(scene):
    # A new endpoint is told of what comes ten seconds later.
    quietly = functools.partial(scene.network.say, "For nobody", channel="quiet")
    eventually("the endpoint is told", lambda: quietly() and scene.first.call("GET", scene.told)["items"])
    load = Load(scene.network)
    load.replicas = [scene.first]
    for thread in load.threads:
        thread.start()
    try:
        load.goes_on()
        own, _ = PAGE.blocks("Backing up")
        said = scene.shell.run(own, **scene.settings)
        assert int(said.split()[-1]) > 50, said
        load.goes_on()
        scene.known = known(scene.network)
    finally:
        load.is_over = True
        for thread in load.threads:
            thread.join()
    equal("its end", scene.first.stop(), 0)


def it_is_restored_into_another_postgresql(scene):
    small = scene.folder / "small"
    small.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=160m,mode=0755", "small", small]
    scene.is_small = OWNER is not None and subprocess.run(mounting, capture_output=True).returncode == 0
    if scene.is_small:
        scene.stack.callback(lambda: subprocess.run(["umount", "-l", small], check=True))
    other = scene.other = scene.cluster("other", small)
    scene.settings["CARILLON_DATABASE_URL"] = f"postgres://carillon@/carillon?host={other.folder}"
    own, _ = PAGE.blocks("Restoring")
    said = scene.shell.run(own, PGHOST=str(other.folder), PGUSER="carillon", **scene.settings)
    assert "The schema is up to date." in said and re.search(r"^ok +master key", said, re.M), said


def what_waited_is_given_up_by_whoever_says_so(scene):
    discard, unit, sources = PAGE.blocks("Without sending what was pending")
    said = scene.shell.run(discard, status=1, **scene.settings)
    for part in (r"\b[1-9]\d* notifications? to", r"\b[1-9]\d* messages? to", "^carillon: nothing was discarded: --yes"):
        assert re.search(part, said, re.M), said
    assert "carillon discard-pending --yes" in unit, unit
    said = scene.shell.run("carillon discard-pending --yes", **scene.settings)
    assert "Discarded: " in said, said
    equal("said again", scene.shell.run(discard, **scene.settings), "Nothing waits to be sent.\n")
    scene.shell.run(sources, **scene.settings)


def the_service_knows_there_what_it_knew(scene):
    before = len(scene.simulator.requests())
    scene.second = scene.network.service = scene.replica()
    network, found = scene.network, known(scene.network)
    for path, expected in scene.known.items():
        equal(path, found[path], expected)
    equal("the source", network.get("sources", "crm")["enabled"], False)

    # What cannot be done without secrets that the master key has sealed: a signed post, a user's token, a push service.
    body, moment = json.dumps(message("signed-after-the-restore")).encode(), str(int(time.time()))
    key = base64.b64decode(network.secret.removeprefix("whsec_"))
    signature = base64.b64encode(hmac.digest(key, b".".join([b"signed", moment.encode(), body]), hashlib.sha256)).decode()
    headers = {"webhook-id": "signed", "webhook-timestamp": moment, "webhook-signature": f"v1,{signature}"}
    equal("signed", ask(scene.second.address + network.path("events"), body, **headers)[0], 202)
    mine = scene.second.call("GET", network.path("users", "me", "notifications"), token=user_token(network, "bob"))
    equal("a user's token", mine, network.get("users", "bob", "notifications"))
    eventually("a message arrives", lambda: scene.received("signed-after-the-restore"))

    quiet = network.finished(say(network, "quiet", "for-nobody"))
    equal("switches", quiet["recipients"]["suppressed"]["channel"], 1)
    again = [re.search(r"m-\d-\d+", json.dumps(each)) for each in scene.simulator.requests()[before:]]
    equal("sent once more", [each.group() for each in again if each], [])


def it_says_why_what_was_given_up_was_not_sent(scene):
    network = scene.network
    event = network.get("events", scene.waiting)
    equal("what waited", (event["state"], event["deliveries"]["expired"], event["deliveries"]["pending"]), ("done", 1, 0))
    [device] = network.get("events", scene.waiting, "deliveries")["items"]
    equal("why", (device["state"], device["reason"]), ("expired", REASON))
    assert scene.second.call("GET", f"{scene.told}?state=failed")["items"], "messages to the endpoint are not told of"
    network.put("providers", "apns", "apps", "com.example.chat", body=scene.simulator.credential("apns"))
    say(network, "late", "what-comes-now")
    eventually("what comes now arrives", lambda: scene.received("what-comes-now"))
    equal("what waited", scene.received("waiting-for-a-credential"), 0)


def nothing_is_given_up_while_somebody_serves(scene):
    said = scene.shell.run("carillon discard-pending --yes", status=1, **scene.settings)
    assert "a Carillon works on this database" in said and "stop it first" in said, said


def the_former_program_works_beside_the_later_schema(scene):
    said = scene.shell.run("carillon migrate", **scene.settings | scene.later)
    assert "_of_the_later_release" in said, said
    refused = scene.shell.run("carillon migrate", status=1, **scene.settings)
    assert scene.refusal in refused, refused
    beside = scene.replica()
    say(Beside(scene.network, beside), "general", "beside-a-later-schema")
    eventually("it is sent", lambda: scene.received("beside-a-later-schema"))
    equal("its end", beside.stop(), 0)


def a_full_disk_loses_nothing_and_gets_well(scene):
    if not scene.is_small:
        return print("  left out: no small file system can be mounted", flush=True)
    network, accepted, refusals = scene.network, [], []
    ballast = scene.other.folder.parent / "ballast"
    with open(ballast, "wb") as file, contextlib.suppress(OSError):
        room = os.statvfs(ballast)
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize)
    while len(refusals) < 5:
        text = f"on-a-full-disk-{len(accepted) + len(refusals)}-{'x' * 2000}"
        body = json.dumps(message(text)).encode()
        status, said, wait = ask(scene.second.address + network.path("events"), body, authorization=f"Bearer {network.key}")
        if status == 202:
            accepted.append(text[:30])
        else:
            equal("refused", (status, json.loads(said).get("outcome"), bool(wait)), (503, "nothing changed", True))
            refusals.append(text)
    log = (scene.second.folder / "log").read_text()
    assert re.search(r"the server answered 53100: could not \w+ file .*No space left on device", log), log[-2000:]
    equal("reading", network.get("tags"), scene.known["tags"])
    equal("alive", ask(f"{scene.second.management}/health/live")[0], 200)
    print(f"  {len(accepted)} accepted, {len(refusals)} refused", flush=True)

    # Where its log has no room either, it ends.
    with contextlib.suppress(RuntimeError):
        scene.other.query("SELECT pg_logical_emit_message(true, 'x', repeat('x', 1000000)) FROM generate_series(1, 300)")
    eventually("PostgreSQL has ended", lambda: not (scene.other.folder / "data/postmaster.pid").exists())
    eventually("it is not ready", lambda: ask(f"{scene.second.management}/health/ready")[0] == 503)
    equal("alive", ask(f"{scene.second.management}/health/live")[0], 200)
    ballast.unlink()
    scene.other.start()
    eventually("it is ready", lambda: ask(f"{scene.second.management}/health/ready")[0] == 200)
    say(network, "general", "after-the-full-disk")
    for text in [*accepted, "after-the-full-disk"]:
        eventually(f"{text} is sent", functools.partial(scene.received, text))
    for block in PAGE.blocks("A full disk"):
        scene.shell.run(block, **scene.settings)
    equal("its end", scene.second.stop(), 0)


ACTS = [
    a_network_is_at_work_and_something_waits,
    an_embedded_server_is_dumped_while_it_works,
    there_is_a_later_release,
    the_former_program_refuses_an_embedded_server_of_a_later_one,
    it_is_restored_and_sends_what_waited_unless_it_is_told_not_to,
    a_dump_is_taken_under_load,
    it_is_restored_into_another_postgresql,
    what_waited_is_given_up_by_whoever_says_so,
    the_service_knows_there_what_it_knew,
    it_says_why_what_was_given_up_was_not_sent,
    nothing_is_given_up_while_somebody_serves,
    the_former_program_works_beside_the_later_schema,
    a_full_disk_loses_nothing_and_gets_well,
]


def main():
    program = program_argument()
    with tempfile.TemporaryDirectory(prefix="carillon-", dir="/tmp") as folder, contextlib.ExitStack() as stack:
        return perform(ACTS, Scene(program, folder, stack))


if __name__ == "__main__":
    sys.exit(main())
