"""Fail-over by Patroni, which decides by etcd who is the primary."""

import asyncio
import contextlib
import json
import pathlib
import shutil
import subprocess
import time

import client
import psycopg
from cluster import DATABASE, SETTINGS, USER, Aborted, Cluster, Node, children, free_port, kill_all


def missing():
    """What has to be installed before this can be played."""
    return [name for name in ("patroni", "etcd") if not shutil.which(name)]


class Manager:
    """Patroni on one of the two machines, and the server that it looks after."""

    def __init__(self, node, etcd):
        self.node = node
        self.process = None
        self.file = node.mount / "patroni.json"
        self.port = free_port()
        here = f"127.0.0.1:{self.port}"
        parameters = dict(line.split(" = ") for line in SETTINGS.strip().splitlines())
        parameters = {name: value.strip("'") for name, value in parameters.items() if name != "listen_addresses"}
        folders = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        settings = {
            "scope": "chaos",
            "name": node.name,
            "restapi": {"listen": here, "connect_address": here},
            "etcd3": {"host": etcd},
            "bootstrap": {
                # A primary that ends is not waited for.
                "dcs": {
                    "ttl": 20,
                    "loop_wait": 1,
                    "retry_timeout": 3,
                    "primary_start_timeout": 0,
                    "synchronous_mode": True,
                    "postgresql": {"parameters": parameters},
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{node.port}",
                "connect_address": f"127.0.0.1:{node.port}",
                "data_dir": str(node.data),
                "bin_dir": str(folders[-1]) if folders else "",
                "pgpass": str(node.mount / "pgpass"),
                "authentication": {"superuser": {"username": USER}, "replication": {"username": "replicator"}},
                "parameters": {"unix_socket_directories": str(node.mount)},
                "pg_hba": [
                    "local all all trust",
                    "host all all 127.0.0.1/32 trust",
                    "host replication all 127.0.0.1/32 trust",
                ],
                # Another standby is made at once, and not when a checkpoint happens to be over.
                "basebackup": {"checkpoint": "fast"},
                "remove_data_directory_on_diverged_timelines": True,
                "remove_data_directory_on_rewind_failure": True,
            },
            "watchdog": {"mode": "off"},
        }
        # JSON is YAML.
        self.file.write_text(json.dumps(settings))

    def start(self):
        self.process = self.node.run(shutil.which("patroni"), self.file)

    async def may_take_over(self):
        """Whether etcd knows its server as the synchronous standby: nobody else is promoted."""
        with contextlib.suppress(client.Lost):
            return (await client.send(self.port, "GET", "/sync", patience=2)).status == 200

    async def kill(self):
        """As if the machine had lost its power."""
        if self.process:
            self.process.kill()
            await asyncio.to_thread(self.process.wait)
        with contextlib.suppress(OSError, ValueError, IndexError):
            server = int((self.node.data / "postmaster.pid").read_text().splitlines()[0])
            others = children(server)
            await kill_all([server, *others])


class PatroniCluster(Cluster):
    async def start(self):
        etcd, peers = f"127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
        folder = self.primary.mount.parent
        self.etcd = subprocess.Popen(
            ["etcd", "--data-dir", folder / "etcd", "--listen-client-urls", f"http://{etcd}"]
            + ["--advertise-client-urls", f"http://{etcd}", "--listen-peer-urls", peers]
            + ["--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.managers = {node: Manager(node, etcd) for node in self.nodes}
        Node.has_database = False
        for manager in self.managers.values():
            manager.start()
        await self.settled()
        await self.query(f"CREATE DATABASE {DATABASE}")
        Node.has_database = True

    async def settled(self, patience=120):
        """Waits until there are a primary and a synchronous standby, and etcd knows of it, which is a moment later."""
        await self.find_primary(self.nodes, patience)
        await self.until("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", 1, patience)
        end = time.monotonic() + patience
        while not await self.managers[self.standby].may_take_over():
            if time.monotonic() > end:
                raise Aborted(f"etcd does not know of a synchronous standby within {patience} s")
            await asyncio.sleep(0.1)

    async def find_primary(self, nodes, patience=120):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            for node in nodes:
                with contextlib.suppress(psycopg.Error):
                    async with await node.connect() as session:
                        found = await session.execute("SELECT pg_is_in_recovery()")
                        if not (await found.fetchone())[0]:
                            self.primary, (self.standby,) = node, [other for other in self.nodes if other is not node]
                            return
            await asyncio.sleep(0.1)
        raise Aborted(f"no primary within {patience} s")

    async def restart(self, patience=120):
        await self.find_primary(self.nodes, patience)

    async def fail_over(self):
        """The primary's machine is lost, and comes back when another primary has been found."""
        await self.settled()
        manager = self.managers[self.primary]
        await manager.kill()
        await self.find_primary([self.standby])
        manager.start()

    async def stop(self):
        for manager in self.managers.values():
            await manager.kill()
        self.etcd.kill()
        self.etcd.wait()
        await super().stop()
