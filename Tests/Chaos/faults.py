"""What happens to a round, by name. Each undoes what it did before it returns."""

import asyncio
import contextlib
import signal

from cluster import AWAY
from fleet import faked_clock
from migration import kill_migration
from proxy import Trap

FAULTS = {}
# With less than about 170 open files the service does not start.
FEW = 200


def fault(name, unless=lambda world: None):
    """Makes a function a fault; `unless` says why it cannot be played here."""

    def register(function):
        function.unless = unless
        FAULTS[name] = function
        return function

    return register


def available(world):
    return {name: function for name, function in FAULTS.items() if not function.unless(world)}


def places(instances):
    return tuple(instance.place for instance in instances)


async def kill(world, instances, rng, program=None):
    """`kill -9` of some instances, which are started again a little later."""
    burials = await asyncio.gather(*(instance.kill() for instance in instances))
    await asyncio.sleep(rng.choice([0, rng.uniform(0, 1.5)]))
    for instance in instances:
        await instance.start(program)
    await asyncio.gather(*burials)


@contextlib.asynccontextmanager
async def hold(instances):
    """Keeps other faults from instances, and waits until they run."""
    async with contextlib.AsyncExitStack() as stack:
        for instance in sorted(instances, key=lambda instance: instance.index):
            await stack.enter_async_context(instance.lock)
            if not instance.is_running:
                await instance.start()
        yield


@fault("kill")
async def kill_one(world, community, rng, seconds):
    for _ in range(rng.choice([1, 1, 2])):
        await asyncio.sleep(rng.uniform(0, seconds / 2))
        instance = rng.choice(world.fleet.instances)
        async with hold([instance]):
            await kill(world, [instance], rng)


@fault("kill-several")
async def kill_several(world, community, rng, seconds):
    await asyncio.sleep(rng.uniform(0, seconds * 0.8))
    count = rng.randint((len(world.fleet.instances) + 1) // 2, len(world.fleet.instances))
    instances = rng.sample(world.fleet.instances, count)
    async with hold(instances):
        await kill(world, instances, rng)


@fault("flight")
async def kill_in_flight(world, community, rng, seconds):
    """Killed between the round trips of a transaction, before its COMMIT arrives, or before the answer to it does."""
    words, withheld, is_late = rng.choice(
        [(b"BEGIN", "down", False), (b"COMMIT", "up", False), (b"COMMIT", "up", True), (b"COMMIT", "down", False)]
    )
    await asyncio.sleep(rng.uniform(0, seconds / 2))
    instance = rng.choice(world.fleet.instances)
    async with hold([instance]):
        trap = Trap(words, withheld, passing=rng.randint(0, 20))
        for proxy in instance.proxies:
            proxy.trap = trap
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(trap.sprung.wait(), 2)
        with world.disrupting("database", whose=(instance.place,)):
            await asyncio.sleep(rng.uniform(0, 0.1))
            burial = await instance.kill()
        if is_late:
            # What the network still had arrives when its sender is dead.
            trap.released.set()
            await asyncio.sleep(0.1)
        for proxy in instance.proxies:
            proxy.cut()
            proxy.trap = None
        trap.released.set()
        await instance.start()
        await burial


@fault("migration")
async def kill_in_migration(world, community, rng, seconds):
    await kill_migration(world, rng)


@fault("restart")
async def restart(world, community, rng, seconds, program=None):
    """SIGTERM, and another process in its place."""
    await asyncio.sleep(rng.uniform(0, seconds / 2))
    instance = rng.choice(world.fleet.instances)
    async with hold([instance]):
        life = instance.application
        status = await instance.terminate()
        if status is None:
            world.find("stop", f"{life} did not end within 30 s of SIGTERM")
            instance.process.kill()
            await instance.process.wait()
        elif status != 0 and (status != -signal.SIGTERM or instance.log.stat().st_size):
            # Before it says anything it is no service yet, and ends as any program does.
            world.find("stop", f"{life} ended with {status} after SIGTERM")
        # What it could not give back, as PostgreSQL was away, waits for its lease.
        burial = instance.burial()
        await instance.start(program)
        await burial


@fault("upgrade", unless=lambda world: None if world.former else "no --former program is named")
async def upgrade(world, community, rng, seconds):
    """The former release's program works beside the others for a while, and is replaced by the new one."""
    instance = rng.choice(world.fleet.instances)
    async with hold([instance]):
        await instance.terminate()
        burials = [instance.burial()]
        await instance.start(world.former)
        await instance.until_ready()
        await asyncio.sleep(rng.uniform(0.5, seconds / 2))
        await instance.terminate()
        burials.append(instance.burial())
        await instance.start()
        await asyncio.gather(*burials)


@fault("pause")
async def pause(world, community, rng, seconds):
    """An instance stands still for a while and goes on as if nothing had been."""
    await asyncio.sleep(rng.uniform(0, seconds / 2))
    instance = rng.choice(world.fleet.instances)
    async with hold([instance]):
        # What it had sent just before is written when it goes on, unless it ends first.
        with world.disrupting("database", whose=(instance.place,)), instance.stopped():
            await asyncio.sleep(rng.uniform(0.3, 2.5))


@fault("crash")
async def crash(world, community, rng, seconds):
    """PostgreSQL ends with all of its processes, and is started again."""
    await asyncio.sleep(rng.uniform(0, seconds * 0.8))
    async with world.database:
        with world.disrupting("database"):
            await world.cluster.primary.kill()
            await asyncio.sleep(rng.choice([0, rng.uniform(0, 2)]))
            await world.cluster.restart()


@fault("failover")
async def fail_over(world, community, rng, seconds):
    await asyncio.sleep(rng.uniform(0, seconds * 0.6))
    async with world.database:
        with world.disrupting("database"):
            await world.cluster.fail_over()


@fault("cut")
async def cut(world, community, rng, seconds):
    """Connections to PostgreSQL end, of one instance or all, and for a moment there may be no new ones."""
    for _ in range(rng.randint(1, 4)):
        await asyncio.sleep(rng.uniform(0, seconds / 3))
        instances = rng.choice([world.fleet.instances, [rng.choice(world.fleet.instances)]])
        proxies = [proxy for instance in instances for proxy in instance.proxies]
        with world.disrupting("database", whose=places(instances)):
            for proxy in proxies:
                proxy.is_refusing = True
                proxy.cut()
            await asyncio.sleep(rng.choice([0, rng.uniform(0, 0.7)]))
            for proxy in proxies:
                proxy.is_refusing = False


@fault("freeze")
async def freeze(world, community, rng, seconds):
    """What instances and PostgreSQL say to each other arrives late."""
    await asyncio.sleep(rng.uniform(0, seconds / 2))
    instances = rng.choice([world.fleet.instances, [rng.choice(world.fleet.instances)]])
    with world.disrupting("database", whose=places(instances)), contextlib.ExitStack() as stack:
        for instance in instances:
            for proxy in instance.proxies:
                stack.enter_context(proxy.frozen())
        await asyncio.sleep(rng.choice([0.5, 1, 2, 6.5]))


@fault("slow-push")
async def slow_push(world, community, rng, seconds):
    """What push services answer comes late."""
    proxies = rng.choice([["apns"], ["fcm", "webPush"], list(world.push.proxies)])
    for name in proxies:
        world.push.proxies[name].delay = rng.uniform(0.1, 0.6)
    await asyncio.sleep(rng.uniform(0.5, seconds))
    for name in proxies:
        world.push.proxies[name].delay = 0


@fault("cut-push")
async def cut_push(world, community, rng, seconds):
    """Connections to push services end, with answers on them; or stand still and end then."""
    for _ in range(rng.randint(1, 3)):
        await asyncio.sleep(rng.uniform(0, seconds / 3))
        name = rng.choice(list(world.push.proxies))
        proxy = world.push.proxies[name]
        with world.disrupting("push", (name,)), proxy.frozen():
            await asyncio.sleep(rng.choice([0, rng.uniform(0.1, 0.5)]))
            proxy.cut()


@fault("receivers")
async def moody_receivers(world, community, rng, seconds):
    """Webhooks and endpoints answer twice, by halves, late, not at all, or that they are busy."""
    world.receiver.rng = rng
    await asyncio.sleep(rng.uniform(0, seconds / 2))
    world.receiver.moods = ["well", "well", "well", "twice", "twice", "half", "late", "cut", "busy"]
    await asyncio.sleep(rng.uniform(0.5, seconds / 2))
    world.receiver.moods = []


@fault("clock", unless=lambda world: None if faked_clock() else "libfaketime is not installed")
async def step_clock(world, community, rng, seconds):
    """An instance's clock jumps, twice."""
    instance = world.fleet.instances[0]
    for _ in range(2):
        await asyncio.sleep(rng.uniform(0, seconds / 2))
        instance.set_clock(rng.choice([-0.3, 0.3]))
    await asyncio.sleep(1)
    instance.set_clock(0)


@fault("disk", unless=lambda world: None if world.cluster.primary.is_small else "no small file system can be mounted")
async def fill_disk(world, community, rng, seconds):
    """PostgreSQL has no room for a while, which may end it."""
    await asyncio.sleep(rng.uniform(0, seconds / 2))
    async with world.database:
        with world.disrupting("database"):
            with world.cluster.primary.filled():
                await asyncio.sleep(rng.uniform(0.3, 2))
            await world.cluster.restart()


@fault("descriptors")
async def use_up_descriptors(world, community, rng, seconds):
    """An instance that may open few files, and somebody who opens connections to it and says nothing."""
    instance = rng.choice(world.fleet.instances)
    async with hold([instance]):
        await instance.terminate()
        burial = instance.burial()
        await instance.start(files=FEW)
        await instance.until_ready(10)
        connections = await asyncio.gather(
            *(asyncio.open_connection("127.0.0.1", instance.port) for _ in range(FEW)), return_exceptions=True
        )
        await asyncio.sleep(rng.uniform(0.5, 2))
        for connection in connections:
            if not isinstance(connection, BaseException):
                connection[1].transport.abort()
        await burial


@fault("snapshot")
async def hold_snapshot(world, community, rng, seconds):
    """A forgotten transaction that has seen something and written something."""
    with contextlib.suppress(AWAY):
        async with await world.cluster.primary.connect() as session:
            await session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            await session.execute("SELECT pg_current_xact_id(), count(*) FROM networks")
            await asyncio.sleep(seconds + 2)


@fault("lock")
async def hold_lock(world, community, rng, seconds):
    """An admin's transaction holds rows of the network, or a table."""
    await asyncio.sleep(rng.uniform(0, seconds / 2))
    statement = rng.choice(
        [
            "SELECT FROM users WHERE network_id = %s FOR UPDATE",
            "SELECT FROM channels WHERE network_id = %s FOR UPDATE",
            "SELECT FROM members WHERE network_id = %s FOR UPDATE",
            "SELECT FROM devices WHERE network_id = %s FOR UPDATE",
            "LOCK TABLE members IN SHARE ROW EXCLUSIVE MODE",
            "LOCK TABLE deliveries IN EXCLUSIVE MODE",
        ]
    )
    with contextlib.suppress(AWAY), world.disrupting("database"):
        async with await world.cluster.primary.connect() as session:
            await session.execute("BEGIN")
            await session.execute("SET LOCAL lock_timeout = '2s'")
            await session.execute(statement, [community.name] if "%s" in statement else [])
            await asyncio.sleep(rng.uniform(0.3, 3))
