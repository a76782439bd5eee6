"""A PostgreSQL of its own with a synchronous standby, to be killed, frozen, filled up and failed over."""

import asyncio
import contextlib
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import time

import psycopg

USER = DATABASE = "carillon"
# What statements fail with while servers come and go: a standby that is being promoted refuses to write.
AWAY = (psycopg.OperationalError, psycopg.InternalError)
SETTINGS = """
listen_addresses = '127.0.0.1'
max_connections = 120
shared_buffers = '64MB'
max_wal_size = '128MB'
min_wal_size = '32MB'
max_wal_senders = 6
wal_keep_size = '64MB'
log_min_messages = 'fatal'
"""

GIVEN = set()
"""The ports that this programme has chosen."""


class Aborted(RuntimeError):
    """The servers that rounds are played on do not come up: nothing is known of the program."""


def free_port():
    """A port that stays free while nobody listens there: none of those that Linux gives to outgoing connections."""
    while True:
        port = random.randrange(10_000, 32_768)
        with contextlib.suppress(OSError), socket.socket() as found:
            if port not in GIVEN:
                found.bind(("127.0.0.1", port))
                GIVEN.add(port)
                return port


def children(parent):
    """The processes that a process has started."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name may have spaces; behind it come the state and the parent.
            if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(path.parent.name))
    return found


def signal_all(processes, number):
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


async def kill_all(processes):
    """Kills processes, and buries those that have become ours by the end of their parents."""
    signal_all(processes, signal.SIGKILL)
    end = time.monotonic() + 5
    for process in processes:
        with contextlib.suppress(ChildProcessError):
            while not os.waitpid(process, os.WNOHANG)[0] and time.monotonic() < end:
                await asyncio.sleep(0.01)


class Node:
    """One server with a file system of its own where that can be had."""

    def __init__(self, folder, name, account, megabytes):
        self.name, self.account = name, account
        self.mount = folder / name
        self.mount.mkdir()
        self.is_small = (
            account is not None
            and not subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0755", "chaos", self.mount], capture_output=True
            ).returncode
        )
        if account:
            shutil.chown(self.mount, account)
        self.data = self.mount / "data"
        self.port = free_port()
        self.process = None
        self.log = open(folder / f"{name}.log", "ab")

    def run(self, program, *arguments):
        folders = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        path = str(folders[-1] / program) if folders else program
        return subprocess.Popen(
            [path, *map(str, arguments)],
            stdout=self.log,
            stderr=self.log,
            cwd="/",
            user=self.account,
            group=self.account and pwd.getpwnam(self.account).pw_gid,
            extra_groups=[] if self.account else None,
        )

    async def finish(self, program, *arguments):
        process = self.run(program, *arguments)
        status = await asyncio.to_thread(process.wait)
        if status:
            raise Aborted(f"{program} of {self.name} ended with {status}")

    def configure(self, synchronous):
        """Whether a commit waits for the other node."""
        names = "*" if synchronous else ""
        path = self.data / "postgresql.auto.conf"
        with open(path, "w") as file:
            file.write(f"{SETTINGS}port = {self.port}\nunix_socket_directories = '{self.mount}'\n")
            file.write(f"synchronous_standby_names = '{names}'\nprimary_conninfo = '{self.upstream}'\n")
        if self.account:
            shutil.chown(path, self.account)
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGHUP)

    upstream = ""

    async def create(self):
        await self.finish("initdb", "-D", self.data, "-U", USER, "--auth=trust", "-E", "UTF8", "--locale=C")
        self.configure(synchronous=False)

    async def copy(self, other):
        """Becomes a standby of another node, whatever was here."""
        await self.kill()
        shutil.rmtree(self.data, ignore_errors=True)
        source = f"host=127.0.0.1 port={other.port} user={USER} application_name={self.name}"
        await self.finish("pg_basebackup", "-D", self.data, "-d", source, "-X", "stream", "-c", "fast")
        self.upstream = source
        self.configure(synchronous=False)
        (self.data / "standby.signal").touch()
        if not await self.start():
            raise Aborted(f"{self.name} ends as it starts as a standby")

    async def start(self):
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self.process = self.run("postgres", "-D", self.data)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return False
            with contextlib.suppress(psycopg.Error):
                async with await self.connect():
                    return True
            await asyncio.sleep(0.05)
        raise Aborted(f"{self.name} does not start")

    async def connect(self, database=DATABASE, **options):
        return await psycopg.AsyncConnection.connect(
            f"host=127.0.0.1 port={self.port} user={USER} dbname={database if self.has_database else 'postgres'}"
            " connect_timeout=3 application_name=chaos",
            autocommit=True,
            **options,
        )

    has_database = True

    @property
    def processes(self):
        return [self.process.pid, *children(self.process.pid)] if self.process else []

    async def kill(self):
        """Ends all of its processes at once, as a power cut does."""
        if self.process:
            postmaster, *others = self.processes
            signal_all([postmaster], signal.SIGKILL)
            await asyncio.to_thread(self.process.wait)
            await kill_all(others)
            # Those that were started in between notice by themselves.
            await asyncio.sleep(0.1)
        self.process = None

    @contextlib.contextmanager
    def filled(self):
        """Leaves no room on its file system."""
        ballast = self.mount / "ballast"
        try:
            room = os.statvfs(self.mount)
            with open(ballast, "wb") as file:
                with contextlib.suppress(OSError):
                    os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize)
            yield
        finally:
            ballast.unlink(missing_ok=True)


class Cluster:
    """A primary and its synchronous standby."""

    def __init__(self, folder, megabytes=1024):
        account = None
        if os.geteuid() == 0:
            account = next(
                name for name in ("postgres", "nobody") if name in {entry.pw_name for entry in pwd.getpwall()}
            )
        self.primary = Node(folder, "one", account, megabytes)
        self.standby = Node(folder, "two", account, megabytes)
        self.nodes = (self.primary, self.standby)
        self.copying = None

    async def start(self):
        Node.has_database = False
        await self.primary.create()
        await self.primary.start()
        async with await self.primary.connect() as session:
            await session.execute(f"CREATE DATABASE {DATABASE}")
        Node.has_database = True
        await self.attach()

    async def attach(self, patience=120):
        """Gives the primary a standby, and has commits wait for it."""
        end = time.monotonic() + patience
        while True:
            try:
                await self.standby.copy(self.primary)
                break
            except Aborted:
                # Another fault has killed the primary that was being copied, or taken its room.
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.2)
        await self.until("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'", 1)
        self.primary.configure(synchronous=True)
        await self.until("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", 1)
        # Commits wait from when the checkpointer has read the configuration, which one that is busy has not yet.
        await self.query("CHECKPOINT")

    async def query(self, statement, parameters=None, patience=60):
        """Runs a statement on whichever server is the primary, again until it works; answers the rows."""
        end = time.monotonic() + patience
        while True:
            try:
                async with await self.primary.connect() as session:
                    found = await session.execute(statement, parameters)
                    return await found.fetchall() if found.description else []
            except AWAY:
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.1)

    async def until(self, statement, value, patience=60):
        end = time.monotonic() + patience
        while (await self.query(statement))[0][0] != value:
            if time.monotonic() > end:
                raise Aborted(f"not {value} within {patience} s: {statement}")
            await asyncio.sleep(0.05)

    async def restart(self, patience=60):
        """Starts the primary again where it ended, as often as that takes."""
        end = time.monotonic() + patience
        while not (self.primary.process and self.primary.process.poll() is None and await self.answers()):
            if time.monotonic() > end:
                raise Aborted("PostgreSQL does not start again")
            if not self.primary.process or self.primary.process.poll() is not None:
                await self.primary.start()
            await asyncio.sleep(0.05)

    async def answers(self):
        try:
            async with await self.primary.connect():
                return True
        except psycopg.Error:
            return False

    async def fail_over(self):
        """Kills the primary and promotes the standby, which gets a standby of its own behind that."""
        await self.settled()
        former, self.primary = self.primary, self.standby
        self.standby = former
        await former.kill()
        self.primary.configure(synchronous=False)
        async with await self.primary.connect() as session:
            await session.execute("SELECT pg_promote(true, 60)")
        self.copying = asyncio.create_task(self.attach())

    async def settled(self):
        """Waits until there is a synchronous standby again."""
        if self.copying:
            await self.copying
            self.copying = None

    async def stop(self):
        if self.copying:
            self.copying.cancel()
        for node in self.nodes:
            await node.kill()
            if node.is_small:
                subprocess.run(["umount", "-l", node.mount], capture_output=True)
