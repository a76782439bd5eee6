"""The stage of backup_page.py: two PostgreSQL servers, a service, push services, and somebody's shell."""

import base64
import json
import os
import pathlib
import re
import subprocess
import urllib.error
import urllib.request

from cluster import Cluster
from playing import eventually
from service import ROOT, Network, Simulator
from upgrade import TOKEN, Release, Replica

OWNER = "postgres" if os.geteuid() == 0 else None
# As root on another machine would have it: the embedded server's account is PostgreSQL's there, too, and the service is stopped by hand.
SUDO = f"""#!/bin/sh
case $1 in
-u) shift 2; {f'exec runuser -u {OWNER} --' if OWNER else 'exec'} "$@" ;;
systemctl) exit 0 ;;
*) exec "$@" ;;
esac
"""


class Shell:
    """Somebody's shell, in which the page's commands are entered."""

    def __init__(self, program, folder):
        self.folder = pathlib.Path(folder, "shell")
        self.folder.mkdir()
        (self.folder / "carillon").symlink_to(pathlib.Path(program).resolve())
        (self.folder / "sudo").write_text(SUDO)
        (self.folder / "sudo").chmod(0o755)
        ports = {"CARILLON_LISTEN": "127.0.0.1:0", "CARILLON_MANAGEMENT_LISTEN": "127.0.0.1:0"}
        self.environment = os.environ | ports | {"PATH": f"{self.folder}:{os.environ['PATH']}"}

    def run(self, block, status=0, **settings):
        """Answers all that was said."""
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block], cwd=self.folder, env=self.environment | settings, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        assert ended.returncode == status, f"{block}\nended with {ended.returncode}: {ended.stdout}"
        return ended.stdout


class Scene:
    def __init__(self, program, folder, stack):
        self.program, self.folder, self.stack = program, pathlib.Path(folder), stack
        os.chmod(folder, 0o755)
        self.shell = Shell(program, folder)
        self.simulator = Simulator(program, f"{folder}/simulator")
        self.stack.callback(self.simulator.stop)
        self.former = self.cluster("former", folder)
        self.settings = self.simulator.environment | {
            "CARILLON_DATABASE_URL": self.former.url, "CARILLON_OPERATOR_TOKEN": TOKEN, "CARILLON_EGRESS_ALLOW": "127.0.0.0/8",
            "CARILLON_MASTER_KEY": base64.b64encode(bytes(range(32))).decode(),
        }
        self.shell.run("carillon migrate", **self.settings)

    def cluster(self, name, folder):
        made = Cluster(f"{folder}/{name}")
        self.stack.callback(made.stop)
        return made

    def replica(self):
        made = Replica(Release(ROOT, self.program), self.folder, self.settings)
        made.management = re.search(r'"management":"([^"]*)"', (made.folder / "log").read_text())[1]
        self.stack.callback(made.process.kill)
        eventually("it is ready", made.is_ready)
        return made

    def moved(self, block):
        """Commands for the package's embedded server, as they are for the one here."""
        return block.replace("/var/lib/carillon", f"{self.embedded.folder}/data").replace("-o carillon -g carillon ", "")

    def received(self, text):
        """How often something has arrived."""
        return sum(text in json.dumps(request) for request in self.simulator.requests())


class Beside(Network):
    """A network of one service, through another one."""

    def __init__(self, network, service):
        self.__dict__ |= network.__dict__ | {"service": service}


# What is known of a network, and has to be known of it elsewhere.
KNOWN = [
    (), ("notifications",), ("users", "bob", "notifications"), ("users", "bob", "devices"), ("channels", "general", "members"),
    ("users", "bob", "channels", "quiet", "notifications"), ("api-keys",), ("templates",), ("tags",),
]


def known(network):
    used = re.compile(r'"lastUsedAt": (null|"[^"]*")')
    return {"/".join(path): json.loads(used.sub('"lastUsedAt": null', json.dumps(network.get(*path)))) for path in KNOWN}


def message(text, channel="general"):
    """A message that is known by its text."""
    return {"id": text[:60], "type": "message.sent", "data": {
        "channel": {"id": channel}, "user": {"id": "alice"}, "message": {"type": "text", "text": text},
    }}


def say(network, channel, text):
    return network.post("events", body=message(text, channel))["id"]


def ask(address, body=None, **headers):
    """One try: the status, what was answered, and for how long to wait."""
    request = urllib.request.Request(address, data=body, headers={"content-type": "application/json"} | headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode(), None
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers["retry-after"]
