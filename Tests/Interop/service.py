"""A service of its own for tests from outside, beside the simulator of the push services, and a client of its API."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from serving import ROOT, start


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


class Simulator:
    """`carillon simulate`: Apple's, Google's and a browser vendor's push services."""

    def __init__(self, program, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.output = open(self.folder / "output", "w")
        self.process = subprocess.Popen(
            [program, "simulate", "--json", "--directory", str(self.folder)],
            stdout=self.output,
            stderr=subprocess.STDOUT,
        )
        text = ""
        for _ in range(300):
            text = (self.folder / "output").read_text()
            # The last of what it says before it works.
            if "Devices of the user" in text and text.endswith("\n\n"):
                break
            if self.process.poll() is not None:
                sys.exit(f"the simulator did not start:\n{text}")
            time.sleep(0.05)
        self.environment = dict(re.findall(r"^  (CARILLON_\w+)=(.*)$", text, re.M))
        self.credentials = dict(re.findall(r"^  PUT /(providers/\S+) +@(.*)$", text, re.M))
        self.devices = dict(re.findall(r"^  PUT /devices/(\S+) +@(.*)$", text, re.M))

    def credential(self, provider):
        """What a network stores to send to it."""
        file = next(file for path, file in self.credentials.items() if path.startswith(f"providers/{provider}"))
        return json.loads(pathlib.Path(file).read_text())

    def device(self, name):
        """What a device of the simulator is registered with."""
        return json.loads(pathlib.Path(self.devices[name]).read_text())

    def requests(self, device=None):
        """All that was sent so far, or all that was sent to one device."""
        lines = (self.folder / "output").read_text().splitlines(keepends=True)
        found = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]
        return [request for request in found if device in (None, request["device"])]

    def received(self, device):
        """What a device of the simulator was sent last, as soon as it was sent something."""
        for _ in range(300):
            if found := self.requests(device):
                return found[-1]
            time.sleep(0.05)
        raise AssertionError(f"the simulator got nothing for {device}")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.output.close()


class Service:
    """`carillon serve` in a folder of its own; it can be stopped, and started again where it was."""

    def __init__(self, program, folder, settings):
        self.program, self.folder = program, folder
        self.settings = {"CARILLON_EGRESS_ALLOW": "127.0.0.0/8"} | settings
        self.process, self.address = start(program, folder, self.settings)
        self.settings["CARILLON_LISTEN"] = urllib.parse.urlsplit(self.address).netloc
        self.token = pathlib.Path(f"{folder}/data/operator-token").read_text().strip()
        self.wait()

    def wait(self):
        """It listens before it can work."""
        for _ in range(300):
            try:
                return self.call("GET", "/v1/networks")
            except (Refused, OSError):
                time.sleep(0.05)
        sys.exit("the service does not work")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)

    def start(self):
        self.process, self.address = start(self.program, self.folder, self.settings)

    def call(self, method, path, body=None, token=None):
        """A request; answers what the answer's body says."""
        request = urllib.request.Request(
            self.address + path,
            method=method,
            data=None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode(),
            headers={
                "authorization": f"Bearer {token or self.token}",
                "content-type": "application/x-ndjson" if isinstance(body, bytes) else "application/json",
            },
        )
        for patience in range(20, -1, -1):
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    text = answer.read()
                    return json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                if error.code not in (429, 503) or not patience:
                    raise Refused(error.code, error.read().decode()) from None
                time.sleep(min(1, int(error.headers.get("retry-after", "1"))))

    def psql(self, database="carillon"):
        """The command that talks to a database of the service's own PostgreSQL."""
        lines = next(pathlib.Path(self.folder, "data").rglob("postmaster.pid")).read_text().splitlines()
        programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/psql"))
        owner = pathlib.Path(lines[1]).owner()
        command = [str(programs[-1]) if programs else "psql", "-XqAt", "-v", "ON_ERROR_STOP=1"]
        return [*command, "-h", lines[4], "-p", lines[3], "-U", owner, "-d", database]

    def query(self, statement):
        """Runs SQL on the service's own PostgreSQL: for what would take too long by the API."""
        found = subprocess.run([*self.psql(), "-c", statement], capture_output=True, text=True, cwd="/")
        if found.returncode:
            raise RuntimeError(found.stderr)
        return found.stdout.strip()


def segment(text):
    return urllib.parse.quote(str(text), safe="")


class Network:
    """A network of the service, by the key of its first admin."""

    def __init__(self, service, network, name=None):
        self.service, self.id = service, network
        made = service.call("POST", "/v1/networks", {"id": network, "displayName": name or network.capitalize()})
        self.key, self.secret = made["apiKey"], made["webhookSecret"]
        self.user_token_secret = made["userTokenSecret"]

    def path(self, *segments):
        return "/".join(["/v1/networks", segment(self.id), *map(segment, segments)])

    def get(self, *segments, query=""):
        return self.service.call("GET", self.path(*segments) + query, token=self.key)

    def put(self, *segments, body):
        return self.service.call("PUT", self.path(*segments), body, token=self.key)

    def post(self, *segments, body=None):
        return self.service.call("POST", self.path(*segments), {} if body is None else body, token=self.key)

    def patch(self, *segments, body):
        return self.service.call("PATCH", self.path(*segments), body, token=self.key)

    def delete(self, *segments):
        return self.service.call("DELETE", self.path(*segments), token=self.key)

    def load(self, *lines):
        """Fills the directory: users, channels, members and devices."""
        return self.service.call(
            "POST", self.path("import"), "\n".join(map(json.dumps, lines)).encode(), token=self.key
        )

    def say(self, text, channel="general", user="alice", event=None, **data):
        """Posts a message; answers the event's id."""
        event = {
            "id": event or f"m-{time.monotonic_ns()}",
            "type": "message.sent",
            "data": {"channel": {"id": channel}, "user": {"id": user}, "message": {"type": "text", "text": text}} | data,
        }
        return self.post("events", body=event)["id"]

    def finished(self, event):
        """Waits until an event is done; answers it."""
        for _ in range(200):
            found = self.get("events", event)
            if found["state"] == "done":
                return found
            time.sleep(0.05)
        raise AssertionError(f"the event is {found}")
