#!/usr/bin/env python3
"""Holds openapi.yaml against the running service: schemathesis makes requests from it and checks the answers. Of
openapi-faces.yaml only the form is checked.

No 5xx, no status, header or body that the description does not allow. The service runs on a database of its own, which
is thrown away. The number of examples is bounded (CASES for each operation), and the seed is fixed.

    python3 Tests/Interop/api_description.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import json
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import openapi_spec_validator
import yaml

from serving import ROOT, start, work_folder

CASES = 15
SEED = 20261121
# schemathesis cannot write NDJSON. A reader of requests can refuse more than a schema can say (IANA time zones, opaque
# cursors, templates that do not compile), so that "valid" data may be answered with 400.
# And once a network has its own server asked about tokens, one that cannot be reached makes every wrong token 503 instead of 401.
EXCLUDED_OPERATIONS = ["importDirectory", "putUserTokenIntrospection"]
EXCLUDED_CHECKS = ["positive_data_acceptance", "negative_data_rejection"]
# A dialect that a network has not set up is 404 to whoever shows no key of that network, not 401.
SETTINGS = """
[[operations]]
include-path-regex = "/events/(amity|cloudevents|cometchat|matrix|mattermost|rocketchat|sendbird|stream|talkjs|twilio)"
checks.ignored_auth.enabled = false
"""


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
    # What other systems' APIs answer is tried with those systems' own clients.
    for document in description, ROOT / "openapi-faces.yaml":
        openapi_spec_validator.validate(yaml.safe_load(document.read_text()))
    with work_folder() as folder:
        process, address = start(program, folder)
        try:
            token = pathlib.Path(f"{folder}/data/operator-token").read_text().strip()
            post(address, token, {"id": "acme", "displayName": "Acme"})
            pathlib.Path(f"{folder}/schemathesis.toml").write_text(SETTINGS)
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
