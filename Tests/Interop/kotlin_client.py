#!/usr/bin/env python3
"""Holds Clients/kotlin/Carillon.kt to the service.

The requests of Clients/kotlin/requests.json are made to a service; those that the Kotlin file makes are compared with them: by
what it says where `kotlinc` is not installed, and where it is, by what it does when it is compiled and run.

    python3 Tests/Interop/kotlin_client.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

from playing import equal, program_argument, stage
from service import ROOT
from user_tokens import user_token

FILE = ROOT / "Clients/kotlin/Carillon.kt"
REQUESTS = json.loads((ROOT / "Clients/kotlin/requests.json").read_text())
# What the service shows as it was written.
SHOWN = {"provider", "appId", "locale", "enabled", "mentionsOnly", "quietHours"}
COMPARED = ("call", "method", "path", "body", "status")


def play(service, network):
    """Makes the recorded requests as a user; the service has to answer each as is written down."""
    token = user_token(network, "bob")
    for request in REQUESTS:
        body = json.dumps(request["body"]).encode() if "body" in request else None
        asked = urllib.request.Request(
            f"{service.address}{network.path()}{request['path']}", body, method=request["method"],
            headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            text = answer.read()
        equal(request["call"], answer.status, request["status"])
        expected = {name: value for name, value in request.get("body", {}).items() if name in SHOWN}
        shown = json.loads(text) if text else {}
        equal(request["call"], {name: shown[name] for name in expected}, expected)


def compare_text():
    """What the file says that it asks for: each route and each member of a body is one of the recorded, and the other way round."""
    text = FILE.read_text()
    routes = set(re.findall(r'^ {8}[A-Z_]+\("([A-Z]+)", "(\S+)"\),$', text, re.M))
    recorded = {
        (each["method"], re.sub(r"(?<=/devices/)[^/]+|(?<=/channels/)[^/]+", "{id}", each["path"])) for each in REQUESTS
    }
    equal("the routes", sorted(routes), sorted(recorded))
    written = set(re.findall(r'"(\w+)" to ', text)) - {"authorization"}
    equal("members of bodies", sorted(written), sorted(set().union(*map(members, REQUESTS)) - {"chat"}))


def members(value):
    """The names of all members of a recorded body, those within as well."""
    body = value.get("body", {}) if "call" in value else value
    inner = [members(each) for each in body.values() if isinstance(each, dict)]
    return set(body).union(*inner)


def received_data(network, simulator):
    """FCM's `data` of a message, as the simulated service got it."""
    device = simulator.device("android")
    network.put("devices", "android", body=device | {"userId": "bob"})
    network.put("channels", "general", "members", body={"userIds": ["alice", "bob"]})
    network.say("Hello")
    return json.loads(simulator.received(device["token"])["payload"])["message"]["data"]


def compile_and_run(service, network, data):
    with tempfile.TemporaryDirectory() as folder:
        jar = f"{folder}/calls.jar"
        sources = [str(FILE), str(pathlib.Path(__file__).parent / "kotlin/Calls.kt")]
        subprocess.run(["kotlinc", "-Werror", *sources, "-include-runtime", "-d", jar], check=True)
        tokens = [user_token(network, "bob", -3600), user_token(network, "bob")]
        command = ["java", "-cp", jar, "carillon.CallsKt", service.address, network.id, json.dumps(data), *tokens]
        found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stdout + found.stderr
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    equal("refused", [line["call"] for line in lines if line["status"] == 401], ["register", "refused", "refused"])
    made = [line for line in lines if line["status"] != 401]
    equal("what the file asks", made, [{name: each[name] for name in COMPARED if name in each} for each in REQUESTS])


def main():
    compare_text()
    with stage(program_argument()) as played:
        play(played.service, played.make_network("recorded"))
        print(f"{len(REQUESTS)} recorded requests are answered as they were, and are those of {FILE.name}")
        if not (shutil.which("kotlinc") and shutil.which("java")):
            print(f"kotlinc is not installed: {FILE.name} is not compiled")
            return 0
        data = received_data(played.network, played.simulator)
        compile_and_run(played.service, played.make_network("made"), data)
        print(f"{FILE.name} compiles, makes the same requests, and reads what arrives")
    return 0


if __name__ == "__main__":
    sys.exit(main())
