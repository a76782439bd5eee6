#!/usr/bin/env python3
"""Holds openapi.yaml against the running service: schemathesis makes requests from it and checks the answers.

No 5xx, no status, header or body that the description does not allow. The service runs on a database of its own, which
is thrown away. The number of examples is bounded (CASES for each operation), and the seed is fixed.

    python3 Tests/Interop/api_description.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import openapi_spec_validator
import yaml

ROOT = pathlib.Path(__file__).parent.parent.parent
CASES = 15
SEED = 20261121
# schemathesis cannot write NDJSON. A reader of requests can refuse more than a schema can say (IANA time zones, opaque
# cursors, templates that do not compile), so that "valid" data may be answered with 400.
EXCLUDED_OPERATIONS = ["importDirectory"]
EXCLUDED_CHECKS = ["positive_data_acceptance", "negative_data_rejection"]


def start(program, folder, settings={}):
    """Starts the service on free ports; answers the process and its public address."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CARILLON_")}
    environment |= {
        "CARILLON_DATA_DIR": f"{folder}/data",
        "CARILLON_LISTEN": "127.0.0.1:0",
        "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0",
        "CARILLON_LOG_FORMAT": "json",
    } | settings
    os.chmod(folder, 0o755)
    log = open(f"{folder}/log", "w+")
    output = open(f"{folder}/output", "w")
    process = subprocess.Popen([program, "serve"], cwd=ROOT, env=environment, stdout=output, stderr=log)
    for _ in range(600):
        time.sleep(0.1)
        for line in pathlib.Path(f"{folder}/log").read_text().splitlines():
            entry = json.loads(line) if line.startswith("{") else {}
            address = find(entry, "public")
            if address:
                return process, address
        if process.poll() is not None:
            break
    sys.exit("the service did not start:\n" + pathlib.Path(f"{folder}/log").read_text())


def find(entry, key):
    """A value anywhere in a log line."""
    for name, value in entry.items():
        if name == key:
            return value
        if isinstance(value, dict) and (found := find(value, key)):
            return found
    return None


def post(address, token, body):
    request = urllib.request.Request(
        f"{address}/v1/networks",
        data=json.dumps(body).encode(),
        headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    for patience in range(20, -1, -1):
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            # On a busy machine the database may need its time; the answer says when to ask again.
            if error.code != 503 or not patience:
                raise
            time.sleep(int(error.headers.get("retry-after", "1")))


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / ".build/debug/carillon")
    description = ROOT / "openapi.yaml"
    openapi_spec_validator.validate(yaml.safe_load(description.read_text()))
    with tempfile.TemporaryDirectory(prefix="carillon-", dir="/tmp") as folder:
        process, address = start(program, folder)
        try:
            token = pathlib.Path(f"{folder}/data/operator-token").read_text().strip()
            post(address, token, {"id": "acme", "displayName": "Acme"})
            command = [
                str(pathlib.Path(sys.executable).parent / "schemathesis"), "run", str(description),
                "--url", address, "--header", f"Authorization: Bearer {token}",
                "--max-examples", str(CASES), "--seed", str(SEED), "--phases", "examples,coverage,fuzzing",
                "--exclude-checks", ",".join(EXCLUDED_CHECKS), "--no-color",
                "--request-timeout", "30", "--suppress-health-check", "all",
            ]
            for operation in EXCLUDED_OPERATIONS:
                command += ["--exclude-operation-id", operation]
            status = subprocess.run(command, cwd=folder).returncode
            alive = process.poll() is None
        finally:
            process.send_signal(signal.SIGTERM)
            ended = process.wait(timeout=30)
        if not alive or ended != 0:
            sys.exit(f"the service ended with {ended}:\n" + pathlib.Path(f"{folder}/log").read_text()[-4000:])
        sys.exit(status)


if __name__ == "__main__":
    main()
