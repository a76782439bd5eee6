#!/usr/bin/env python3
"""Has the receiver of docs/relay.md verify what endpoints are sent, by the reference library of Standard Webhooks.

    python3 Tests/Interop/relay.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from serving import ROOT, start, work_folder


def call(address, token, path, body):
    request = urllib.request.Request(
        f"{address}/v1/networks{path}",
        data=json.dumps(body).encode(),
        headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    while True:
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            # It listens before it can work.
            time.sleep(0.5)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_port(port):
    for _ in range(300):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.1)
    sys.exit("the receiver did not start")


def expect(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found} instead of {expected}")


def check(address, token):
    port = free_port()
    call(address, token, "", {"id": "acme"})
    settings = {"url": f"http://127.0.0.1:{port}/", "mode": "observe", "events": ["*"]}
    made = call(address, token, "/acme/endpoints", settings)
    endpoint = f"/acme/endpoints/{made['endpoint']['id']}"
    receiver = subprocess.Popen(
        [sys.executable, str(ROOT / "docs/relay_receiver.py"), str(port)],
        env=os.environ | {"CARILLON_ENDPOINT_SECRET": made["secret"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        await_port(port)
        expect("a test", call(address, token, f"{endpoint}/test", {})["status"], 204)
        call(address, token, f"{endpoint}/secret/rotate", {"overlapSeconds": 600})
        expect("a test within the overlap", call(address, token, f"{endpoint}/test", {})["status"], 204)
        call(address, token, f"{endpoint}/secret/rotate", {"overlapSeconds": 0})
        expect("a test with another secret", call(address, token, f"{endpoint}/test", {})["status"], 400)
    finally:
        receiver.terminate()
        lines, _ = receiver.communicate()
    expect("what was printed", [line.split()[1:] for line in lines.splitlines()], [["endpoint.test", "1"]] * 2)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / ".build/debug/carillon")
    with work_folder() as folder:
        process, address = start(program, folder, {"CARILLON_EGRESS_ALLOW": "127.0.0.1/32"})
        try:
            token = pathlib.Path(f"{folder}/data/operator-token").read_text().strip()
            check(address, token)
        finally:
            process.send_signal(signal.SIGTERM)
            ended = process.wait(timeout=30)
        if ended != 0:
            sys.exit(f"the service ended with {ended}")
    print("the receiver verifies what the service signs")


if __name__ == "__main__":
    main()
