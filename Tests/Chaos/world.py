"""Everything that a round is played on: a database, instances, push services, and what was seen of them."""

import asyncio
import collections
import contextlib
import dataclasses
import math
import random
import time

import client
from cluster import Cluster
from fleet import TOKEN, Fleet
from ledger import Ledger
from push import Push, Receiver

# Who holds a lease stands in a column of the tests' own, so that a dead instance's leases need not be waited for.
HOLDERS = """
CREATE FUNCTION chaos_hold() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.chaos_holder := current_setting('application_name'); RETURN NEW; END $$;
ALTER TABLE inbox ADD COLUMN chaos_holder text DEFAULT current_setting('application_name');
ALTER TABLE deliveries ADD COLUMN chaos_holder text DEFAULT current_setting('application_name');
CREATE TRIGGER chaos_hold BEFORE UPDATE OF lease_token ON inbox FOR EACH ROW EXECUTE FUNCTION chaos_hold();
CREATE TRIGGER chaos_hold BEFORE UPDATE OF lease_token ON deliveries FOR EACH ROW EXECUTE FUNCTION chaos_hold();
CREATE TABLE chaos_leases (network_id text, event_id uuid, group_id uuid, provider text, words text, holder text, leased boolean,
                           text text, at timestamptz DEFAULT clock_timestamp());
CREATE FUNCTION chaos_tell() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE row record := coalesce(NEW, OLD);
BEGIN
    INSERT INTO chaos_leases (network_id, event_id, group_id, provider, words, holder, leased, text)
    VALUES (row.network_id, row.event_id, row.group_id, row.provider,
        concat_ws(' ', row.event_id, row.targets, row.cause, row.body, row.content), row.chaos_holder,
        row.leased AND TG_OP <> 'DELETE', format(
        '%s of %s %s by %s: token %s, leased %s, size %s, due in %s, attempt %s', TG_OP, row.provider, left(row.group_id::text, 18),
        current_setting('application_name'), row.lease_token, row.leased, row.size, row.run_at - clock_timestamp(), row.attempt));
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_tell AFTER INSERT OR UPDATE OR DELETE ON deliveries FOR EACH ROW EXECUTE FUNCTION chaos_tell();
"""

# How other systems' APIs say that something went wrong here, so that their senders send it again.
WORDS = {"/_matrix/": ("errcode", ("M_UNKNOWN",)), "/imfpush/": ("code", ("FPWSE0010E", "FPWSE0025E"))}


@dataclasses.dataclass
class Disruption:
    """Something after which things may come twice."""

    kind: str
    start: float
    end: float
    services: tuple
    whose: tuple
    """The lives, or the places with all of their lives, that were hurt; none where it was everybody."""

    def concerns(self, life):
        return not self.whose or any(life == name or life.startswith(f"{name}-") for name in self.whose)


@dataclasses.dataclass
class Done:
    answer: client.Answer
    was_lost: bool
    """Whether an earlier try was answered by nobody knows what."""


class World:
    def __init__(self, program, former, root, folder, instances, real_leases, cluster=Cluster):
        self.program, self.former, self.root, self.folder = program, former, root, folder
        self.real_leases = real_leases
        self.ledger = Ledger()
        self.cluster = cluster(folder)
        self.push = Push(folder, self.ledger)
        self.receiver = Receiver(self.ledger)
        self.fleet = Fleet(self, instances)
        self.database = asyncio.Lock()
        """Held by whoever hurts the database as a whole."""
        self.disruptions = []
        self.findings, self.notes = [], []
        self.watching = None
        self.answers = collections.Counter()

    @staticmethod
    def now():
        return time.time()

    async def start(self):
        await asyncio.gather(self.cluster.start(), self.push.start(self.program), self.receiver.start())
        await self.migrate()
        await self.cluster.query(HOLDERS)
        self.watching = asyncio.create_task(self.watch())
        await self.fleet.start()

    async def migrate(self):
        instance = self.fleet.instances[0]
        process = await asyncio.create_subprocess_exec(
            str(self.program),
            "migrate",
            cwd=self.root,
            env=instance.environment("migrate", [self.cluster.primary.port]),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if await process.wait():
            raise RuntimeError("the database cannot be migrated")

    async def watch(self):
        """Notes when this programme, through which everything goes, stood still: the machine was busy then."""
        while True:
            before = self.now()
            await asyncio.sleep(0.05)
            if (late := self.now() - before - 0.05) > 0.3:
                self.note(f"the programme stood still for {late:.1f} s")

    async def stop(self):
        if self.watching:
            self.watching.cancel()
        await self.fleet.stop()
        await self.cluster.stop()
        await self.push.stop()

    def note(self, text):
        """Something that helps to understand a finding."""
        self.notes.append(f"{self.now():.3f} {text}")

    def find(self, kind, text):
        """Something that must not be."""
        self.findings.append(f"{kind}: {text}")

    @contextlib.contextmanager
    def disrupting(self, kind, services=(), whose=()):
        """Notes that something is hurt meanwhile."""
        disruption = Disruption(kind, self.now(), math.inf, services, whose)
        self.disruptions.append(disruption)
        try:
            yield
        finally:
            disruption.end = self.now()

    async def forget(self, network):
        self.ledger.forget(network)
        await self.cluster.query("DELETE FROM chaos_leases WHERE network_id = %s", [network])

    async def end_leases(self, application):
        """Lets the leases of a dead instance run out, as they do by themselves a minute after its end."""
        backends = "FROM pg_stat_activity WHERE application_name = %s"
        end = time.monotonic() + 5
        while (await self.cluster.query(f"SELECT count(*) {backends}", [application]))[0][0]:
            if time.monotonic() > end:
                await self.cluster.query(f"SELECT pg_terminate_backend(pid) {backends}", [application])
            await asyncio.sleep(0.05)
        for table in ("inbox", "deliveries"):
            statement = f"UPDATE {table} SET run_at = now() WHERE leased AND chaos_holder = %s RETURNING network_id"
            ended = await self.cluster.query(statement, [application])
            self.note(f"{len(ended)} leases of {application} in {table} were ended")

    async def end_unrenewed_leases(self, network):
        """Likewise of leases that nobody renews, as the answer to who took them was lost: others have 40 s or more."""
        for table in ("inbox", "deliveries"):
            statement = f"""
                UPDATE {table} SET run_at = now()
                WHERE leased AND network_id = %s AND run_at < now() + interval '35 s' RETURNING chaos_holder
                """
            if ended := await self.cluster.query(statement, [network]):
                self.note(f"{len(ended)} leases in {table} that nobody renewed were ended: {ended[0]}")

    async def insist(
        self, method, path, body=None, token=TOKEN, headers={}, once=False, repeated=(), rng=random, until=None
    ):
        """Asks one instance after the other until one answers well; `None` where that did not happen."""
        until = until or self.now() + 60
        was_lost = False
        while True:
            instance = rng.choice(self.fleet.running or self.fleet.instances)
            try:
                answer = await client.send(instance.port, method, path, body, token, headers)
            except client.Lost:
                was_lost = True
                self.answers["none"] += 1
                await asyncio.sleep(0.1)
            else:
                self.answers[answer.status] += 1
                if answer.is_success:
                    return Done(answer, was_lost)
                if not self.may_be_repeated(method, path, answer, repeated):
                    return None
                was_lost = was_lost or b'"unknown"' in answer.body
                await asyncio.sleep(min(0.5, float(answer.headers.get("retry-after", 0.1))))
            if once:
                return None
            if self.now() > until:
                self.find("refused", f"{method} {path} was not answered well in time")
                return None

    def may_be_repeated(self, method, path, answer, repeated):
        """Whether a refusal is one that senders have to live with."""
        if answer.status >= 500:
            for face, (key, words) in WORDS.items():
                if face in path and (answer.json or {}).get(key) not in words:
                    self.find("words", f"{method} {path}: {answer.status} {answer.body[:300]}")
        if answer.status in (429, 503) and "retry-after" in answer.headers or answer.status in repeated:
            return True
        self.find("answer", f"{method} {path}: {answer.status} {answer.headers} {answer.body[:300]}")
        return answer.status >= 500
