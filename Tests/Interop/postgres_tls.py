#!/usr/bin/env python3
"""Carillon on a PostgreSQL that is reached by TLS, through a proxy that fills its records, as poolers and clouds' proxies do: no answer
is waited for in vain, however the records' ends fall, and a server that cannot prove its name is not spoken to.

    python3 Tests/Interop/postgres_tls.py [PROGRAM]    # PROGRAM: .build/debug/carillon, unless given
"""

import base64
import contextlib
import os
import random
import select
import socket
import ssl
import subprocess
import sys
import threading

from cluster import Cluster
from playing import equal, eventually, perform, program_argument
from service import Network
from serving import ROOT, clean_environment, work_folder
from tls import write_certificate
from upgrade import TOKEN, Release, Replica

# The longest that a record may be (RFC 8446 section 5.1).
RECORD = 16_384
# How many answers of random sizes are asked for: of a hundred about one ends within a row's length of a full record.
ANSWERS = 600


class Proxy:
    """Ends TLS for a PostgreSQL, and gathers what that says before it is passed on."""

    def __init__(self, cluster, certificate):
        self.upstream = f"{cluster.folder}/.s.PGSQL.5432"
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with contextlib.suppress(OSError):
            # SSLRequest; others ask to cancel in the clear.
            if client.recv(8)[4:] != b"\x04\xd2\x16\x2f":
                return client.close()
            client.sendall(b"S")
            client = self.context.wrap_socket(client, server_side=True)
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.upstream)
            with client, server:
                while self.pass_on(client, server):
                    pass

    def pass_on(self, client, server):
        """Passes on what comes next; `False` at the end. One thread does both ways, as nobody else may have the same socket of TLS."""
        ready = [client] if client.pending() else select.select([client, server], [], [])[0]
        if client in ready:
            asked = client.recv(1 << 16)
            server.sendall(asked)
            return asked
        said = server.recv(1 << 20)
        while select.select([server], [], [], 0.003)[0] and (more := server.recv(1 << 20)):
            said += more
        for begin in range(0, len(said), RECORD):
            client.sendall(said[begin:begin + RECORD])
        return said


class Scene:
    def __init__(self, program, folder, stack):
        self.program, self.folder = program, folder
        # PostgreSQL's user goes through it.
        os.chmod(folder, 0o755)
        self.certificate = f"{folder}/door.pem"
        write_certificate(self.certificate)
        self.cluster = Cluster(f"{folder}/cluster")
        stack.callback(self.cluster.stop)
        self.proxy = Proxy(self.cluster, self.certificate)
        self.url = f"postgres://carillon@127.0.0.1:{self.proxy.port}/postgres?sslmode=verify-full&sslrootcert="

    def settings(self, roots):
        return {
            "CARILLON_DATABASE_URL": self.url + roots, "CARILLON_OPERATOR_TOKEN": TOKEN,
            "CARILLON_MASTER_KEY": base64.b64encode(bytes(range(32))).decode(),
        }

    def migrate(self, roots):
        environment = clean_environment() | self.settings(roots)
        return subprocess.run(
            [self.program, "migrate"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )


def a_server_that_proves_nothing_is_not_spoken_to(scene):
    ended = scene.migrate("/etc/ssl/certs/ca-certificates.crt")
    assert ended.returncode != 0 and "certificate verify failed" in ended.stdout, ended.stdout


def tables_are_made_by_tls(scene):
    ended = scene.migrate(scene.certificate)
    assert ended.returncode == 0, ended.stdout


def answers_of_any_size_are_heard_to_their_end(scene):
    service = Replica(Release(ROOT, scene.program), scene.folder, scene.settings(scene.certificate))
    try:
        eventually("it works", service.is_ready)
        network = Network(service, "acme")
        dice = random.Random(1)
        people = ({"id": f"user-{number:05}", "displayName": "n" * dice.randrange(60, 250)} for number in range(3000))
        network.load(*({"user": person} for person in people))
        cursor = ""
        for _ in range(ANSWERS):
            page = service.call("GET", f"/v1/networks/acme/users?limit={dice.randrange(90, 201)}{cursor}")
            cursor = f"&cursor={page['next']}" if page.get("next") else ""
        equal("in vain", (service.folder / "log").read_text().count("no answer in time"), 0)
    finally:
        equal("its end", service.stop(), 0)


ACTS = [
    a_server_that_proves_nothing_is_not_spoken_to,
    tables_are_made_by_tls,
    answers_of_any_size_are_heard_to_their_end,
]


def main():
    with work_folder() as folder, contextlib.ExitStack() as stack:
        return perform(ACTS, Scene(program_argument(), folder, stack))


if __name__ == "__main__":
    sys.exit(main())
