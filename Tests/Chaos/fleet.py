"""Replicas of the service, each behind proxies of its own to the database."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import time

import client
from cluster import DATABASE, USER, free_port
from proxy import Proxy

TOKEN = "o" * 32
MASTER_KEY = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
CLOCKS = [f"/usr/lib/{place}/faketime/libfaketimeMT.so.1" for place in ("x86_64-linux-gnu", "aarch64-linux-gnu")]


def faked_clock():
    """The library that lies about the time, where it is installed."""
    return next((path for path in CLOCKS if os.path.exists(path)), None)


class Instance:
    """One place for the service: its ports stay when the process is another one."""

    def __init__(self, world, index):
        self.world, self.index = world, index
        self.port, self.management = free_port(), free_port()
        self.proxies = []
        self.life = 0
        self.process = None
        self.clock = world.folder / f"clock-{index}"
        self.set_clock(0)
        self.lock = asyncio.Lock()

    async def open(self):
        for node in self.world.cluster.nodes:
            self.proxies.append(await Proxy().start(node.port))

    @property
    def place(self):
        """What is common to all of its lives."""
        return f"chaos-{self.index}"

    @property
    def application(self):
        """What PostgreSQL knows this life by."""
        return f"{self.place}-{self.life}"

    @property
    def log(self):
        return self.world.folder / f"instance-{self.index}-{self.life}.log"

    @property
    def is_running(self):
        return self.process is not None and self.process.returncode is None

    def environment(self, application, ports):
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        options = f"application_name={application}&sslmode=disable"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CARILLON_")}
        return (
            kept
            | {
                "CARILLON_DATABASE_URL": f"postgres://{USER}@{hosts}/{DATABASE}?{options}",
                "CARILLON_OPERATOR_TOKEN": TOKEN,
                "CARILLON_MASTER_KEY": MASTER_KEY,
                "CARILLON_LISTEN": f"127.0.0.1:{self.port}",
                "CARILLON_MANAGEMENT_LISTEN": f"127.0.0.1:{self.management}",
                "CARILLON_DATA_DIR": str(self.world.folder / f"data-{self.index}"),
                "CARILLON_LOG_FORMAT": "json",
                "CARILLON_EGRESS_ALLOW": "127.0.0.0/8",
            }
            | self.world.push.environment
        )

    async def start(self, program=None, files=None):
        """Starts a process; with a limit of open files where one is given."""
        self.life += 1
        environment = self.environment(self.application, [proxy.port for proxy in self.proxies])
        command = [str(program or self.world.program), "serve"]
        if self.index == 0 and faked_clock():
            # By way of `env`: the library moves the environment of the first process that it is in, and a Swift program
            # does not find its arguments then.
            command.insert(0, "/usr/bin/env")
            environment |= {
                "LD_PRELOAD": faked_clock(),
                "FAKETIME_TIMESTAMP_FILE": str(self.clock),
                "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }
        with open(self.log, "wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                *command,
                cwd=self.world.root,
                env=environment,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=1 << 20,
                preexec_fn=files and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))),
            )
        self.reading = asyncio.create_task(self.read(self.process))

    async def read(self, process):
        """Lines of the `log` provider, to the last one of whoever was killed."""
        while line := await process.stdout.readline():
            if line.startswith(b"{") and line.endswith(b"\n"):
                self.world.ledger.note_line(json.loads(line), time.time())

    async def until_ready(self, patience=60):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if not self.is_running:
                return False
            with contextlib.suppress(client.Lost):
                if (await client.send(self.management, "GET", "/health/ready", patience=2)).status == 200:
                    return True
            await asyncio.sleep(0.1)
        return False

    async def kill(self):
        """`kill -9`; what was leased to it is due as soon as nobody is at work for it any more."""
        with self.world.disrupting("kill", whose=(self.application,)):
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()
        return self.burial()

    def burial(self):
        return asyncio.create_task(self.bury(self.application, self.reading))

    async def bury(self, application, reading):
        await reading
        if not self.world.real_leases:
            await self.world.end_leases(application)

    async def terminate(self):
        """SIGTERM; answers the status, or nothing when it takes longer than it may."""
        with self.world.disrupting("stop", whose=(self.application,)):
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                return await asyncio.wait_for(self.process.wait(), 30)

    @contextlib.contextmanager
    def stopped(self):
        """Like a virtual machine that is moved."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGCONT)

    def set_clock(self, seconds):
        # The library wants a line, and reads it once a second.
        self.clock.write_text(f"{seconds:+.3f}\n")


class Fleet:
    """All instances, of which a load balancer chooses."""

    def __init__(self, world, count):
        self.instances = [Instance(world, index) for index in range(count)]

    async def start(self):
        for instance in self.instances:
            await instance.open()
            await instance.start()
        for instance in self.instances:
            if not await instance.until_ready():
                raise RuntimeError(f"instance {instance.index} is not ready, {instance.process.returncode}")

    @property
    def running(self):
        return [instance for instance in self.instances if instance.is_running]

    async def stop(self):
        for instance in self.running:
            instance.process.kill()
            await instance.process.wait()
