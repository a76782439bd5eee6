"""Rounds: a network, a load and faults, all drawn from a seed."""

import asyncio
import random
import shutil
import time

import faults
from cluster import Aborted
from community import Community
from fleet import TOKEN
from load import Load
from verdict import Accounts, Verdict

# An endpoint begins ten seconds after it was made.
ENDPOINT_BEGINS = 11
SECONDS = 3.0


class Rounds:
    """Plays rounds on a world that stays up between them."""

    def __init__(self, world, names, archive):
        self.world, self.archive = world, archive
        self.names = names
        self.made = {}
        self.ended = []

    def draw(self, seed):
        """The faults of a round: one after the other is the first of a round, so that a few rounds play them all."""
        rng = random.Random(f"faults {seed}")
        first = self.names[seed % len(self.names)]
        others = [name for name in self.names if name != first]
        return [first, *rng.sample(others, min(len(others), rng.choice([0, 1, 1, 2])))]

    async def make(self, seed):
        if seed not in self.made:
            self.made[seed] = Community(self.world, seed)
            await self.made[seed].make()
        return self.made[seed]

    async def play(self, seed, last):
        """Plays a round and judges it; answers what is to be told of it."""
        world = self.world
        started = time.time()
        world.findings.clear()
        world.notes.clear()
        logs = {path: path.stat().st_size for path in world.folder.glob("*.log")}
        community = await self.make(seed)
        for following in range(seed + 1, min(seed + 3, last + 1)):
            await self.make(following)
        await asyncio.sleep(max(0, community.made_at + ENDPOINT_BEGINS - world.now()))
        drawn = self.draw(seed)
        loaded = time.time()
        await self.hurt(seed, community, drawn)
        await self.heal()
        verdict = Verdict(world, community, world.now())
        counts = await verdict.find()
        self.ended.append((Accounts(world, community, loaded, world.now()), bool(world.findings)))
        await self.close_accounts(ripe_only=True)
        if world.findings:
            self.keep(seed, logs)
        return {
            "seed": seed,
            "instances": len(world.fleet.instances),
            "faults": drawn,
            "findings": list(world.findings),
        } | {
            "seconds": round(time.time() - started, 1),
            **vars(counts),
        }

    async def hurt(self, seed, community, drawn):
        """The load, and the faults beside it."""
        world = self.world
        load = asyncio.create_task(Load(world, community, SECONDS).run())
        tasks = [
            asyncio.create_task(faults.FAULTS[name](world, community, random.Random(f"{name} {seed}"), SECONDS))
            for name in drawn
        ]
        for name, result in zip([*drawn, "load"], await asyncio.gather(*tasks, load, return_exceptions=True)):
            if isinstance(result, Aborted):
                raise result
            if isinstance(result, BaseException):
                world.find("programme", f"{name}: {result!r}")

    async def heal(self):
        """Everything runs, and nobody died without having been killed."""
        world = self.world
        async with world.database:
            await world.cluster.restart()
            await world.cluster.settled()
        for instance in world.fleet.instances:
            if not instance.is_running:
                world.find("end", f"{instance.application} ended by itself with {instance.process.returncode}")
                await instance.start()
            if not await instance.until_ready(90):
                world.find("ready", f"{instance.application} is not ready within 90 s")

    async def close_accounts(self, ripe_only):
        """Looks at the statistics of rounds whose minute is over, and removes their networks."""
        while self.ended and (not ripe_only or self.ended[0][0].is_ripe):
            accounts, is_kept = self.ended.pop(0)
            disruptions = [found for found in self.world.disruptions if found.kind in ("kill", "database")]
            is_quiet = not any(found.end >= accounts.started_at - 1 for found in disruptions)
            await accounts.judge(is_quiet)
            if not is_kept:
                await accounts.community.call("DELETE", accounts.community.path, token=TOKEN)
                await self.world.forget(accounts.community.name)
        horizon = self.world.now() - 300
        self.world.disruptions = [found for found in self.world.disruptions if found.end > horizon]

    async def finish(self):
        """Stops all instances, which write what they have counted, and looks at it through a new one."""
        world = self.world
        world.findings.clear()
        for instance in world.fleet.instances:
            if await instance.terminate() != 0:
                world.find("stop", f"{instance.application} does not stop")
        await world.fleet.instances[0].start()
        await world.fleet.instances[0].until_ready()
        await self.close_accounts(ripe_only=False)
        return list(world.findings)

    def keep(self, seed, logs):
        """Keeps what was logged during a round."""
        folder = self.archive / str(seed)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path in self.world.folder.glob("*.log"):
            with open(path, "rb") as file:
                file.seek(logs.get(path, 0))
                if said := file.read():
                    (folder / path.name).write_bytes(said)
        (folder / "findings").write_text("\n".join(self.world.findings) + "\n")
        hurt = [f"{found.start:.3f} to {found.end:.3f} {' '.join([found.kind, *found.whose])}" for found in self.world.disruptions]
        (folder / "notes").write_text("\n".join(sorted(hurt + self.world.notes)) + "\n")
