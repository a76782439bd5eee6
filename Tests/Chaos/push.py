"""The simulated push services, behind proxies, and receivers of webhooks."""

import asyncio
import datetime
import json
import pathlib
import re
import time

from client import read_body, read_head
from cluster import free_port
from ledger import Copy
from proxy import Proxy


class Push:
    """`carillon simulate`, which is reached through proxies."""

    def __init__(self, folder, ledger):
        self.folder = folder / "simulator"
        self.folder.mkdir()
        self.ledger = ledger
        self.proxies = {}

    async def start(self, program):
        options = ["--json", "--directory", str(self.folder)]
        for service, option in (("apns", "apns"), ("fcm", "fcm"), ("webPush", "web-push")):
            port = free_port()
            self.proxies[service] = await Proxy().start(port)
            options += [f"--{option}-port", str(port)]
            if service != "apns":
                options += [f"--{option}-proxy-port", str(self.proxies[service].port)]
        self.process = await asyncio.create_subprocess_exec(
            str(program), "simulate", *options, stdout=asyncio.subprocess.PIPE, limit=1 << 20
        )
        text = ""
        while "Devices of the user" not in text or not text.endswith("\n\n"):
            line = await asyncio.wait_for(self.process.stdout.readline(), 60)
            if not line:
                raise RuntimeError(f"the simulator did not start:\n{text}")
            text += line.decode()
        self.environment = dict(re.findall(r"^  (CARILLON_\w+)=(.*)$", text, re.M))
        self.credentials = {
            path: json.loads(pathlib.Path(file).read_text())
            for path, file in re.findall(r"^  PUT /(providers/\S+) +@(.*)$", text, re.M)
        }
        devices = dict(re.findall(r"^  PUT /devices/(\S+) +@(.*)$", text, re.M))
        bodies = [json.loads(pathlib.Path(file).read_text()) for file in devices.values()]
        self.subscription = next(body["subscription"] for body in bodies if body["provider"] == "webpush")
        self.environment["CARILLON_APNS_PRODUCTION_URL"] = f"https://127.0.0.1:{self.proxies['apns'].port}"
        self.reading = asyncio.create_task(self.read())

    async def read(self):
        while line := await self.process.stdout.readline():
            if line.startswith(b"{"):
                found = json.loads(line)
                at = datetime.datetime.fromisoformat(found["at"]).timestamp()
                self.ledger.note_push(found, at)

    async def stop(self):
        self.process.terminate()
        await self.process.wait()


class Receiver:
    """Receives webhooks and messages to endpoints; it may be in a mood."""

    def __init__(self, ledger):
        self.ledger = ledger
        self.moods = []
        self.rng = None

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    def url(self, *path):
        return f"http://127.0.0.1:{self.port}/" + "/".join(path)

    async def serve(self, reader, writer):
        try:
            while True:
                first, headers = await read_head(reader)
                at = time.time()
                message = json.loads(await read_body(reader, headers))
                mood = self.rng.choice(self.moods) if self.moods else "well"
                taken = await self.answer(mood, writer)
                if taken:
                    self.note(first.split()[1], headers["webhook-id"], message, at, time.time() - at)
                else:
                    self.ledger.refused["webhook"] += 1
                if mood in ("cut", "half"):
                    return
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.transport.abort()

    async def answer(self, mood, writer):
        """Answers; `True` when the whole of it says that it was taken."""
        answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
        if mood == "cut":
            return False
        if mood == "half":
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-le")
        elif mood == "busy":
            writer.write(b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n")
        elif mood == "twice":
            writer.write(answer + answer)
        else:
            if mood == "late":
                await asyncio.sleep(self.rng.uniform(0.1, 1))
            writer.write(answer)
        await writer.drain()
        return mood not in ("half", "busy")

    def note(self, path, identity, message, at, held):
        _, kind, network, *_ = path.split("/")
        if kind == "endpoint":
            copy = Copy(at, identity, "endpoint", held)
            self.ledger.note(network, message["carillon"]["eventId"], "endpoint", copy)
        else:
            data = message["data"]
            copy = Copy(at, identity, "webhook", held)
            self.ledger.note(network, data["eventId"], f"webhook:{data['deviceId']}", copy)
