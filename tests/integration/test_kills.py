"""What a crash costs: kill -9 of one peer, of all, and torn archive files."""

import json
import os
import random
import signal

import kills
import ring
import warcs


class KillNine(kills.Kills):
    runTest = None

    def check(self, of_all):
        seed = random.SystemRandom().randrange(1_000_000)
        cost = self.crawl_and_kill(random.Random(seed), of_all)
        self.assertTrue(cost.right(), f"seed {seed}, at most {cost.bound()} twice: {cost}")

    @ring.about(7)
    def test_one_peer_killed_is_started_again_and_nothing_is_lost(self):
        self.check(False)

    @ring.about(7)
    def test_one_peer_killed_a_second_time(self):
        self.check(False)

    @ring.about(7)
    def test_all_killed_and_the_same_command_goes_on(self):
        self.check(True)

    @ring.about(7)
    def test_all_killed_a_second_time(self):
        self.check(True)

    @ring.about(10)
    def test_a_peer_that_dies_at_every_start_is_given_up_with_a_message(self):
        """The crawl says which peer, and ends; it does not start it again for ever."""
        web = self.web(hosts=8, pages=200, latency="20ms")
        crawl = self.start_crawl(web, "--peers", 2)
        ring.wait_until("both peers are up", lambda: len(self.peer_files()) == 2)

        def kill_again():
            told = self.peer_files().get("peer-2")
            if told:
                os.kill(told["pid"], signal.SIGKILL)
            return not crawl.running()

        ring.wait_until("the crawl gives up", kill_again, every=0.005)
        self.assertEqual(crawl.wait(), ring.INTERNAL, crawl.err)
        self.assertIn("peer-2", crawl.err)
        self.assertIn("died", crawl.err)
        ring.wait_until("no peer is left behind", lambda: not self.peer_files())
        self.assertTrue(self.crawl(web, "--peers", 2)["finished"])
        lost, strays, _ = web.lost_and_twice()
        self.assertEqual((lost, strays), (set(), set()))

    @ring.about(5)
    def test_the_parent_killed_takes_its_peers_along(self):
        """Peers without their parent stop by themselves, and cleanly: nothing is fetched twice."""
        web = self.web(hosts=8, pages=200, latency="10ms")
        crawl = self.start_crawl(web, "--peers", 2)
        ring.wait_until("the crawl is in its middle", lambda: web.total() >= 60)
        crawl.kill()
        ring.wait_until("the peers have ended", lambda: not self.peer_files(), 20)
        self.assertTrue(self.crawl(web, "--peers", 2)["finished"])
        self.check_whole(web)


class TornArchive(ring.Case):
    """A file that is being written is named *.open; what a crash left is made whole when its peer starts again."""

    def open_file(self, node):
        [path] = node.directory.rglob("*.warc.gz.open")
        return path

    def damaged(self, damage):
        """A peer that has fetched everything is killed and its open archive damaged; started again, it has only that to
        mend. What lay in the file before, and after."""
        web = self.web(hosts=2, pages=20)
        node = self.node("a", *web.seeds, "--scope", "domain", *ring.QUICK, *web.reach)
        self.wait_for_rest([node])
        node.kill()
        path = self.open_file(node)
        before = warcs.responses(warcs.records(path))
        self.assertEqual(before, web.urls())
        damage(path)
        with self.assertRaises(warcs.Torn):
            warcs.records(path)
        again = self.node("a", *web.reach)
        again.signal(signal.SIGTERM)
        self.assertEqual(again.wait(20), 0, again.err)
        self.assertEqual(list(node.directory.rglob("*.open")), [], "files that are still open after a clean stop")
        after = warcs.read_all(node.directory)
        self.assertLessEqual(web.total(), sum(before.values()), "pages fetched again")
        return before, after

    def test_half_a_record_is_cut_off_at_restart(self):
        def append(path):
            whole = path.read_bytes()
            path.write_bytes(whole + whole[:200])

        before, after = self.damaged(append)
        self.assertEqual(before, after)

    def test_rubbish_is_cut_off_at_restart(self):
        before, after = self.damaged(lambda path: path.write_bytes(path.read_bytes() + os.urandom(5000)))
        self.assertEqual(before, after)

    def test_zeros_are_cut_off_at_restart(self):
        """What some file systems leave after the power failed."""
        before, after = self.damaged(lambda path: path.write_bytes(path.read_bytes() + bytes(4096)))
        self.assertEqual(before, after)

    def test_the_last_record_torn_costs_no_other(self):
        whole = []

        def cut(path):
            whole.extend(warcs.records(path))
            path.write_bytes(path.read_bytes()[:-7])

        self.damaged(cut)
        [path] = (self.dir / "a").rglob("*.warc.gz")
        self.assertEqual(warcs.records(path), whole[:-1])

    def test_a_crawl_killed_with_a_torn_tail_goes_on(self):
        web = self.web(hosts=4, pages=120, latency="10ms")
        node = self.node("a", *web.seeds, "--scope", "domain", *ring.QUICK, *web.reach)
        ring.wait_until("the crawl is in its middle", lambda: web.total() >= 40)
        node.kill()
        path = self.open_file(node)
        path.write_bytes(path.read_bytes() + b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + os.urandom(300))
        again = self.node("a", *web.reach)
        self.wait_for_rest([again])
        again.signal(signal.SIGTERM)
        self.assertEqual(again.wait(20), 0, again.err)
        self.assertEqual(web.expected() - set(warcs.read_all(node.directory)), set())
        self.assertEqual(list(node.directory.rglob("*.open")), [])
