"""A Matrix homeserver of its own (PyPI: matrix-synapse) on SQLite and a free port, and clients of its client API."""

import base64
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

# Nobody else's server is asked for anything, nothing is limited, and gateways may be on this machine.
SETTINGS = {
    "server_name": "matrix.test",
    "report_stats": False,
    "enable_registration": True,
    "enable_registration_without_verification": True,
    "bcrypt_rounds": 4,
    "federation_domain_whitelist": [],
    "trusted_key_servers": [],
    "ip_range_blacklist": [],
    "presence": {"enabled": False},
    "url_preview_enabled": False,
    "push": {"include_content": True},
} | {
    name: {"per_second": 10_000, "burst_count": 10_000}
    for name in ("rc_message", "rc_registration", "rc_joins_per_room")
} | {
    "rc_login": {
        name: {"per_second": 10_000, "burst_count": 10_000} for name in ("address", "account", "failed_attempts")
    },
    "rc_joins": {name: {"per_second": 10_000, "burst_count": 10_000} for name in ("local", "remote")},
    "rc_invites": {
        name: {"per_second": 10_000, "burst_count": 10_000} for name in ("per_room", "per_user", "per_issuer")
    },
}
LOGGING = {
    "version": 1,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"level": "WARNING", "handlers": ["console"]},
    "loggers": {name: {"level": "INFO"} for name in ("synapse.push", "synapse.appservice")},
    "disable_existing_loggers": False,
}


class MatrixError(Exception):
    """An answer that is no success."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Homeserver:
    """Synapse in a folder of its own."""

    def __init__(self, folder, *app_services):
        """Starts it with the registrations of application services."""
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        key = base64.b64encode(os.urandom(32)).decode().rstrip("=")
        (self.folder / "signing.key").write_text(f"ed25519 a_test {key}\n")
        (self.folder / "logging.json").write_text(json.dumps(LOGGING))
        registrations = []
        for number, registration in enumerate(app_services):
            registrations.append(str(self.folder / f"registration-{number}.yaml"))
            pathlib.Path(registrations[-1]).write_text(json.dumps(registration))
        settings = SETTINGS | {
            "app_service_config_files": registrations,
            "listeners": [
                {"port": port, "type": "http", "bind_addresses": ["127.0.0.1"], "resources": [{"names": ["client"]}]}
            ],
            "database": {"name": "sqlite3", "args": {"database": str(self.folder / "homeserver.db")}},
            "signing_key_path": str(self.folder / "signing.key"),
            "log_config": str(self.folder / "logging.json"),
            "media_store_path": str(self.folder / "media"),
            "pid_file": str(self.folder / "pid"),
            "macaroon_secret_key": "macaroons",
            "form_secret": "forms",
        }
        # JSON is YAML.
        (self.folder / "homeserver.yaml").write_text(json.dumps(settings))
        self.log = open(self.folder / "log", "w")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "synapse.app.homeserver", "-c", str(self.folder / "homeserver.yaml")],
            cwd=self.folder,
            # What it sends to this machine goes to no proxy.
            env={name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )

    def wait(self):
        """It makes its database first."""
        for _ in range(1200):
            try:
                return urllib.request.urlopen(f"{self.address}/_matrix/client/versions", timeout=30).close()
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        sys.exit("the homeserver did not start:\n" + self.said()[-4000:])

    def said(self):
        """All that it wrote so far."""
        return (self.folder / "log").read_text()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


class User:
    """A user of the homeserver and their client."""

    def __init__(self, homeserver, name, display_name):
        self.homeserver, self.token = homeserver, None
        made = self.call(
            "POST", "register", {"username": name, "password": "secret", "auth": {"type": "m.login.dummy"}}
        )
        self.id, self.token = made["user_id"], made["access_token"]
        self.rename_oneself(display_name)
        self.transactions = 0

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"{self.homeserver.address}/_matrix/client/v3/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"}
            | ({"authorization": f"Bearer {self.token}"} if self.token else {}),
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise MatrixError(f"{method} {path}: {error.code} {error.read().decode()}") from None

    def rename_oneself(self, name):
        self.call("PUT", f"profile/{quoted(self.id)}/displayname", {"displayname": name})

    def create_room(self, *invited, **settings):
        """Creates a room; answers its id."""
        body = {"preset": "private_chat", "invite": [user.id for user in invited]} | settings
        return self.call("POST", "createRoom", body)["room_id"]

    def invite(self, room, user):
        self.call("POST", f"rooms/{quoted(room)}/invite", {"user_id": user.id})

    def join(self, room):
        self.call("POST", f"rooms/{quoted(room)}/join", {})

    def leave(self, room):
        self.call("POST", f"rooms/{quoted(room)}/leave", {})

    def rename(self, room, name):
        self.call("PUT", f"rooms/{quoted(room)}/state/m.room.name", {"name": name})

    def event(self, room, event):
        """An event as clients and application services see it."""
        return self.call("GET", f"rooms/{quoted(room)}/event/{quoted(event)}")

    def send(self, room, kind, content):
        """Sends an event of any type; answers its id."""
        self.transactions += 1
        path = f"rooms/{quoted(room)}/send/{kind}/{self.transactions}"
        return self.call("PUT", path, content)["event_id"]

    def redact(self, room, event):
        """Takes an event back; answers the id of the event that says so."""
        self.transactions += 1
        return self.call("PUT", f"rooms/{quoted(room)}/redact/{quoted(event)}/{self.transactions}", {})["event_id"]

    def say(self, room, text):
        return self.send(room, "m.room.message", {"msgtype": "m.text", "body": text})

    def read(self, room, event):
        """Says that everything up to an event was read."""
        self.call("POST", f"rooms/{quoted(room)}/read_markers", {"m.fully_read": event, "m.read": event})

    def set_pusher(self, app, pushkey, url, append=False, **data):
        self.call(
            "POST",
            "pushers/set",
            {
                "kind": "http", "app_id": app, "pushkey": pushkey, "app_display_name": app, "lang": "en",
                "device_display_name": "phone", "append": append, "data": {"url": url} | data,
            },
        )

    def remove_pusher(self, app, pushkey):
        self.call("POST", "pushers/set", {"kind": None, "app_id": app, "pushkey": pushkey})

    def pushkeys(self):
        return [pusher["pushkey"] for pusher in self.call("GET", "pushers")["pushers"]]


def quoted(text):
    return urllib.parse.quote(text, safe="")
