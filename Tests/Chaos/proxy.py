"""A proxy between two programs, which can cut connections, hold them up, and wait for what is said."""

import asyncio
import contextlib


class Connection:
    """One connection through a proxy: two pipes, each with what it withholds."""

    def __init__(self, proxy, near, far):
        self.proxy = proxy
        self.near, self.far = near, far

    async def run(self):
        up = asyncio.create_task(self.pump(self.near[0], self.far[1], "up"))
        down = asyncio.create_task(self.pump(self.far[0], self.near[1], "down"))
        try:
            # Either end's goodbye is passed on: a server has to hear that its client is dead, after what that had said.
            await asyncio.wait([up, down], return_when=asyncio.FIRST_COMPLETED)
            for writer in (self.far[1], self.near[1]):
                with contextlib.suppress(OSError):
                    await asyncio.wait_for(writer.drain(), 1)
        finally:
            for task in (up, down):
                task.cancel()
            for _, writer in (self.near, self.far):
                writer.close()

    async def pump(self, reader, writer, direction):
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                await self.proxy.pass_on(data, direction)
                writer.write(data)
                await writer.drain()

    def abort(self):
        for _, writer in (self.near, self.far):
            writer.transport.abort()


class Proxy:
    """Listens on a port of this machine and passes on to another."""

    def __init__(self):
        self.port = None
        self.target = None
        self.delay = 0
        self.is_refusing = False
        self.connections = set()
        self.flow = asyncio.Event()
        self.flow.set()
        self.trap = None

    async def start(self, target):
        self.target = target
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", self.port or 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def accept(self, reader, writer):
        connection = None
        try:
            if self.is_refusing:
                return writer.transport.abort()
            far = await asyncio.open_connection("127.0.0.1", self.target)
            connection = Connection(self, (reader, writer), far)
            self.connections.add(connection)
            await connection.run()
        except OSError:
            writer.transport.abort()
        finally:
            self.connections.discard(connection)

    async def pass_on(self, data, direction):
        """Returns when something may go on."""
        if self.trap and self.trap.catches(data, direction):
            await self.trap.hold()
        if self.delay and direction == "down":
            await asyncio.sleep(self.delay)
        await self.flow.wait()

    def cut(self):
        """Ends all connections, as a firewall that has lost its memory does."""
        for connection in list(self.connections):
            connection.abort()

    @contextlib.contextmanager
    def frozen(self):
        """Lets nothing through meanwhile, and everything afterwards."""
        self.flow.clear()
        try:
            yield
        finally:
            self.flow.set()


class Trap:
    """Waits until a client says something, and withholds from then on what goes up or comes down."""

    def __init__(self, words, withheld, passing=0):
        self.words, self.withheld = words, withheld
        self.passing = passing
        self.sprung = asyncio.Event()
        self.released = asyncio.Event()

    def catches(self, data, direction):
        if not self.sprung.is_set() and direction == "up" and self.words in data:
            self.passing -= 1
            if self.passing < 0:
                self.sprung.set()
        return self.sprung.is_set() and direction == self.withheld

    async def hold(self):
        await self.released.wait()
