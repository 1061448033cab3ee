"""orbweaver crawl: the whole way, judged from the server's side."""

import json
import signal
import time

import address
import ring
import warcs


def of_host(urls, web, *hosts):
    """Those URLs that are on these hosts, given by number."""
    roots = tuple(web.url(host) for host in hosts)
    return {url for url in urls if url.startswith(roots)}


class WholeCrawls(ring.Case):
    def crawl_all(self, peers, *more, **web_options):
        web = self.web(**web_options)
        summary = self.crawl(web, "--peers", peers, *more)
        self.assertTrue(summary["finished"], summary)
        self.assertEqual(summary["queued"], 0)
        self.assertEqual(len(summary["peers"]), peers)
        self.check_whole(web)
        self.assertLessEqual(max(host["most_at_once"] for host in web.stats()["hosts"].values()), 1)
        return web, summary

    def check_archive(self, web, summary):
        """What was asked for lies in the archive, once for each answer, robots.txt files too."""
        responses = warcs.read_all(self.dir / "crawl")
        self.assertEqual(responses, web.urls())
        self.assertEqual(len(summary["archive_dirs"]), len(list((self.dir / "crawl").glob("peer-*/archive"))))

    def test_one_peer_fetches_what_is_expected_and_nothing_twice(self):
        web, summary = self.crawl_all(1, calm=False)
        self.check_archive(web, summary)

    @ring.about(6)
    def test_three_peers_fetch_what_is_expected_and_nothing_twice(self):
        web, summary = self.crawl_all(3, calm=False, hosts=40, pages=300)
        self.check_archive(web, summary)
        self.assertTrue(all(peer["counts"]["fetched"] > 0 for peer in summary["peers"]), "a peer had nothing to do")
        self.assertGreater(summary["totals"]["forwarded"], 0)

    @ring.about(30)
    def test_slow_and_patient_hosts_too(self):
        """Ten hosts: the sample web has its slow host and its Crawl-delay of 1 s from there on."""
        web, summary = self.crawl_all(2, calm=False, hosts=10, pages=150)
        patient = web.stats()["hosts"]["host-008.sample.test"]
        self.assertGreaterEqual(patient["smallest_gap_ms"], 1000)
        self.assertGreater(summary["pages"], 100)

    @ring.about(8)
    def test_ten_peers_share_a_small_web(self):
        self.crawl_all(10, "--archive", "off", hosts=30, pages=150)

    def test_the_summary_counts_what_the_server_saw(self):
        web, summary = self.crawl_all(3, calm=False, pages=120)
        once = len(web.pages())
        self.assertEqual(summary["pages"] + summary["failed"], once)
        self.assertGreater(summary["failed"], 0)
        self.assertEqual(summary["pages"], sum(peer["counts"]["fetched"] for peer in summary["peers"]))

    def test_a_crawl_that_ended_has_nothing_left_for_the_same_command(self):
        web, _ = self.crawl_all(2, pages=60)
        web.reset()
        again = self.crawl(web, "--peers", 2)
        self.assertTrue(again["finished"], again)
        self.assertEqual(again["pages"], 60)
        self.assertEqual(web.pages(), {})

    def test_more_peers_may_go_on_where_fewer_stopped(self):
        web, _ = self.crawl_all(1, pages=60)
        web.reset()
        again = self.crawl(web, "--peers", 3)
        self.assertTrue(again["finished"], again)
        self.assertEqual(web.pages(), {})

    def test_fewer_peers_than_before_are_refused(self):
        web, _ = self.crawl_all(2, pages=30, hosts=3)
        self.refused(ring.MISMATCH, ["--peers 1", "--peers 2"], *self.crawl_arguments(web, "--peers", 1))


class Politeness(ring.Case):
    def check_delay(self, peers):
        web = self.web(hosts=5, pages=40)
        summary = self.crawl(web, "--peers", peers, "--delay", "200ms", "--retry-delay", "100ms", quick=False)
        self.assertTrue(summary["finished"], summary)
        self.check_whole(web)
        for name, host in web.stats()["hosts"].items():
            self.assertEqual(host["most_at_once"], 1, name)
            if host["requests"] > 1:
                self.assertGreaterEqual(host["smallest_gap_ms"], 200, name)

    def test_delay_is_kept_at_the_server_with_one_peer(self):
        self.check_delay(1)

    def test_delay_is_kept_at_the_server_with_three_peers(self):
        self.check_delay(3)

    @ring.about(10)
    def test_default_delay_is_a_second(self):
        web = self.web(hosts=4, pages=8)
        self.assertTrue(self.crawl(web, quick=False)["finished"])
        self.check_whole(web)
        for name, host in web.stats()["hosts"].items():
            self.assertGreaterEqual(host["smallest_gap_ms"], 1000, name)

    def check_address(self, peers):
        """Twenty hosts on one address, at three peers: they are one guest, who comes every 200 ms at most."""
        with address.Address(hosts=20, pages=3) as web:
            out = self.ok(
                "crawl",
                *web.seeds,
                *("--out", "crawl", "--peers", peers, "--allow-private", "127.0.0.0/8", "--resolve", web.resolve),
                *("--scope", "any", "--delay", "200ms", "--delay-factor", 0, "--address-delay", "200ms"),
            )
            self.assertIn("60", out)
            self.assertEqual(len(set(web.pages())), 60)
            self.assertGreaterEqual(web.smallest_gap(), 0.2 - address.JITTER)

    @ring.about(20)
    def test_an_address_has_one_polite_guest_with_one_peer(self):
        self.check_address(1)

    @ring.about(22)
    def test_an_address_has_one_polite_guest_with_three_peers(self):
        self.check_address(3)

    @ring.about(8)
    def test_a_hosts_clock_outlives_a_restart(self):
        """The delay holds between the last request before Ctrl-C and the first one after it."""
        web = self.web(hosts=1, pages=6)
        arguments = ["--delay", "3s", "--robots", "no"]
        crawl = self.start_crawl(web, *arguments, quick=False)
        ring.wait_until("a page was asked for", lambda: web.total() >= 1)
        crawl.signal(signal.SIGINT)
        self.assertEqual(crawl.wait(20), 0, crawl.err)
        again = self.start_crawl(web, *arguments, quick=False, name="again")
        ring.wait_until("a second page was asked for", lambda: web.total() >= 2)
        self.assertGreaterEqual(web.stats()["hosts"]["host-000.sample.test"]["smallest_gap_ms"], 3000)
        again.signal(signal.SIGINT)
        self.assertEqual(again.wait(20), 0, again.err)


class Interrupted(ring.Case):
    def interrupt(self, peers, number=signal.SIGINT):
        """Stops a crawl in the middle, goes on with it; nothing is lost and nothing fetched twice."""
        web = self.web(hosts=8, pages=240, calm=False, latency="15ms")
        command = ["--peers", peers]
        crawl = self.start_crawl(web, *command)
        ring.wait_until("the crawl is in its middle", lambda: web.total() >= 80)
        begun = time.monotonic()
        crawl.signal(number)
        self.assertEqual(crawl.wait(30), 0, crawl.err)
        self.assertLess(time.monotonic() - begun, 8, "seconds until it stopped")
        summary = json.loads(crawl.out)
        self.assertFalse(summary["finished"], summary)
        self.assertGreater(summary["queued"], 0)
        self.assertLess(len(web.pages()), len(web.expected()))
        stopped = web.total()
        self.assertEqual(self.peer_files(), {}, "peers that still run")
        summary = self.crawl(web, *command)
        self.assertTrue(summary["finished"], summary)
        self.assertGreater(web.total(), stopped)
        self.check_whole(web)
        for url, count in warcs.read_all(self.dir / "crawl").items():
            self.assertEqual(count, web.urls()[url], url)

    @ring.about(5)
    def test_ctrl_c_stops_one_peer_and_the_same_command_goes_on(self):
        self.interrupt(1)

    @ring.about(5)
    def test_ctrl_c_stops_three_peers_and_the_same_command_goes_on(self):
        self.interrupt(3)

    @ring.about(5)
    def test_sigterm_does_the_same(self):
        self.interrupt(2, signal.SIGTERM)

    @ring.about(12)
    def test_ctrl_c_many_times(self):
        web = self.web(hosts=8, pages=240, latency="10ms")
        rounds = 0
        for goal in (30, 70, 110, 150, 190):
            crawl = self.start_crawl(web, "--peers", 2, name=f"crawling-{goal}")
            ring.wait_until(f"{goal} requests", lambda goal=goal: web.total() >= goal or not crawl.running())
            crawl.signal(signal.SIGINT)
            self.assertEqual(crawl.wait(30), 0, crawl.err)
            rounds += not json.loads(crawl.out)["finished"]
        self.assertGreaterEqual(rounds, 3)
        self.assertTrue(self.crawl(web, "--peers", 2)["finished"])
        self.check_whole(web)

    def test_ctrl_c_before_the_first_page_is_a_clean_stop_too(self):
        web = self.web(hosts=3, pages=30)
        crawl = self.start_crawl(web, "--peers", 3)
        ring.wait_until("it holds its directory", (self.dir / "crawl" / "seeds.txt").exists)
        crawl.signal(signal.SIGINT)
        self.assertEqual(crawl.wait(30), 0, crawl.err)
        self.assertEqual(self.peer_files(), {})
        self.assertTrue(self.crawl(web, "--peers", 3)["finished"])
        self.check_whole(web)


class TwoAtOnce(ring.Case):
    @ring.about(8)
    def test_two_crawls_on_one_machine_do_not_disturb_each_other(self):
        webs = [self.web(name=f"web-{seed}", seed=seed, hosts=6, pages=150, latency="5ms") for seed in (1, 2)]
        crawls = [
            self.start_crawl(web, "--peers", 2, name=f"crawl-{i}", out=f"crawl-{i}") for i, web in enumerate(webs)
        ]
        for crawl, web in zip(crawls, webs):
            self.assertEqual(crawl.wait(), 0, crawl.err)
            self.assertTrue(json.loads(crawl.out)["finished"], crawl.out)
            self.check_whole(web)
