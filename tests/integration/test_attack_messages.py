"""Hostile messages from one who is let in: no message ends a peer or a ring, and none has an effect that lasts.

Each test is an attack that once worked, against real peers, by speaker.py. Rings here have no key, so that anyone may
speak; with a key it is whoever has it.
"""

import json
import os
import time

import ring
import speaker
from speaker import ACTIVE, ASK, BATCH, DOWN, FINISH, JOIN, LEFT, SYNC, WAVE_PROBE, Speaker, Text, member, message, sync

NOT_UTF8 = Text(b"127.0.0.1:1\xff\xfe")
BUDGET = 512  # MiB, max_memory in the tests of memory


class Messages(ring.Case):
    def ring_of(self, count, *more):
        """So many peers with a crawl that has ended but goes on listening, and its web."""
        web = self.web(hosts=4, pages=60)
        first = self.node("a", "--scope", "domain", *ring.QUICK, *web.reach, *more)
        nodes = [first]
        for name in "bcd"[: count - 1]:
            nodes.append(self.node(name, "--join", first.address, *web.reach, *more))
        self.wait_for_members(nodes, count)
        return web, nodes

    def speak(self, node, timeout=60.0):
        connection = Speaker(node.address, timeout)
        self.addCleanup(connection.close)
        return connection

    def ring_id(self, node):
        return bytes.fromhex(node.file()["ring"])

    def counts(self, node):
        return self.own_status(node)["counts"]

    def check_alive(self, nodes):
        """Each answers by itself, after all that came before on these connections."""
        for node in nodes:
            self.assertTrue(node.running(), f"{node.name} ended: {node.err}")
            with Speaker(node.address, timeout=150) as connection:
                self.assertEqual(connection.ask("status", {})["id"], node.id)

    def check_crawls(self, web, nodes):
        self.ok("seed", "--peer", nodes[-1].address, *web.seeds)
        self.wait_for_rest(nodes)
        self.check_whole(web)

    def start_again(self, nodes, web, *more):
        """All peers end as by a kill, and are started again on their directories."""
        for node in nodes:
            node.kill()
        return [self.node(node.name, *web.reach, *more) for node in nodes]

    # ---- finding 1 ----

    @ring.about(10)
    def test_a_join_whose_address_is_not_utf8_is_refused(self):
        web, nodes = self.ring_of(3)
        speaking = self.speak(nodes[0])
        for address in (NOT_UTF8, Text(b"\x1b]0;owned\x07:1"), "nowhere", "host:99999", "", "a" * 290 + ":1", "host:0"):
            for state in (0, ACTIVE):
                record = member(b"\x77" * 16, address, state)
                speaking.send(message(JOIN, [record, speaker.ZERO, []]))
                speaking.send(message(SYNC, sync([record]), self.ring_id(nodes[0])))
        ring.wait_until("they are counted", lambda: self.counts(nodes[0])["messages_malformed"] >= 28)
        self.assertIn("is not HOST:PORT", nodes[0].log())
        self.assertIn("from 99999999", nodes[0].log())  # the sender's name
        self.check_alive(nodes)
        for node in nodes:
            self.assertEqual(len(self.own_status(node)["members"]), 3)
        again = self.start_again(nodes, web)
        self.wait_for_members(again, 3)
        self.check_crawls(web, again)

    # ---- finding 5 ----

    @ring.about(8)
    def test_questions_with_fields_of_the_wrong_type_get_errors(self):
        web, nodes = self.ring_of(2)
        speaking = self.speak(nodes[0])
        wrong = [
            ("explain", {"url": 1}),
            ("explain", {"url": ["http://a.test/"]}),
            ("forget", {"id": 5}),
            ("recrawl", {"older_than_us": "x"}),
            ("recrawl", {"older_than_us": -(2**63)}),
            ("recrawl", {"before_us": 2**64 - 1}),
            ("recrawl", {"host": 1}),
            ("recrawl", {"match": {}}),
            ("retry", {"states": "failed"}),
            ("retry", {"states": ["lost"]}),
            ("retry", {"older_than_us": -1}),
            ("urls", {"states": [{}]}),
            ("urls", {"status": 2**32}),
            ("urls", {"reason": []}),
            ("urls", {"match": "("}),
            ("urls", {"after": {nodes[0].id: 5}}),
            ("traps", {"readmit": 5}),
            ("traps", {"host": 5}),
            ("traps", {"after": {nodes[0].id: 5}}),
            ("seed", {"urls": "http://a.test/"}),
            ("seed", {"urls": {}}),
            ("status", []),
            ("status", "[" * 1_000_000),
            ("seed", '{"urls":' + "[" * 1_000_000 + "]" * 1_000_000 + "}"),
            ("seed", '{"urls":[' + '{"a":' * 40 + "1" + "}" * 40 + "]}"),
            ("explain", '{"url": "\\ud800"}'),
        ]
        for for_ring in (False, True):
            for verb, body in wrong:
                answer = speaking.ask(verb, body, for_ring)
                told = [answer, *answer.get("peers", [])]
                self.assertTrue(any("error" in one for one in told), f"{verb} {str(body)[:60]} {answer}")
        self.assertIn("error", speaking.ask("no such verb", {}))
        # Items that are no texts are refused one by one.
        answer = speaking.ask("seed", {"urls": [1, None, [[]], {"a": {}}, "no url"]})
        self.assertEqual((len(answer["accepted"]), len(answer["refused"])), (0, 5))
        self.assertGreater(self.counts_later(nodes[0])["messages_refused"], 0)
        self.check_alive(nodes)
        self.check_crawls(web, nodes)

    def counts_later(self, node):
        """As they are told after now."""
        asked = self.own_status(node)["published_us"]
        fresh = lambda: self.own_status(node)["published_us"] > asked  # noqa: E731
        ring.wait_until("status is published again", fresh)
        return self.counts(node)

    @ring.about(5)
    def test_texts_that_are_not_utf8_are_refused(self):
        web, nodes = self.ring_of(2)
        mine = self.ring_id(nodes[0])
        speaking = self.speak(nodes[0])
        bad = Text(b"\xff\xfe\xed\xa0\x80")
        for kind, body in (
            (FINISH, [1, bad, {}]),
            (FINISH, [1, "end", {bad: 1}]),
            (ASK, [1, bad, "{}", False]),
            (ASK, [1, "status", Text(b'{"a":"\xff"}'), True]),
            (SYNC, sync(seeds=[bad])),
            (speaker.ANSWER, [1, bad]),
        ):
            speaking.send(message(kind, body, mine))
        ring.wait_until("they are counted", lambda: self.counts(nodes[0])["messages_malformed"] >= 6)
        self.check_alive(nodes)
        self.check_crawls(web, nodes)

    # ---- finding 8 ----

    @ring.about(12)
    def test_a_word_that_a_peer_has_left_is_refuted_however_far_ahead(self):
        web, nodes = self.ring_of(3)
        victim = nodes[1]
        speaking = self.speak(nodes[0])
        known = next(m["incarnation"] for m in self.own_status(nodes[0])["members"] if m["id"] == victim.id)
        for ahead in (2**62, 2**61, known + 2**33):
            record = member(bytes.fromhex(victim.id), victim.address, LEFT, ahead)
            speaking.send(message(SYNC, sync([record]), self.ring_id(nodes[0])))
        ring.wait_until("they are counted", lambda: self.counts(nodes[0])["claims_refused"] >= 2)
        self.assertIn("not believed", nodes[0].log())
        # Within what is believed: it is refuted, and everybody believes that.
        record = member(bytes.fromhex(victim.id), victim.address, LEFT, known + 2**31)
        speaking.send(message(SYNC, sync([record]), self.ring_id(nodes[0])))
        refuted = lambda: all(  # noqa: E731
            any(m["id"] == victim.id and m["incarnation"] > known + 2**31 for m in self.own_status(n)["members"])
            for n in nodes
        )
        ring.wait_until("it is refuted", refuted)
        self.wait_for_members(nodes, 3)
        again = self.start_again(nodes, web)
        self.wait_for_members(again, 3)
        self.check_crawls(web, again)

    @ring.about(20)
    def test_tenures_from_nowhere_do_not_last(self):
        web, nodes = self.ring_of(3, "--suspicion-time", "3s")
        speaking = self.speak(nodes[0])
        stranger = b"\x66" * 16
        partitions = self.own_status(nodes[0])["ring_partitions"]
        held = lambda group: sum(self.counts(n)["partitions_held"] for n in group) == partitions  # noqa: E731
        ring.wait_until("all is held", lambda: held(nodes))
        ring.wait_until("nothing moves", lambda: all(self.counts(n)["partitions_to_gain"] == 0 for n in nodes))
        for epoch in (2**64 - 1, 2**63, 2**40):
            tenures = [[partition, epoch, stranger] for partition in range(partitions)]
            speaking.send(message(SYNC, sync(tenures=tenures), self.ring_id(nodes[0])))
        ring.wait_until("they are counted", lambda: self.counts(nodes[0])["claims_refused"] >= 3 * partitions)
        self.assertTrue(held(nodes))
        # Near enough to be believed: the owners take the partitions back from one whom nobody knows.
        tenures = [[partition, 1000, stranger] for partition in range(partitions)]
        speaking.send(message(SYNC, sync(tenures=tenures), self.ring_id(nodes[0])))
        ring.wait_until("they are believed", lambda: not held(nodes))
        ring.wait_until("they are taken over", lambda: held(nodes))
        again = self.start_again(nodes, web)
        self.wait_for_members(again, 3)
        ring.wait_until("all is held", lambda: held(again))
        self.check_crawls(web, again)

    @ring.about(15)
    def test_a_newcomer_joins_a_ring_whose_epochs_were_walked_far(self):
        """Each word is near enough to be believed; after 4,200 of them the epochs are beyond 2^32."""
        web, nodes = self.ring_of(1, "--stop-when-done", "yes")
        node = nodes[0]
        epoch = 1
        with Speaker(node.address) as speaking:
            for _ in range(4200):
                epoch += 1 << 20
                tenures = [[partition, epoch, bytes.fromhex(node.id)] for partition in range(8)]
                speaking.send(message(SYNC, speaker.sync(tenures=tenures), self.ring_id(node)))
            speaking.ask("status", {})
        self.assertGreater(epoch, 2**32)
        self.assertEqual(self.counts_later(node)["claims_refused"], 0, "all of it was believed")
        newcomer = self.node("newcomer", "--join", node.address, *web.reach)
        self.wait_for_members([node, newcomer], 2)
        self.ok("seed", "--peer", node.address, *web.seeds)
        for peer in (node, newcomer):
            self.assertEqual(peer.wait(), 0, "the crawl has an end")
        self.assertNotIn("not believed", newcomer.log())
        self.check_whole(web)

    @ring.about(8)
    def test_members_and_capacities_without_end_cost_little(self):
        _, nodes = self.ring_of(1, "--max-memory", f"{BUDGET}MiB")
        node = nodes[0]
        speaking = self.speak(node, timeout=150)  # the core has 4,096 members to judge, perhaps on a busy machine
        crowd = [
            member(os.urandom(16), f"127.0.0.1:{1 + i % 60000}", ACTIVE, capacity=10000) for i in range(40_000)
        ]
        speaking.send(message(SYNC, sync(crowd), self.ring_id(node)))  # too many for one message
        for at in range(0, 12_000, 1000):
            speaking.send(message(SYNC, sync(crowd[at : at + 1000]), self.ring_id(node)))
        self.check_alive(nodes)
        for one in crowd[12_000:12_050]:
            speaking.send(message(SYNC, sync([one]), self.ring_id(node)))
            self.assertEqual(speaking.ask("status", {})["id"], node.id)
        self.assertLessEqual(len(self.own_status(node)["members"]), 4096)
        self.assertGreater(self.counts_later(node)["claims_refused"], 7000)
        self.report(node, "40,000 members of capacity 10,000")

    @ring.about(25)
    def test_a_flood_of_large_messages_is_dropped(self):
        _, nodes = self.ring_of(1, "--max-memory", f"{BUDGET}MiB")
        node = nodes[0]
        record = [0, bytes(100)]
        large = message(BATCH, [1, 1, [record] * 65_000, 0, [], [], 0], self.ring_id(node))
        self.assertGreater(len(large), 7_000_000)
        speaking = self.speak(node)
        for _ in range(300):
            speaking.send(large)
        self.check_alive(nodes)
        self.assertGreater(self.counts_later(node)["messages_dropped"], 0)
        self.report(node, "300 messages of 7 MiB")

    def report(self, node, what):
        peak = ring.high_water_kib(node.pid) // 1024
        print(f"     {what}: peak {peak} MiB", flush=True)
        self.assertLess(peak, BUDGET * 1.25)

    @ring.about(5)
    def test_values_without_end_in_small_lists_are_refused_before_they_are_read(self):
        _, nodes = self.ring_of(1, "--max-memory", f"{BUDGET}MiB")
        node = nodes[0]
        speaking = self.speak(node)
        lists = b"\xdd" + (120).to_bytes(4, "big") + (b"\xdd" + (65_000).to_bytes(4, "big") + bytes(65_000)) * 120
        for _ in range(20):
            speaking.send(b"\x96\x02\x07" + speaker.packed(bytes(16)) * 2 + b"\x00" + lists)
        ring.wait_until("they are counted", lambda: self.counts(node)["messages_malformed"] >= 20)
        self.check_alive(nodes)
        self.report(node, "20 messages of 7.8 million values")

    @ring.about(10)
    def test_a_message_without_an_end_is_cut_off(self):
        """Parts of one byte, as fast as they are taken: libzmq keeps all parts until the last has come."""
        _, nodes = self.ring_of(1, "--max-memory", f"{BUDGET}MiB")
        node = nodes[0]
        parts = b"\x01\x01x" * 100_000
        for _ in range(3):
            speaking = self.speak(node)
            with self.assertRaises(OSError):
                for _ in range(1000):  # 300 MB
                    speaking.socket.sendall(parts)
        self.check_alive(nodes)
        metrics = f"http://{node.status_address}/metrics"  # published a few times a second
        ring.wait_until(
            "they are counted", lambda: "orbweaver_connections_endless_shut_total 3" in ring.get(metrics)[1]
        )
        self.report(node, "messages without an end")
        # A large one that has an end is taken, in whatever pieces it comes.
        with self.speak(node) as speaking:
            speaking.send(b"x" * (7 << 20), more=True)
            speaking.send(b"x")
            self.assertEqual(speaking.ask("status", {})["id"], node.id)

    @ring.about(8)
    def test_a_wave_from_the_future_does_not_hold_up_the_end(self):
        web, nodes = self.ring_of(2, "--stop-when-done", "yes")
        lowest = min(nodes, key=lambda n: n.id)
        other = next(n for n in nodes if n is not lowest)
        with Speaker(other.address) as speaking:
            for wave in (2**64 - 1, 2**62):
                body = [wave, 1, 2**64 - 1, 2**64 - 1]
                sent = message(WAVE_PROBE, body, self.ring_id(nodes[0]), bytes.fromhex(lowest.id))
                speaking.send(sent)
            self.assertEqual(speaking.ask("status", {})["id"], other.id)
        self.assertGreaterEqual(self.counts_later(other)["messages_refused"], 2)
        self.assertIn("its wave is of a later life than its sender", other.log())
        self.ok("seed", "--peer", lowest.address, *web.seeds)
        for node in nodes:
            self.assertEqual(node.wait(), 0)
            told = json.loads((node.directory / "ended.json").read_text(encoding="utf-8"))
            self.assertTrue(told["finished"])

    @ring.about(5)
    def test_a_stranger_that_is_down_is_not_waited_for(self):
        """A record of one that nobody knows, and that is gone, is no news."""
        web, nodes = self.ring_of(2)
        speaking = self.speak(nodes[0])
        speaking.send(message(SYNC, sync([member(b"\x55" * 16, "127.0.0.1:9", DOWN)]), self.ring_id(nodes[0])))
        self.check_alive(nodes)
        self.assertEqual(len(self.own_status(nodes[0])["members"]), 2)
        self.check_crawls(web, nodes)
