"""What must hold at the end of a round."""

import asyncio
import collections
import dataclasses
import datetime
from typing import NamedTuple

# After any single fault everything goes on by itself within 90 seconds, and several are played at once.
PATIENCE = 120
# Promised are 250 ms from a push service's answer to the row.
PROMISED = 0.25
# What is allowed: those, and a slow write.
UNSETTLED = 0.4
# How long it takes, once PostgreSQL is back, until what waited for it is written.
RECOVERY = 2.0
# What an instance has sent arrives some time after it was killed, where proxies and simulator wait for a processor: up to a
# second has been seen, of rows that nobody else had claimed by then.
BEHIND = 2.0
# An answer that was on a connection when that was cut is at most as old as push services are made to wait.
ON_THE_WIRE = 3.0

# By which names rows know the services that take copies, where those are others.
PROVIDERS = {"webPush": "webpush", "endpoint": "relay"}

QUIET = """
SELECT (SELECT count(*) FROM inbox WHERE network_id = %(network)s),
       (SELECT count(*) FROM deliveries WHERE network_id = %(network)s)
"""
WAITING = """
SELECT 'inbox', event_type, '', leased, run_at - now(), chaos_holder, '' FROM inbox WHERE network_id = %(network)s
UNION ALL
SELECT 'deliveries', provider, app_id, leased, run_at - now(), chaos_holder, coalesce(lane_reason, '') FROM deliveries
WHERE network_id = %(network)s LIMIT 20
"""
EVENTS = """
SELECT event_id::text, resolved, notified + suppressed_network + suppressed_user + suppressed_channel + no_device
FROM events WHERE network_id = %(network)s
"""
TWICE = "SELECT source_id FROM events WHERE network_id = %(network)s GROUP BY source_id HAVING count(*) > 1"
OUTCOMES = """
SELECT event_id::text, sum(delivered)::int FROM outcomes WHERE network_id = %(network)s GROUP BY event_id
"""
LEASES = """
SELECT extract(epoch FROM at)::float8, group_id::text, provider, words, holder, leased FROM chaos_leases
WHERE network_id = %(network)s ORDER BY at
"""
LETTERS = "SELECT provider, reason FROM dead_letters WHERE network_id = %(network)s"
ROWS = "SELECT device_id, user_id, provider, state, registered_at::text FROM devices WHERE network_id = %(network)s"
GONE = "SELECT device_id, state, error FROM devices WHERE network_id = %(network)s AND state <> 'active'"


@dataclasses.dataclass
class Counts:
    events: int = 0
    deliveries: int = 0
    messages: int = 0
    """To endpoints."""
    duplicates: int = 0
    late: int = 0
    """Duplicates that their sender, when it was killed while PostgreSQL worked, had had for longer than is promised."""
    oldest: float = 0
    """How long before a kill the oldest notification was taken that came again."""
    quiet: float = 0
    """How long it took until nothing was left to do."""
    judged: int = 0
    """Pairs of an event and a device that had to be, or could not be."""


class Lease(NamedTuple):
    """What was written of a row of deliveries: who has it in hand from then on, or that nobody has."""

    at: float
    group: str
    provider: str
    words: str
    """All that the row says."""
    holder: str
    leased: bool


class Verdict:
    def __init__(self, world, community, healed_at):
        self.world, self.community, self.healed_at = world, community, healed_at
        self.counts = Counts()
        self.unexplained = None
        self.copies = world.ledger.copies[community.name]
        self.leases = []

    async def find(self):
        """Judges the round; answers what was counted."""
        if await self.wait_until_quiet():
            await self.wait_for_copies()
        self.judge_copies()
        await self.tell_of_lost()
        await self.read_leases()
        self.judge_duplicates()
        await self.tell_of_duplicates()
        await self.judge_rows()
        await self.judge_answers()
        return self.counts

    async def rows(self, statement):
        return await self.world.cluster.query(statement, {"network": self.community.name})

    async def wait_until_quiet(self):
        while sum((await self.rows(QUIET))[0]):
            if self.world.now() - self.healed_at > PATIENCE:
                self.world.find("rows", f"left after {PATIENCE} s: {await self.rows(WAITING)}")
                return False
            if not self.world.real_leases:
                await self.world.end_unrenewed_leases(self.community.name)
            await asyncio.sleep(0.1)
        self.counts.quiet = self.world.now() - self.healed_at
        return True

    async def wait_for_copies(self):
        """What was sent is written down by the simulator a moment later."""
        for _ in range(50):
            if not any(self.missing()):
                break
            await asyncio.sleep(0.1)
        # For copies that should not come.
        await asyncio.sleep(0.3)

    # What arrived

    def pairs(self):
        """Each post that was taken with each address: since when switches concern it, and the sets of switches."""
        for post in self.community.posts:
            if post.key:
                reach = collections.defaultdict(list)
                for address, switches in self.community.reach(post):
                    reach[address].append(switches)
                for address, ways in reach.items():
                    yield post, address, ways

    def lost(self):
        """What had to come to a device and did not."""
        now = self.world.now()
        for post, address, ways in self.pairs():
            is_due = any(all(switch.surely(True, post.posted_at, now) for switch in way) for way in ways)
            if is_due and not self.copies.get((post.key, address)):
                yield post, address

    def missing(self):
        for post, address in self.lost():
            yield f"{post.kind} {post.key} to {address} of {post.posted_at:.3f}"
        for post in self.community.posts:
            if post.key and ":" not in post.key and not self.copies.get((post.key, "endpoint")):
                yield f"{post.kind} {post.key} to the endpoint"

    def judge_copies(self):
        if lost := list(self.missing()):
            self.world.find("LOST", f"{len(lost)}: {lost[:5]}")
        concerned = collections.defaultdict(set)
        for post, address, ways in self.pairs():
            concerned[post.key].add(address)
            for copy in self.copies.get((post.key, address), []):
                if all(any(switch.surely(False, post.posted_at, copy.at) for switch in way) for way in ways):
                    self.world.find("FORBIDDEN", f"{post.kind} {post.key} of {post.posted_at:.3f} to {address}: {copy}")
            self.counts.judged += 1
        for (event, address), copies in self.copies.items():
            if address == "endpoint":
                self.counts.messages += 1
                continue
            self.counts.deliveries += 1
            if event in concerned and address not in concerned[event]:
                self.world.find("FORBIDDEN", f"{event} does not concern {address}: {copies}")
        self.counts.events = len(concerned)

    async def read_leases(self):
        """What is written of who had which row in hand, where that is asked for."""
        if any(len(copies) > 1 for copies in self.copies.values()):
            self.leases = [Lease(*row) for row in await self.rows(LEASES)]

    def judge_duplicates(self):
        for (event, address), copies in self.copies.items():
            copies.sort()
            self.counts.duplicates += len(copies) - 1
            if len({copy.id for copy in copies}) > 1:
                self.world.find("DUPLICATE", f"{event} to {address} with other ids: {copies}")
            for former in copies[:-1]:
                if not self.is_explained(event, former):
                    self.world.find("DUPLICATE", f"{event} to {address}, nothing explains it: {copies}")
                    self.unexplained = self.unexplained or (":" not in event and event)

    async def tell_of_lost(self):
        """Notes the rows of devices to which something did not come that had to, and what is known of their switches."""
        lost = {address for _, address in self.lost()}
        for device in self.community.devices:
            if device.address in lost:
                spans = [(f"{at:.3f}", value) for at, value in device.registered.spans[1:]]
                self.world.note(f"{device.id} of {device.user} at {device.address}: {spans}, {await self.rows(ROWS)}")

    async def tell_of_duplicates(self):
        """Notes what became of the rows of one event that came again and should not have."""
        if self.unexplained:
            statement = "SELECT extract(epoch FROM at)::float8, text FROM chaos_leases WHERE event_id::text = %(event)s"
            for at, text in await self.world.cluster.query(statement, {"event": self.unexplained}):
                self.world.notes.append(f"{at:.3f} {text}")

    def is_explained(self, event, copy):
        """Whether something ended between the push service's answer and the row that tells of it."""
        ages = []
        for disruption in self.world.disruptions:
            if copy.service in disruption.services and disruption.start - ON_THE_WIRE < copy.at < disruption.end + 0.5:
                return True
            if disruption.kind not in ("kill", "stop") or copy.at > disruption.end + BEHIND:
                continue
            (life,) = disruption.whose
            if not self.had_in_hand(life, disruption, event, copy):
                continue
            if self.was_unwritten(life, copy.at, disruption.end):
                return True
            if disruption.kind == "kill" and (age := disruption.start - copy.at - copy.held) < UNSETTLED:
                ages.append(age)
        if ages:
            self.counts.oldest = max(self.counts.oldest, min(ages))
            self.counts.late += min(ages) > PROMISED
        return bool(ages)

    def had_in_hand(self, life, end, event, copy):
        """Whether a row that says this was somebody's when it was sent, and still when they ended.

        Neither push services nor receivers can tell who sent something: all instances look alike to them. But only who has a row
        leased sends what it says, and who that is stands in the transaction that leases it. What is not known is which of a row's
        devices were settled before the others.
        """
        provider, key = PROVIDERS.get(copy.service, copy.service), event.rpartition(":")[2]
        held = set()
        for lease in self.leases:
            if lease.leased and lease.holder == life and lease.provider == provider and key in lease.words:
                if lease.at <= copy.at:
                    held.add(lease.group)
            elif lease.at <= end.start:
                held.discard(lease.group)
        return bool(held)

    def was_unwritten(self, life, since, until):
        """Whether somebody could not write to PostgreSQL from one moment to another, as far as can be known."""
        hurt = [found for found in self.world.disruptions if found.kind == "database" and found.concerns(life)]
        for disruption in sorted(hurt, key=lambda found: found.start):
            if disruption.start - UNSETTLED < since:
                since = max(since, disruption.end + RECOVERY)
        return since >= until

    # What is written

    async def judge_rows(self):
        known = {event: (resolved, total) for event, resolved, total in await self.rows(EVENTS)}
        delivered = dict(await self.rows(OUTCOMES))
        changing = self.changing()
        for post in self.community.posts:
            if not post.key or ":" in post.key:
                continue
            if post.key not in known:
                self.world.find("LOST", f"{post.kind} {post.key} has no row")
                continue
            if known[post.key][0] != known[post.key][1]:
                self.world.find("COUNTS", f"recipients of {post.key}: {known[post.key]}")
            seen = sum(1 for event, address in self.copies if event == post.key and address != "endpoint")
            written = delivered.get(post.key, 0)
            # What was taken just before a kill may have been forbidden when it was to be sent again.
            if written > seen or written < seen and post.key not in changing:
                self.world.find("COUNTS", f"{post.kind} {post.key}: {written} delivered by the log, {seen} arrived")
        if twice := await self.rows(TWICE):
            self.world.find("DUPLICATE", f"accepted twice: {twice}")
        if letters := await self.rows(LETTERS):
            self.world.find("COUNTS", f"dead letters: {letters}")
        if gone := await self.rows(GONE):
            self.world.find("COUNTS", f"devices that were put out of use: {gone}")

    def changing(self):
        """Posts of which some copy might have been forbidden when it came."""
        now = self.world.now()
        return {
            post.key
            for post, address, ways in self.pairs()
            if self.copies.get((post.key, address))
            and not any(all(switch.surely(True, post.posted_at, now) for switch in way) for way in ways)
        }

    async def judge_answers(self):
        """What the API says of some events is what the rows say."""
        taken = [post for post in self.community.posts if post.key and ":" not in post.key]
        delivered = dict(await self.rows(OUTCOMES))
        for post in taken[:: max(1, len(taken) // 10)]:
            state = await self.community.call("GET", f"{self.community.path}/events/{post.key}")
            counts, recipients = state["deliveries"], state["recipients"]
            if state["state"] != "done" or counts["delivered"] != delivered.get(post.key, 0) or counts["pending"]:
                self.world.find("COUNTS", f"{post.key} is shown as {state}")
            total = recipients["notified"] + recipients["noDevice"] + sum(recipients["suppressed"].values())
            if recipients["resolved"] != total:
                self.world.find("COUNTS", f"recipients of {post.key} are shown as {recipients}")


class Accounts:
    """A network's statistics, which are complete when the minute is over, or when everything has been stopped."""

    RIPE = 80

    def __init__(self, world, community, started_at, ended_at):
        self.world, self.community = world, community
        self.started_at, self.ended_at = started_at, ended_at

    @property
    def is_ripe(self):
        return self.world.now() - self.ended_at > self.RIPE

    async def judge(self, is_quiet):
        """Counts are those of the log; what a killed replica had counted in the last minute is missing."""
        rows = await self.world.cluster.query(OUTCOMES, {"network": self.community.name})
        expected = sum(delivered for _, delivered in rows)
        query = f"from={self.stamp(self.started_at)}&to={self.stamp(self.world.now())}&step=hour"
        found = await self.community.call("GET", f"{self.community.path}/stats?{query}")
        counted = sum(
            provider.get("delivered", 0) for point in found["points"] for provider in point["deliveries"].values()
        )
        if counted > expected or is_quiet and counted < expected:
            self.world.find("STATISTICS", f"{counted} delivered by the statistics, {expected} by the log")

    @staticmethod
    def stamp(moment):
        return datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
