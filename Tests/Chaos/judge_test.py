"""Whether the judge of rounds finds what it has to find: one that finds nothing would let everything pass."""

import asyncio
import contextlib
import types
import unittest
from unittest import mock

from cluster import Aborted, Cluster, free_port
from community import Community, Device, Post, User
from faults import FAULTS
from ledger import Copy, Ledger
from rounds import Rounds
from table import write
from timeline import Timeline
from verdict import Lease, Verdict
from world import World


class Judging(unittest.TestCase):
    """A message of second 100 to alice, bob and carol, of whom alice sent it."""

    def setUp(self):
        self.world = World.__new__(World)
        self.world.ledger = Ledger()
        self.world.findings, self.world.notes, self.world.disruptions = [], [], []
        self.leases = []
        self.community = Community(self.world, 1)
        for name in ("alice", "bob", "carol"):
            self.community.users[name] = User(name, memberships={"general": Timeline()})
            self.community.devices.append(Device(f"d-{name}", name, {}, f"to-{name}"))
        self.community.posts.append(Post("message", "general", "alice", 100.0, "e"))

    def arrive(self, address, *moments, identity="n", service="apns"):
        for moment in moments:
            self.world.ledger.note(self.community.name, "e", address, Copy(moment, identity, service))

    def hurt(self, kind, start, end, services=(), whose=()):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.world.disrupting(kind, services, whose))
        self.world.disruptions[-1].start, self.world.disruptions[-1].end = start, end

    def end(self, kind, start, end, life="chaos-1-3"):
        self.hurt(kind, start, end, whose=(life,))

    def lease(self, at, holder="chaos-1-3", leased=True, group="g", provider="apns", words="e of alice"):
        self.leases.append(Lease(at, group, provider, words, holder, leased))

    def found(self):
        verdict = Verdict(self.world, self.community, 120.0)
        verdict.leases = self.leases
        verdict.judge_copies()
        verdict.judge_duplicates()
        self.counts = verdict.counts
        return [text.partition(":")[0] for text in self.world.findings]

    def arrive_everywhere(self):
        for address in ("to-bob", "to-carol", "endpoint"):
            self.arrive(address, 101.0)

    def test_finds_nothing_where_all_is_well(self):
        self.arrive_everywhere()
        self.assertEqual(self.found(), [])
        self.assertEqual((self.counts.events, self.counts.deliveries, self.counts.messages), (1, 2, 1))

    def test_finds_what_is_lost_to_a_device_and_to_the_endpoint(self):
        self.arrive("to-bob", 101.0)
        self.assertEqual(self.found(), ["LOST"])
        self.assertIn("2: ", self.world.findings[0])

    def test_misses_nobody_who_was_about_to_switch_off(self):
        self.community.users["carol"].switch.begin(100.5)
        self.arrive("to-bob", 101.0)
        self.arrive("endpoint", 101.0)
        self.assertEqual(self.found(), [])

    def test_finds_what_passes_a_switch_that_was_off_before(self):
        switch = self.community.users["carol"].switch
        switch.begin(98.0)
        switch.end(False, 99.0)
        self.arrive_everywhere()
        self.assertEqual(self.found(), ["FORBIDDEN"])

    def test_lets_pass_what_came_after_the_switch_was_about_to_be_on_again(self):
        switch = self.community.users["carol"].switch
        switch.end(False, 99.0)
        switch.begin(100.8)
        self.arrive_everywhere()
        self.assertEqual(self.found(), [])

    def test_finds_what_goes_to_an_address_that_a_device_no_longer_has(self):
        self.community.devices[2].registered.end(False, 99.0)
        self.arrive_everywhere()
        self.assertEqual(self.found(), ["FORBIDDEN"])

    def test_finds_what_does_not_concern_whoever_got_it(self):
        self.arrive_everywhere()
        self.arrive("to-alice", 101.0)
        self.assertEqual(self.found(), ["FORBIDDEN"])

    def test_finds_a_copy_that_nothing_explains(self):
        self.arrive_everywhere()
        self.arrive("to-bob", 102.0)
        self.assertEqual(self.found(), ["DUPLICATE"])

    def come_again(self):
        """What had come to bob at 101 comes once more."""
        self.arrive_everywhere()
        self.arrive("to-bob", 104.0)

    def test_takes_a_kill_for_an_explanation_of_what_was_sent_just_before(self):
        self.lease(100.5)
        self.end("kill", 101.2, 101.4)
        self.come_again()
        self.assertEqual(self.found(), [])
        self.assertEqual((self.counts.duplicates, self.counts.late), (1, 0))
        self.assertAlmostEqual(self.counts.oldest, 0.2)

    def test_counts_what_was_sent_longer_before_a_kill_than_is_promised(self):
        self.lease(100.5)
        self.end("kill", 101.3, 101.4)
        self.come_again()
        self.assertEqual(self.found(), [])
        self.assertEqual((self.counts.duplicates, self.counts.late), (1, 1))
        self.assertAlmostEqual(self.counts.oldest, 0.3)

    def test_does_not_take_a_kill_for_an_explanation_of_what_was_sent_long_before(self):
        self.lease(100.5)
        self.end("kill", 101.5, 101.6)
        self.come_again()
        self.assertEqual(self.found(), ["DUPLICATE"])

    def test_counts_from_the_answer_and_not_from_the_arrival(self):
        self.lease(100.5)
        self.end("kill", 101.9, 102.0)
        self.arrive_everywhere()
        copies = self.world.ledger.copies[self.community.name]["e", "to-bob"]
        copies[:] = [copies[0]._replace(held=0.8)]
        self.arrive("to-bob", 104.0)
        self.assertEqual(self.found(), [])
        self.assertAlmostEqual(self.counts.oldest, 0.1)

    def test_does_not_take_the_kill_of_somebody_else_for_an_explanation(self):
        self.lease(100.5)
        for life in ("chaos-0-1", "chaos-1-2", "chaos-1-30"):
            self.end("kill", 101.1, 101.2, life)
        self.come_again()
        self.assertEqual(self.found(), ["DUPLICATE"])

    def test_does_not_take_the_kill_of_who_had_settled_it_before_for_an_explanation(self):
        self.lease(100.5)
        self.lease(101.1, leased=False)
        self.end("kill", 101.2, 101.3)
        self.come_again()
        self.assertEqual(self.found(), ["DUPLICATE"])

    def test_does_not_take_the_kill_of_who_got_the_row_only_afterwards_for_an_explanation(self):
        self.lease(100.5, "chaos-0-1")
        self.lease(101.1)
        self.end("kill", 101.2, 101.3)
        self.come_again()
        self.assertEqual(self.found(), ["DUPLICATE"])

    def test_does_not_take_a_kill_for_an_explanation_by_what_its_rows_did_not_say(self):
        self.lease(100.5, words="of bob", group="another")
        self.lease(100.5, provider="fcm", group="a third")
        self.end("kill", 101.2, 101.3)
        self.come_again()
        self.assertEqual(self.found(), ["DUPLICATE"])

    def test_takes_a_kill_for_an_explanation_of_what_arrives_when_somebody_else_has_the_row(self):
        self.lease(100.5)
        self.end("kill", 100.8, 100.9)
        self.lease(100.95, "chaos-0-1")
        self.come_again()
        self.assertEqual(self.found(), [])
        self.assertEqual(self.counts.late, 0)

    def test_knows_rows_of_other_systems_messages_by_what_they_say(self):
        self.lease(100.5, words="a row whose text is w0rds")
        self.end("kill", 101.2, 101.3)
        self.world.ledger.note(self.community.name, "alert:w0rds", "to-phone", Copy(101.0, "n", "apns"))
        self.world.ledger.note(self.community.name, "alert:w0rds", "to-phone", Copy(103.0, "n", "apns"))
        self.arrive_everywhere()
        self.assertEqual(self.found(), [])

    def test_takes_a_database_that_was_away_until_the_kill_for_an_explanation(self):
        self.lease(100.5)
        self.hurt("database", 101.2, 102.5)
        self.end("kill", 103.0, 103.1)
        self.come_again()
        self.assertEqual(self.found(), [])

    def test_does_not_take_a_database_that_was_away_for_somebody_else_for_an_explanation(self):
        self.lease(100.5)
        self.hurt("database", 101.2, 102.5, whose=("chaos-0",))
        self.end("kill", 103.0, 103.1)
        self.come_again()
        self.assertEqual(self.found(), ["DUPLICATE"])

    def test_takes_a_stop_for_an_explanation_only_without_a_database(self):
        self.lease(100.5)
        self.end("stop", 101.1, 101.2)
        self.come_again()
        self.assertEqual(self.found(), ["DUPLICATE"])
        self.world.findings.clear()
        self.hurt("database", 101.1, 101.3, whose=("chaos-1",))
        self.assertEqual(self.found(), [])

    def test_takes_a_cut_for_an_explanation_only_of_what_its_push_service_got(self):
        self.hurt("push", 101.1, 101.2, ("fcm",))
        self.arrive_everywhere()
        self.arrive("to-bob", 102.0)
        self.assertEqual(self.found(), ["DUPLICATE"])

    def test_finds_copies_with_different_ids_however_they_came(self):
        self.lease(100.5)
        self.end("kill", 101.2, 101.4)
        self.arrive_everywhere()
        self.arrive("to-bob", 103.0, identity="another")
        self.assertEqual(self.found(), ["DUPLICATE"])


class Rows(unittest.TestCase):
    def test_finds_counts_that_differ_from_what_arrived(self):
        case = Judging()
        case.setUp()
        case.arrive_everywhere()
        verdict = Verdict(case.world, case.community, 120.0)
        rows = iter([[("e", 2, 2)], [("e", 1)], [], [], []])

        async def query(*_):
            return next(rows)

        case.world.cluster = types.SimpleNamespace(query=query)
        asyncio.run(verdict.judge_rows())
        self.assertEqual([text.partition(":")[0] for text in case.world.findings], ["COUNTS"])


class Tables(unittest.TestCase):
    def test_names_the_seeds_that_found_something(self):
        counts = dict(events=1, deliveries=2, messages=1, duplicates=3, late=1, oldest=0.2, quiet=1.0, seconds=5.0)
        rounds = [counts | dict(seed=seed, instances=2, faults=["kill"], findings=[]) for seed in (7, 8)]
        rounds[1]["findings"] = ["LOST: 1"]
        text = write(rounds)
        self.assertIn("| seeds that found something | 8 |", text)
        self.assertIn("| rounds in which something was lost | 1 |", text)
        self.assertIn("| of them sent more than 250 ms before the kill of their sender | 2 |", text)


class Ports(unittest.TestCase):
    def test_are_not_those_of_outgoing_connections_and_none_is_given_twice(self):
        ports = [free_port() for _ in range(500)]
        self.assertLess(max(ports), 32_768)
        self.assertEqual(len(set(ports)), 500)


class Servers(unittest.IsolatedAsyncioTestCase):
    """What rounds are played on is hurt by several faults at a time."""

    async def test_a_primary_that_is_killed_while_it_is_copied_is_copied_again(self):
        copies = mock.AsyncMock(side_effect=[Aborted("pg_basebackup ended with 1"), None])
        cluster = Cluster.__new__(Cluster)
        cluster.primary, cluster.standby = mock.Mock(), mock.Mock(copy=copies)
        cluster.until = cluster.query = mock.AsyncMock()
        await cluster.attach()
        self.assertEqual(copies.await_count, 2)
        cluster.primary.configure.assert_called_once_with(synchronous=True)

    async def test_a_round_whose_servers_fail_is_aborted_and_finds_nothing(self):
        world = mock.Mock()
        broken = mock.AsyncMock(side_effect=Aborted("PostgreSQL does not start again"))
        with mock.patch.dict(FAULTS, {"crash": broken}), mock.patch("rounds.Load") as load:
            load.return_value.run = mock.AsyncMock()
            with self.assertRaises(Aborted):
                await Rounds(world, ["crash"], None).hurt(1, None, ["crash"])
        world.find.assert_not_called()


if __name__ == "__main__":
    unittest.main()
