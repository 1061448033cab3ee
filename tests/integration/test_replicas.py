"""Replicas, leaving, identities and the ledger, on real processes: what a dead peer costs, and what a leaving one."""

import json
import re
import shutil
import signal
import time

import ring

FETCHES_MAX = 4  # of each peer at once
PARTITIONS = 4096


def ending(node):
    return json.loads((node.directory / "ended.json").read_text(encoding="utf-8"))


class Peers(ring.Case):
    """What the tests here share."""

    def peers(self, names, web, *more, seed=True, suspicion="1s"):
        """A ring in which death is seen soon; the first peer has its settings, the others take them."""
        common = ["--suspicion-time", suspicion, "--probe-every", "200ms", "--probe-timeout", "100ms"]
        common += ["--max-fetches", FETCHES_MAX, *web.reach]
        first = self.node(names[0], "--scope", "domain", *ring.QUICK, *common, *more)
        nodes = [first]
        for name in names[1:]:
            nodes.append(self.node(name, "--join", first.address, *common, *self.own_of(more)))
        self.wait_for_members(nodes, len(names))
        self.again = [*common, *self.own_of(more)]
        if seed:
            self.ok("seed", "--peer", nodes[-1].address, *web.seeds)
        return nodes

    @staticmethod
    def own_of(more):
        """Those of the settings that are each peer's own."""
        own = ("--leave-timeout", "--max-batch-age")
        return [text for i, text in enumerate(more) if text in own or (i > 0 and more[i - 1] in own)]

    def state_of(self, node, of):
        return {member["id"]: member["state"] for member in self.own_status(node)["members"]}.get(of.id)

    def kill_with_disk(self, node):
        node.signal(signal.SIGKILL)
        node.wait(10)
        shutil.rmtree(node.directory)

    def ledger(self, node):
        return json.loads(self.ok("status", "--ledger", "--json", "--peer", node.address))

    def wait_for_quiet(self, node):
        """As wait_for_rest, while partitions move: each peer's counts are of another moment, so that a partition on
        its way may be with none or both. Twice in a row the same ledger, in which nothing is left and none is amiss."""

        def quiet():
            ledgers = [self.ledger(node) for _ in range(2)]
            left = ("queued", "in_flight", "links_on_the_way", "copies_on_the_way")
            whole = ledgers[0]["settled"] and ledgers[0]["partitions_held"] == PARTITIONS
            return whole and ledgers[0] == ledgers[1] and not any(ledgers[0][name] for name in left)

        ring.wait_until("the ring has nothing left to do", quiet)


class Replicas(Peers):
    @ring.about(12)
    def test_a_peer_that_dies_with_its_disk_takes_nothing_along_and_the_others_end_by_themselves(self):
        web = self.web(hosts=8, pages=240, latency="80ms")
        more = ["--presume-dead-after", "3s", "--stop-when-done", "yes", "--max-batch-age", "10ms"]
        nodes = self.peers("abcd", web, *more)
        ring.wait_until("a good part is done", lambda: web.total() >= 80)
        self.kill_with_disk(nodes[1])
        self.assertLess(len(web.pages()), len(web.expected()), "it died too late")
        stay = [nodes[0], nodes[2], nodes[3]]
        self.assertEqual([node.wait() for node in stay], [0, 0, 0])
        twice = self.check_nothing_lost(web)
        # What it was fetching, and what it had fetched while the links of the last page were on their way to their
        # owners, which takes max_batch_age and some milliseconds: on a busy machine up to two latencies of the web.
        self.assertLessEqual(len(twice), 3 * FETCHES_MAX, twice)
        ends = [ending(node) for node in stay]
        for end in ends:
            self.assertTrue(end["finished"])
            self.assertEqual(end["totals"], ends[0]["totals"])
        self.assertEqual(ends[0]["totals"]["fetched"] + ends[0]["totals"]["failed"], len(web.pages()))
        self.assertEqual(ends[0]["totals"]["queued"], 0)
        self.assertEqual(sum(end["status"]["counts"]["partitions_held"] for end in ends), PARTITIONS)

    @ring.about(10)
    def test_without_replicas_the_ring_waits_for_a_dead_peer_until_it_is_forgotten(self):
        web = self.web(hosts=8, pages=120, latency="20ms")
        nodes = self.peers("abc", web, "--replicas", 1, "--presume-dead-after", "1s", "--stop-when-done", "yes")
        ring.wait_until("the crawl is under way", lambda: web.total() >= 30)
        self.refused(
            ring.INVALID_INPUT, [nodes[1].id[:8], "leave"], "forget", "--peer", nodes[0].address, nodes[1].id[:8]
        )
        self.refused(ring.INVALID_INPUT, ["zzzz"], "forget", "--peer", nodes[0].address, "zzzz")
        self.kill_with_disk(nodes[1])
        stay = [nodes[0], nodes[2]]
        for node in stay:
            ring.wait_until("it is seen to be down", lambda n=node: self.state_of(n, nodes[1]) == "down")
        down_at = time.monotonic()
        self.wait_for_rest(stay)
        ring.wait_until("far more than presume_dead_after", lambda: time.monotonic() > down_at + 3)
        self.assertEqual([node.running() for node in stay], [True, True])
        told = json.loads(self.ok("forget", "--json", "--peer", stay[0].address, nodes[1].id[:8]))
        self.assertEqual(told, {"forgotten": nodes[1].id})
        self.assertEqual([node.wait() for node in stay], [0, 0])
        for node in stay:
            self.assertTrue(ending(node)["finished"])
        self.assertLessEqual(set(web.pages()), web.expected())

    @ring.about(8)
    def test_the_ledger_balances_during_a_crawl_and_after(self):
        web = self.web(hosts=8, pages=200, calm=False, latency="10ms")
        nodes = self.peers("abc", web)
        for goal in (20, 60, 120):
            ring.wait_until(f"{goal} requests", lambda least=goal: web.total() >= least)
            for node in nodes:
                ledger = self.ledger(node)
                self.assertTrue(ledger["balances"], ledger)
                parts = ("fetched", "failed", "excluded", "queued", "in_flight")
                self.assertEqual(ledger["discovered"], sum(ledger[name] for name in parts))
        self.wait_for_rest(nodes)
        ring.wait_until("all copies are made", lambda: self.ledger(nodes[0])["copies_on_the_way"] == 0)
        ledger = self.ledger(nodes[2])
        self.assertTrue(ledger["balances"] and ledger["settled"], ledger)
        self.assertEqual((ledger["partitions_held"], ledger["partitions"]), (PARTITIONS, PARTITIONS))
        self.assertEqual([ledger[n] for n in ("queued", "in_flight", "links_on_the_way")], [0, 0, 0])
        self.assertEqual(ledger["fetched"] + ledger["failed"], len(web.pages()))
        # Two of each: the holder's and one other peer's.
        self.assertEqual(self.status(nodes[0])["totals"]["copies"], ledger["discovered"])
        text = self.ok("status", "--ledger", "--peer", nodes[1].address)
        self.assertIn("the ledger balances", text)
        self.assertIn(f"partitions held         {PARTITIONS} of {PARTITIONS}", text)

    @ring.about(8)
    def test_the_ledger_says_who_does_not_answer(self):
        web = self.web(hosts=2, pages=10)
        nodes = self.peers("abc", web)
        self.wait_for_rest(nodes)
        self.kill_with_disk(nodes[2])
        ring.wait_until("it is seen to be down", lambda: self.state_of(nodes[0], nodes[2]) == "down")
        ledger = self.ledger(nodes[0])
        self.assertFalse(ledger["settled"])
        self.assertIn(nodes[2].id[:8], " ".join(ledger["unsettled"]))
        self.assertTrue(ledger["balances"], ledger)
        # Those that stay take its partitions over from their copies.
        ring.wait_until(
            "all partitions are held again", lambda: self.ledger(nodes[1])["partitions_held"] == PARTITIONS
        )
        self.assertEqual(self.ledger(nodes[1])["discovered"], len(web.expected()))

    @ring.about(10)
    def test_hand_over_shows_its_progress(self):
        web = self.web(hosts=8, pages=60)
        nodes = self.peers("ab", web, suspicion="60s")
        self.wait_for_rest(nodes)
        nodes[0].signal(signal.SIGSTOP)  # what it holds cannot go anywhere meanwhile
        try:
            third = self.node("c", "--join", nodes[1].address, *self.again)
            ring.wait_until("the third holds a part and waits for the first's", lambda: self.gains(third) > 0)
            text = self.ok("status", "--peer", third.address)
            self.assertIn("to gain", text)
            self.assertIn(nodes[0].address, text)
        finally:
            nodes[0].signal(signal.SIGCONT)
        nodes.append(third)
        names = ("partitions_to_gain", "partitions_to_hand_over", "partitions_to_return", "copies_to_backfill")

        def settled():
            counts = [self.own_status(node)["counts"] for node in nodes]
            held = sum(c["partitions_held"] for c in counts)
            return held == PARTITIONS and all(c[name] == 0 for c in counts for name in names)

        ring.wait_until("all has been handed over", settled)
        answer = self.status(third)
        for peer in answer["peers"]:
            self.assertEqual(peer["counts"]["partitions_held"], peer["partitions"])
            self.assertEqual(peer["awaited"], {})
        self.assertGreater(sum(p["counts"]["records_moved"] for p in answer["peers"]), 0)
        self.check_whole(web)

    def gains(self, node):
        """How many partitions it waits for, once it holds some already; of its share the rest."""
        status = self.own_status(node)
        held, gain = status["counts"]["partitions_held"], status["counts"]["partitions_to_gain"]
        if held > 0 and gain > 0:
            self.assertEqual(held + gain, status["partitions"])
        return gain if held > 0 else 0


class Leaving(Peers):
    @ring.about(8)
    def test_sigterm_hands_everything_over_and_the_peer_may_come_back(self):
        web = self.web(hosts=8, pages=240, latency="20ms")
        nodes = self.peers("abc", web)
        ring.wait_until("60 requests", lambda: web.total() >= 60)
        nodes[1].signal(signal.SIGTERM)
        self.assertEqual(nodes[1].wait(), 0, nodes[1].err)
        end = ending(nodes[1])
        self.assertIn("all partitions were handed over", end["reason"])
        counts = end["status"]["counts"]
        for name in ("discovered", "queued", "fetched", "failed", "excluded", "outbox", "copies", "partitions_held"):
            self.assertEqual(counts[name], 0, name)
        self.assertLess(len(web.pages()), len(web.expected()), "it left too late")
        # It knows from before whom to ask.
        back = self.node("b", *self.again)
        self.assertEqual(back.id, nodes[1].id)
        nodes[1] = back
        self.wait_for_members(nodes, 3)
        ring.wait_until("it has a share again", lambda: self.own_status(back)["counts"]["partitions_held"] > 0)
        self.wait_for_quiet(back)
        self.check_whole(web)
        self.assertTrue(self.ledger(back)["balances"])

    @ring.about(6)
    def test_with_nobody_to_hand_over_to_sigterm_ends_it_and_says_what_remains(self):
        web = self.web(hosts=4, pages=80, latency="20ms")
        (node,) = self.peers("a", web)
        ring.wait_until("20 requests", lambda: web.total() >= 20)
        node.signal(signal.SIGTERM)
        self.assertEqual(node.wait(20), 0, node.err)
        end = ending(node)
        remain = end["status"]["counts"]["discovered"]
        self.assertGreater(remain, 0)
        self.assertIn(f"no peer is there to hand over to: {remain} URLs", end["reason"])
        self.assertIn("remain in the data directory", end["reason"])
        again = self.node("a", *self.again)
        self.wait_for_rest([again])
        self.check_whole(web)

    @ring.about(8)
    def test_with_no_time_to_leave_it_stops_and_what_remains_is_said_and_kept(self):
        web = self.web(hosts=8, pages=240, latency="20ms")
        nodes = self.peers("ab", web, "--leave-timeout", "0s")
        ring.wait_until("60 requests", lambda: web.total() >= 60)
        nodes[1].signal(signal.SIGTERM)
        self.assertEqual(nodes[1].wait(20), ring.UNREACHABLE, nodes[1].err)
        end = ending(nodes[1])
        said = re.search(r"leave_timeout is over, and (\d+) URLs and (\d+) links to other peers remain", end["reason"])
        self.assertIsNotNone(said, end["reason"])
        counts = end["status"]["counts"]
        # Some of that it may get rid of with its last words. A link that the other peer acknowledges meanwhile is kept as a
        # URL (PartitionMoves::keep_links).
        self.assertGreaterEqual(int(said[1]) + int(said[2]), max(1, counts["discovered"] + counts["copies"]))
        self.wait_for_rest([nodes[0]])
        self.check_nothing_lost(web)  # the other one has the copies
        back = self.node("b", *self.again)
        self.wait_for_members([nodes[0], back], 2)
        self.wait_for_rest([nodes[0], back])
        self.assertTrue(self.ledger(back)["balances"])


class Identity(Peers):
    @ring.about(12)
    def test_a_copied_directory_is_refused_by_name_and_the_first_goes_on(self):
        web = self.web(hosts=4, pages=40)
        nodes = self.peers("ab", web)
        self.wait_for_rest(nodes)
        # Copied while it does not run, so that the copy is a whole one.
        self.ok("stop", "--one", "--peer", nodes[1].address)
        self.assertEqual(nodes[1].wait(20), 0, nodes[1].err)
        for name in ("copy", "joining"):
            shutil.copytree(nodes[1].directory, self.dir / name)
        nodes[1] = self.node("b", *self.again)
        self.wait_for_members(nodes, 2)
        for name, more in (("copy", []), ("joining", ["--join", nodes[0].address])):
            copy = self.node(name, *self.again, *more, up=False)
            self.assertIn(copy.wait(), (ring.MISMATCH, ring.IN_USE), copy.err)
            self.assertIn("copied", copy.err)
            self.assertIn(nodes[1].address, copy.err)
        self.assertTrue(nodes[1].running())
        self.wait_for_members(nodes, 2)
        for node in nodes:  # nor did anybody take over what another holds
            self.assertNotIn("taken over", node.log())
        addresses = {m["id"]: m["address"] for m in self.own_status(nodes[0])["members"]}
        self.assertEqual(addresses, {node.id: node.address for node in nodes})
        ledger = self.ledger(nodes[0])
        self.assertTrue(ledger["balances"] and ledger["settled"], ledger)

    def test_the_directory_of_a_running_peer_is_refused_by_name(self):
        web = self.web(hosts=1, pages=5)
        (node,) = self.peers("a", web)
        self.refused(ring.IN_USE, [str(node.directory)], "node", "--dir", node.directory)
        self.assertTrue(node.running())

    def test_a_peer_of_one_ring_is_not_let_into_another(self):
        web = self.web(hosts=2, pages=10)
        (one,) = self.peers("a", web)
        (two,) = self.peers("b", web, seed=False)
        rings = [self.status(node)["ring"] for node in (one, two)]
        self.assertNotEqual(rings[0], rings[1])
        self.wait_for_rest([one])
        one.signal(signal.SIGINT)
        self.assertEqual(one.wait(20), 0, one.err)
        again = self.node("a", "--join", two.address, *self.again, up=False)
        self.assertEqual(again.wait(), ring.MISMATCH, again.err)
        for word in ("ring refused this peer", *rings):
            self.assertIn(word, again.err)
        self.assertEqual(len(self.own_status(two)["members"]), 1)
        # What it has is its own ring's still.
        alone = self.node("a", *self.again)
        self.assertEqual(self.status(alone)["ring"], rings[0])
        self.assertEqual(self.own_status(alone)["counts"]["fetched"], len(web.expected()))

    def test_a_peer_at_the_address_of_another_rings_member_is_not_taken_for_it(self):
        web = self.web(hosts=2, pages=10)
        nodes = self.peers("ab", web)
        self.wait_for_rest(nodes)
        nodes[1].kill()
        other = self.node("other", "--listen", nodes[1].address, *self.again)
        ring.wait_until("its messages are refused", lambda: self.own_status(other)["counts"]["messages_refused"] > 0)
        ring.wait_until("the dead one is down", lambda: self.state_of(nodes[0], nodes[1]) == "down")
        self.assertEqual([m["id"] for m in self.own_status(other)["members"]], [other.id])
        self.assertEqual({m["id"] for m in self.own_status(nodes[0])["members"]}, {n.id for n in nodes})
        self.assertEqual(self.own_status(other)["counts"]["discovered"], 0)
