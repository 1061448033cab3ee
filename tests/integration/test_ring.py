"""Peers started by hand: joining, status, seed, explain, leave, stop, and the ring's key."""

import json
import os
import signal

import ring

# The hand-off of a partition that is being crawled belongs to the next step: until then what the old owner had
# fetched may be fetched again by the new one.


class ByHand(ring.Case):
    def three(self, web, *more, seeds=(), scope="domain"):
        """The second joins through the first, the third through the second."""
        first = self.node("a", "--scope", scope, *ring.QUICK, *web.reach, *more)
        second = self.node("b", "--join", first.address, *web.reach)
        third = self.node("c", "--join", second.address, *web.reach)
        nodes = [first, second, third]
        self.wait_for_members(nodes, 3)
        if seeds:
            self.ok("seed", "--peer", third.address, *seeds)
        return nodes

    def test_three_peers_joined_one_through_another_crawl_it_all(self):
        web = self.web(hosts=8, pages=150, calm=False)
        nodes = self.three(web, seeds=web.seeds)
        self.wait_for_rest(nodes)
        self.check_whole(web)
        answers = [self.status(node) for node in nodes]
        for answer in answers:
            self.assertEqual(len(answer["peers"]), 3)
            self.assertEqual(answer["unreachable"], [])
            self.assertEqual(answer["ring"], answers[0]["ring"])
            self.assertEqual(answer["totals"]["fetched"] + answer["totals"]["failed"], len(web.pages()))
            self.assertEqual(sum(peer["partitions"] for peer in answer["peers"]), 4096)
            self.assertEqual(len({peer["ring_fingerprint"] for peer in answer["peers"]}), 1)
        self.assertEqual(len({answer["totals"]["discovered"] for answer in answers}), 1)
        text = self.ok("status", "--peer", nodes[1].address)
        for node in nodes:
            self.assertIn(node.address, text)

    def join_in_mid_crawl(self):
        web = self.web(hosts=8, pages=240, latency="10ms")
        first = self.node("a", *web.seeds, "--scope", "domain", *ring.QUICK, *web.reach)
        ring.wait_until("the crawl is under way", lambda: web.total() >= 30)
        second = self.node("b", "--join", first.address, *web.reach)
        ring.wait_until("half of it is done", lambda: web.total() >= 100)
        third = self.node("c", "--join", second.address, *web.reach)
        self.wait_for_members([first, second, third], 3)
        self.wait_for_rest([first, second, third])
        peers = self.status(third)["peers"]
        self.assertEqual(sum(peer["partitions"] for peer in peers), 4096)
        return web

    def test_peers_that_join_in_mid_crawl_lose_nothing(self):
        self.check_nothing_lost(self.join_in_mid_crawl())

    def test_peers_that_join_in_mid_crawl_cost_nothing_twice(self):
        self.check_whole(self.join_in_mid_crawl())

    def test_a_peer_that_joins_takes_the_rings_values(self):
        web = self.web(hosts=2, pages=10)
        first = self.node("a", "--scope", "domain", "--delay", "300ms", "--max-depth", 7, *web.reach)
        second = self.node("b", "--join", first.address, *web.reach)
        self.wait_for_members([first, second], 2)
        self.ok("seed", "--peer", second.address, *web.seeds)
        self.wait_for_rest([first, second])
        self.check_whole(web)
        for host in web.stats()["hosts"].values():
            self.assertGreaterEqual(host["smallest_gap_ms"], 300)

    def test_seeds_added_later_widen_the_scope_on_every_peer(self):
        web = self.web(hosts=6, pages=120)
        nodes = self.three(web, seeds=web.seeds, scope="host")
        self.wait_for_rest(nodes)

        def of(*hosts):
            return {url for url in web.expected() if url.startswith(tuple(web.url(host) for host in hosts))}

        self.assertEqual(set(web.pages()), of(0))
        for later, through in ((1, nodes[1]), (2, nodes[2]), (3, nodes[0])):
            told = json.loads(self.ok("seed", "--json", "--peer", through.address, web.url(later)))
            self.assertEqual(told["accepted"], [web.url(later)])
        ring.wait_until("every peer knows four seeds", lambda: all(self.own_status(n)["seeds"] == 4 for n in nodes))
        ring.wait_until("their hosts are fetched", lambda: set(web.pages()) >= of(0, 1, 2, 3))
        self.wait_for_rest(nodes)
        self.assertEqual(set(web.pages()), of(0, 1, 2, 3))
        self.assertEqual({url: n for url, n in web.pages().items() if n > 1}, {})
        for node in nodes:
            self.assertEqual(self.explain(node, web.url(4))["state"], "out of scope")

    def test_a_malformed_seed_is_refused_and_the_good_ones_are_taken(self):
        web = self.web(hosts=2, pages=10)
        node = self.node("a", "--scope", "host", *ring.QUICK, *web.reach)
        code, out, err = self.run_it("seed", "--peer", node.address, web.url(0), "http://[bad/", "ftp://x.test/")
        self.assertEqual(code, ring.INVALID_INPUT, err)
        self.assertIn("http://[bad/", out + err)
        self.assertIn("ftp://x.test/", out + err)
        self.assertIn(web.url(0), out)
        ring.wait_until("the good one is fetched", lambda: web.url(0) in web.pages())

    def test_explain_from_any_peer_says_the_same(self):
        web = self.web(hosts=8, pages=80, calm=False)
        nodes = self.three(web, seeds=web.seeds)
        self.wait_for_rest(nodes)
        owners = set()
        for host in range(8):
            answers = [self.explain(node, web.url(host)) for node in nodes]
            self.assertEqual([a["state"] for a in answers], ["fetched"] * 3)
            self.assertEqual(len({a["owner"] for a in answers}), 1)
            owners.add(answers[0]["owner"])
        self.assertGreater(len(owners), 1, "one peer owns all")
        for node in nodes:
            self.assertEqual(self.explain(node, web.url(6, "/private/secret-1.html"))["reason"], "robots")
        self.assertIn("fetched", self.ok("explain", "--peer", nodes[0].address, web.url(0)))
        self.refused(ring.INVALID_INPUT, ["not a url"], "explain", "--peer", nodes[0].address, "not a url")

    def leave(self, goal):
        web = self.web(hosts=8, pages=240, calm=False, latency="10ms")
        nodes = self.three(web, seeds=web.seeds)
        ring.wait_until(f"{goal} requests", lambda: web.total() >= goal)
        self.ok("leave", "--peer", nodes[1].address)
        self.assertEqual(nodes[1].wait(40), 0, nodes[1].err)
        stay = [nodes[0], nodes[2]]
        self.wait_for_members(stay, 2)
        self.wait_for_rest(stay)
        self.check_nothing_lost(web)
        answer = self.status(nodes[0])
        self.assertEqual(len(answer["peers"]), 2)
        self.assertEqual(sum(peer["partitions"] for peer in answer["peers"]), 4096)
        # What the one that left had fetched is known to those that stay.
        for node in stay:
            self.assertEqual(self.explain(node, web.url(0))["state"], "fetched")
        return web

    @ring.about(7)
    def test_a_peer_that_leaves_in_mid_crawl_loses_nothing(self):
        self.leave(60)

    @ring.about(7)
    def test_a_peer_that_leaves_late_loses_nothing(self):
        self.leave(160)

    def test_a_peer_that_leaves_costs_nothing_twice(self):
        self.check_whole(self.leave(100))

    def test_the_last_peer_may_leave_and_come_back(self):
        web = self.web(hosts=4, pages=80, latency="10ms")
        node = self.node("a", *web.seeds, "--scope", "domain", *ring.QUICK, *web.reach)
        ring.wait_until("30 requests", lambda: web.total() >= 30)
        self.ok("leave", "--peer", node.address)
        self.assertEqual(node.wait(20), 0, node.err)
        node = self.node("a", *web.reach)
        self.wait_for_rest([node])
        self.check_whole(web)

    def test_stop_ends_the_whole_ring_and_each_goes_on_later(self):
        web = self.web(hosts=8, pages=240, latency="10ms")
        nodes = self.three(web, seeds=web.seeds)
        ring.wait_until("60 requests", lambda: web.total() >= 60)
        self.assertEqual(len(json.loads(self.ok("stop", "--json", "--peer", nodes[2].address))["peers"]), 3)
        for node in nodes:
            self.assertEqual(node.wait(20), 0, node.err)
        self.assertLess(len(web.pages()), len(web.expected()))
        # No --join: they know one another from before, and come back at their old addresses.
        again = [self.node(name, *web.reach) for name in "abc"]
        self.assertEqual([node.address for node in again], [node.address for node in nodes])
        self.wait_for_members(again, 3)
        self.wait_for_rest(again)
        self.check_whole(web)

    def test_stop_one_ends_only_that_one(self):
        web = self.web(hosts=2, pages=10)
        first = self.node("a", *web.reach)
        second = self.node("b", "--join", first.address, *web.reach)
        self.wait_for_members([first, second], 2)
        self.ok("stop", "--one", "--peer", second.address)
        self.assertEqual(second.wait(20), 0, second.err)
        self.assertTrue(first.running())
        self.assertEqual(self.status(first)["peers"][0]["id"], first.id)

    def test_sigterm_and_sigint_stop_a_peer_cleanly(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            node = self.node(f"peer-{number}")
            node.signal(number)
            self.assertEqual(node.wait(20), 0, node.err)

    @ring.about(15)
    def test_a_killed_peers_work_is_taken_on_by_the_others_and_it_may_come_back(self):
        """Step 1 has no replicas: what only the dead one knew waits in its directory until it is back."""
        web = self.web(hosts=8, pages=240, latency="10ms")
        nodes = self.three(web, "--suspicion-time", "1s", seeds=web.seeds)
        ring.wait_until("80 requests", lambda: web.total() >= 80)
        os.kill(nodes[1].pid, signal.SIGKILL)
        nodes[1].wait(10)

        def seen_down():
            members = self.own_status(nodes[0])["members"]
            return any(m["id"] == nodes[1].id and m["state"] == "down" for m in members)

        ring.wait_until("it is seen to be down", seen_down)
        self.assertEqual([silent["id"] for silent in self.status(nodes[0])["unreachable"]], [nodes[1].id])
        back = self.node("b", "--join", nodes[0].address, *web.reach)
        self.assertEqual(back.id, nodes[1].id)
        nodes[1] = back
        self.wait_for_members(nodes, 3)
        self.wait_for_rest(nodes)
        lost, strays, _ = web.lost_and_twice()
        self.assertEqual((lost, strays), (set(), set()))

    def test_dir_names_a_peer_or_a_crawl(self):
        node = self.node("a")
        self.assertEqual(json.loads(self.ok("status", "--json", "--dir", node.directory))["peers"][0]["id"], node.id)
        self.refused(ring.UNREACHABLE, ["nowhere", "--peer"], "status", "--dir", self.dir / "nowhere")


class RingKey(ring.Case):
    def key(self, name):
        path = self.dir / name
        self.ok("ring-key", path)
        return path

    @ring.about(6)
    def test_peers_with_the_key_join_and_others_do_not(self):
        key, other = self.key("key"), self.key("other")
        self.assertNotEqual(key.read_text(encoding="utf-8"), other.read_text(encoding="utf-8"))
        first = self.node("a", key_file=key)
        second = self.node("b", "--join", first.address, key_file=key)
        self.wait_for_members([first, second], 2)
        self.assertEqual(len(self.status(first)["peers"]), 2)
        strangers = [
            self.node("without", "--join", first.address, up=False),
            self.node("another", "--join", first.address, key_file=other, up=False),
        ]
        for stranger in strangers:
            ring.wait_until(
                f"{stranger.name} has tried in vain, or was told so",
                lambda s=stranger: "no answer yet" in s.log() or not s.running(),
            )
            if not stranger.running():
                self.assertIn(stranger.wait(), (ring.UNREACHABLE, ring.MISMATCH))
                self.assertIn(first.address, stranger.err)
        self.assertEqual(len(self.own_status(first)["members"]), 2)
        self.assertEqual(len(self.status(second)["peers"]), 2)

    def test_commands_need_the_key_too(self):
        key, other = self.key("key"), self.key("other")
        node = self.node("a", key_file=key)
        self.ok("status", "--peer", node.address, "--ring-key-file", key)
        for wrong in ([], ["--ring-key-file", other]):
            self.refused(ring.UNREACHABLE, [node.address, "key"], "stop", "--peer", node.address, *wrong)
        self.assertTrue(node.running())
        open_node = self.node("open")
        self.refused(
            ring.UNREACHABLE, [open_node.address, "key"], "status", "--peer", open_node.address, "--ring-key-file", key
        )

    def test_a_port_that_others_can_reach_needs_a_key(self):
        for listen in ("0.0.0.0:0", "[::]:0"):
            self.refused(
                ring.INVALID_SETTING, [listen, "ring_key_file"], "node", "--dir", self.dir / "peer", "--listen", listen
            )
        node = self.node(
            "a", "--listen", "0.0.0.0:0", "--advertise", f"127.0.0.1:{ring.free_port()}", key_file=self.key("key")
        )
        self.assertTrue(node.running())

    def test_a_key_file_that_is_no_key_is_an_error_that_names_it(self):
        short = self.dir / "short"
        short.write_text("abc\n", encoding="utf-8")
        short.chmod(0o600)
        for path in (short, self.dir / "absent"):
            self.refused(
                ring.INVALID_SETTING, [str(path), "ring-key"], "node", "--dir", self.dir / "p", "--ring-key-file", path
            )
