"""The seen-set of a crawl behind a Bloom filter, the export of its URLs, and `orbweaver lab dedup`."""

import json
import math
import os
import random
import re
import signal

import kills
import ring

BLOOM = ["--seen", "bloom"]
# So few bits that pages are lost: 500 URLs are planned for, and one new page in eight is taken as seen by then.
TINY = ["--seen", "bloom", "--seen-urls", "500", "--seen-false-positives", "0.125"]


class Bloom(ring.Case):
    def test_a_wide_filter_loses_nothing_and_saves_a_read_for_each_new_url(self):
        web = self.web(hosts=8, pages=200, calm=False)
        exact = self.crawl(web, "--peers", 2, out="exact")
        self.check_nothing_lost(web)
        self.assertNotIn("missed", exact)
        web.reset()
        bloom = self.crawl(web, "--peers", 2, *BLOOM, out="bloom")
        self.check_whole(web)
        self.assertEqual(bloom["pages"], exact["pages"])
        self.assertEqual(bloom["excluded"], exact["excluded"])
        self.assertLess(bloom["missed"], 0.001)
        self.assertGreater(bloom["totals"]["seen_filter_hits"], 0)
        # How many reads a crawl makes depends on how its writes fall into batches; how many are saved does not.
        by_link = bloom["pages"] + bloom["excluded"] + bloom["failed"] - len(web.seeds)
        self.assertEqual(bloom["totals"]["seen_filter_negatives"], by_link)
        self.assertEqual(exact["totals"]["seen_filter_negatives"], 0)
        self.assertEqual(exact["totals"]["seen_filter_hits"], 0)

    def test_max_depth_is_kept_as_with_an_exact_seen_set(self):
        web = self.web(hosts=1, pages=150)
        exact = self.crawl(web, "--max-depth", 3, out="exact")
        first = set(web.pages())
        web.reset()
        bloom = self.crawl(web, "--max-depth", 3, *BLOOM, out="bloom")
        self.assertEqual(set(web.pages()), first)
        self.assertEqual((bloom["pages"], bloom["excluded"]), (exact["pages"], exact["excluded"]))

    @ring.about(7)
    def test_a_tiny_filter_misses_about_as_many_as_status_says(self):
        leaves = 1500
        pages = {"index.html": [f"list-{i}.html" for i in range(leaves // 50)]}
        for i in range(leaves // 50):
            pages[f"list-{i}.html"] = []
        # The lists are seeds, which no filter loses; each leaf is linked once.
        for leaf in range(leaves):
            pages[f"list-{leaf // 50}.html"].append(f"leaf-{leaf}.html")
            pages[f"leaf-{leaf}.html"] = []
        root = self.tree("site", pages)
        web = self.web(hosts=0, pages=0, trees=[("leaves.test", root)])
        seeds = [web.url("leaves.test", f"/list-{i}.html") for i in range(leaves // 50)]
        node = self.node("a", *seeds, *ring.QUICK, *TINY, *web.reach)
        self.wait_for_rest([node])
        fetched = {url for url in web.pages() if "/leaf-" in url}
        lost = leaves - len(fetched)
        status = self.own_status(node)
        told = status["seen_filter"]
        self.assertEqual(status["seen"], "bloom")
        self.assertTrue(told["overfull"])
        self.assertGreater(told["false_positives"], told["false_positives_planned"])
        self.assertGreater(lost, 20)
        # Five standard deviations: of each page p, of each that was let in (1-p)(p/(1-p))^2; p is at most that of now.
        self.assertLess(abs(lost - told["missed"]), 5 * math.sqrt(told["missed"] / (1 - told["false_positives"])))
        self.assertIn("filter holds more than it was planned for", node.log())
        text = self.ok("status", "--peer", node.address)
        self.assertRegex(text, r"seen = bloom on 1 peers: 0\.0 MiB of filters")
        self.assertRegex(text, rf"pages that the seen-set's filter may have missed: {told['missed']:.3g} expected")
        self.assertRegex(text, "its filter is overfull: ")
        _, metrics = ring.get(f"http://{node.status_address}/metrics")
        self.assertAlmostEqual(
            float(re.search(r"^orbweaver_pages_missed (\S+)$", metrics, re.M).group(1)), told["missed"], 2)

        missing = next(url for url in (web.url("leaves.test", f"/leaf-{i}.html") for i in range(leaves))
                       if url not in fetched)
        why = self.explain(node, missing)
        self.assertEqual((why["state"], why["taken_as_seen"]), ("unknown", True))
        self.assertIn("it was missed", why["why"])
        # Nothing that a user names is lost.
        self.ok("seed", "--peer", node.address, missing)
        ring.wait_until("the seed is fetched", lambda: self.explain(node, missing)["state"] == "fetched")

        # Exact from now on: what was missed is still told, and the next link to it would find it.
        node.signal(signal.SIGINT)
        self.assertEqual(node.wait(20), 0, node.err)
        again = self.node("a", *web.reach)
        status = self.own_status(again)
        self.assertEqual(status["seen"], "exact")
        self.assertAlmostEqual(status["seen_filter"]["missed"], told["missed"], 6)

    def test_a_filter_beyond_memory_is_refused_before_it_is_made(self):
        self.refused(ring.INVALID_SETTING, ["seen_urls = 100000000000", "of memory", "are available"], "node", "--dir",
                     self.dir / "a", *BLOOM, "--seen-urls", "100000000000")
        self.refused(ring.INVALID_SETTING, ["seen_false_positives", "1e-12 to 0.5"], "node", "--dir", self.dir / "a",
                     *BLOOM, "--seen-false-positives", "2")


class BloomKills(kills.Kills):
    runTest = None

    @ring.about(7)
    def test_all_killed_in_bloom_mode_and_the_same_command_goes_on(self):
        """The filters are made anew from the stores: nothing is lost, and no more fetched twice than without them."""
        seed = random.SystemRandom().randrange(1_000_000)
        source = random.Random(seed)
        web = self.web(hosts=8, pages=200, calm=False, latency="10ms", seed=source.randrange(1000))
        command = ["--peers", kills.PEERS, "--max-fetches", kills.FETCHES_MAX, *BLOOM]
        crawl = self.start_crawl(web, *command)
        ring.wait_until("the crawl is in its middle",
                        lambda: not crawl.running() or (web.total() >= 80 and len(self.peer_files()) == kills.PEERS))
        self.assertTrue(crawl.running(), f"the crawl ended before it was killed: {crawl.out} {crawl.err}")
        self.kill_everything(crawl)
        summary = self.crawl(web, *command)
        self.assertTrue(summary["finished"], summary)
        twice = self.check_nothing_lost(web)
        self.assertLessEqual(len(twice), kills.PEERS * kills.FETCHES_MAX, f"seed {seed}")
        self.assertGreater(summary["totals"]["seen_filter_hits"], 0)

    @ring.about(7)
    def test_a_peer_joins_and_one_leaves_in_bloom_mode(self):
        web = self.web(hosts=8, pages=300, latency="20ms")
        first = self.node("a", *web.seeds, "--scope", "domain", *ring.QUICK, *BLOOM, *web.reach)
        ring.wait_until("the crawl is on its way", lambda: web.total() >= 50)
        second = self.node("b", "--join", first.address, *BLOOM, *web.reach)
        self.wait_for_members([first, second], 2)
        ring.wait_until("the crawl is in its middle", lambda: web.total() >= 120)
        third = self.node("c", "--join", first.address, *web.reach)  # exact beside two that are not
        self.wait_for_members([first, second, third], 3)
        self.ok("leave", "--peer", first.address)
        self.assertEqual(first.wait(), 0, first.err)
        self.wait_for_rest([second, third])
        self.check_whole(web)


class Export(ring.Case):
    def test_urls_by_state_each_once_whatever_the_copies(self):
        web = self.web(hosts=4, pages=80, calm=False)
        crawl = self.crawl(web, "--peers", 2, "--replicas", 2)
        urls = self.ok("export", "urls", "--out", self.dir / "crawl").splitlines()
        self.assertEqual(len(urls), len(set(urls)))
        self.assertEqual(len(urls), crawl["pages"] + crawl["failed"] + crawl["excluded"] + crawl["queued"])
        fetched = self.ok("export", "urls", "--out", self.dir / "crawl", "--states", "fetched").splitlines()
        self.assertEqual(len(fetched), crawl["pages"])
        self.assertLessEqual(set(fetched), set(urls))
        self.assertLessEqual(set(fetched), set(web.pages()))
        rows = [json.loads(line) for line in
                self.ok("export", "urls", "--dir", self.dir / "crawl", "--json", "--states", "failed,excluded").splitlines()]
        self.assertEqual(len(rows), crawl["failed"] + crawl["excluded"])
        self.assertLessEqual({row["state"] for row in rows}, {"failed", "excluded"})
        self.assertTrue(all(row["reason"] != "none" for row in rows))

    def test_a_running_peer_and_a_directory_without_one_are_refused(self):
        web = self.web(hosts=2, pages=10)
        node = self.node("a", *web.seeds, "--scope", "domain", *ring.QUICK, *web.reach)
        self.refused(ring.IN_USE, [str(node.directory), str(node.pid), "once it is stopped"], "export", "urls", "--dir",
                     node.directory)
        empty = self.dir / "empty"
        empty.mkdir()
        self.refused(ring.UNREACHABLE, [str(empty), "no peer has run"], "export", "urls", "--dir", empty)
        self.assertEqual(list(empty.iterdir()), [])
        self.refused(ring.INVALID_INPUT, ["nowhere"], "export", "urls", "--dir", self.dir / "nowhere")
        self.refused(ring.INVALID_SETTING, ["--states", "done"], "export", "urls", "--states", "done")


class LabDedup(ring.Case):
    FAST = ["--structures", "generalized,md5,bloom,crawler"]

    def test_urls_of_a_crawl_as_json_with_a_plot(self):
        web = self.web(hosts=4, pages=80)
        self.crawl(web)
        urls = self.dir / "urls.txt"
        urls.write_text(self.ok("export", "urls", "--out", self.dir / "crawl"), encoding="utf-8")
        plot = self.dir / "dedup.svg"
        report = json.loads(self.ok("lab", "dedup", "--urls", urls, *self.FAST, "--json", "--plot", plot))
        self.assertEqual(report["experiment"], "dedup")
        known = len(set(urls.read_text(encoding="utf-8").split()))
        rows = {row["structure"]: row for row in report["facts"]["structures"]}
        self.assertEqual(set(rows), {"generalized", "md5", "bloom", "crawler"})
        for row in rows.values():
            self.assertEqual((row["urls"], row["checks"], row["false_negatives"]), (known, known, 0))
        self.assertEqual(rows["crawler"]["survived"], rows["crawler"]["asked_again"])
        self.assertEqual(rows["md5"]["survived"], 0)
        self.assertIn("<svg", plot.read_text(encoding="utf-8"))

    def test_all_structures_at_two_sizes_leave_nothing_behind(self):
        place = self.dir / "place"
        place.mkdir()
        text = self.ok("lab", "dedup", "--sizes", "20,80", "--directories-max", "500", "--dir", place)
        for words in ("20 different URLs", "80 different URLs", "linked list", "segmented MD5 bitmap", "RocksDB"):
            self.assertIn(words, text)
        self.assertEqual(os.listdir(place), [])

    def test_bad_input_names_file_and_line(self):
        bad = self.dir / "bad.txt"
        bad.write_text("http://a.test/\nhttp://b.test/\nmailto:someone\n", encoding="utf-8")
        self.refused(ring.INVALID_INPUT, ["bad.txt:3", "http://"], "lab", "dedup", "--urls", bad)
        empty = self.dir / "empty.txt"
        empty.write_text("", encoding="utf-8")
        self.refused(ring.INVALID_INPUT, ["empty.txt", "no URL"], "lab", "dedup", "--urls", empty)
        self.refused(ring.INVALID_INPUT, ["gone.txt"], "lab", "dedup", "--urls", self.dir / "gone.txt")
        self.refused(ring.INVALID_INPUT, ["standard input has no URL"], "lab", "dedup", "--urls", "-")
        self.refused(ring.INVALID_SETTING, ["'blom'", "'bloom'"], "lab", "dedup", "--structures", "blom")
        self.refused(ring.INVALID_SETTING, ["size of 0"], "lab", "dedup", "--sizes", "0")
        self.refused(ring.INVALID_SETTING, ["nothing to check"], "lab", "dedup", "--generate", "0")
        self.refused(ring.INVALID_SETTING, ["of memory", "are available"], "lab", "dedup", "--generate", "1000000000")
        self.refused(ring.INVALID_SETTING, ["--budget"], "lab", "dedup", "--budget", "0s")
        self.refused(ring.IO, ["no-such-place"], "lab", "dedup", "--generate", "10", "--dir", self.dir / "no-such-place")
