"""Slow hosts starve nobody, and a host is asked at its own delay, no faster and no slower (issue 11, 3 and 9)."""

import pathlib
import statistics
import sys

import drip
import ring


class SlowHosts(ring.Case):
    """Two crawls at the same time, with the same good hosts; one has the names that drip among its seeds too. What the
    attacked one has of the good pages is counted when the other one has fetched `GOAL`."""

    GOAL = 240
    LEAST = 0.8

    def crawl_of(self, web, name):
        arguments = ["crawl", *web.seeds, "--out", name, "--scope", "host", "--allow-private", "127.0.0.0/8"]
        arguments += [*web.resolve, "--delay", "1s", "--address-delay", "20ms"]
        return self.keep(ring.Process([ring.BINARY, *arguments], self.dir, name))

    def check(self, slow, addresses, goal=GOAL, **options):
        with drip.Drip(40, 50, 0) as calm, drip.Drip(40, 50, slow, addresses, **options) as attacked:
            crawls = [self.crawl_of(attacked, "attacked"), self.crawl_of(calm, "calm")]
            ring.wait_until("the calm crawl has its pages", lambda: calm.good_pages() >= goal, every=0.005)
            fetched = attacked.good_pages()
            self.assertTrue(all(crawl.running() for crawl in crawls))
            self.assertGreater(attacked.most_dripping, 100, "transfers that drip: else nothing was tried")
            self.assertGreaterEqual(fetched, self.LEAST * goal)

    @ring.about(20)
    def test_a_wildcard_domain_on_eight_addresses(self):
        self.check(1200, 8)

    @ring.about(20)
    def test_a_wildcard_domain_on_one_address(self):
        # Its turns begin fifty transfers a second: it takes some seconds until they are all its own.
        self.check(1200, 1, goal=2 * self.GOAL)

    @ring.about(20)
    def test_many_domains_in_one_network(self):
        self.check(1200, 8, one_domain=False)

    @ring.about(8)
    def test_a_drip_is_given_up_by_its_average(self):
        """100 bytes a second stay above a limit of 64 for ever; on average they are too few."""
        with drip.Drip(0, 0, 1, 1, rate=400) as web:
            arguments = ["--allow-private", "127.0.0.0/8", *web.resolve, "--low-speed-time", "2s", "--robots", "no"]
            arguments += ["--low-speed-bytes", "64B", "--max-retries", 0, "--scope", "host"]
            code, _, err = self.run_it("crawl", *web.seeds, "--out", "crawl", *arguments, seconds=40)
            self.assertEqual(code, ring.NOTHING_FETCHED, err)
            explained = self.ok("export", "urls", "--dir", "crawl", "--states", "failed", "--json")
            self.assertIn("timeout", explained)


class Pace(ring.Case):
    """The measure is a metronome: the simplest client there is, which asks the same server at the same delay at the same
    time. A machine that is busy with other things makes it as late as the crawler."""

    TRIES = 5
    SHARE = 0.05

    def gaps(self, web, out, peers, seconds, *arguments):
        """Of the crawl's requests, and of the metronome's."""
        metronome = [sys.executable, pathlib.Path(__file__).with_name("metronome.py"), drip.GOOD, web.port, seconds]
        beat = self.keep(ring.Process(metronome, self.dir, f"metronome-{out}"))
        ring.wait_until("the metronome beats", lambda: web.beats)
        self.ok(
            "crawl",
            *web.seeds,
            *("--out", out, "--peers", peers, "--allow-private", "127.0.0.0/8", *web.resolve),
            *("--scope", "host", "--delay-factor", 0, *arguments),
        )
        beat.kill()
        return [[b - a for a, b in zip(times, times[1:])] for times in (web.times, web.beats)]

    def check(self, delay, peers, pages, *arguments, hosts=1, seconds=None):
        """Never faster; and half of the requests at most a twentieth slower than the metronome's, on one of some tries."""
        medians = []
        for number in range(self.TRIES):
            with drip.Drip(hosts, pages, 0) as web:
                gaps, beats = self.gaps(web, f"crawl-{number}", peers, seconds, *arguments)
                self.assertEqual(web.good_pages(), hosts * pages)
            if hosts == 1:
                # A request is answered before the delay to the next one begins: no jitter makes that less.
                self.assertGreaterEqual(min(gaps), seconds)
            medians.append((statistics.median(gaps), statistics.median(beats)))
            if medians[-1][0] <= medians[-1][1] * (1 + self.SHARE):
                return
        self.fail(f"{delay}: medians of the crawl and of the metronome {medians} s")

    @ring.about(8)
    def test_20ms_with_one_peer(self):
        self.check("20ms", 1, 100, "--delay", "20ms", seconds=0.02)

    @ring.about(8)
    def test_20ms_with_three_peers(self):
        self.check("20ms", 3, 100, "--delay", "20ms", seconds=0.02)

    @ring.about(10)
    def test_100ms_with_one_peer(self):
        self.check("100ms", 1, 40, "--delay", "100ms", seconds=0.1)

    @ring.about(10)
    def test_100ms_with_three_peers(self):
        self.check("100ms", 3, 40, "--delay", "100ms", seconds=0.1)

    @ring.about(12)
    def test_a_second_with_one_peer(self):
        self.check("1s", 1, 6, "--delay", "1s", seconds=1)

    @ring.about(14)
    def test_a_second_with_three_peers(self):
        self.check("1s", 3, 6, "--delay", "1s", seconds=1)

    @ring.about(8)
    def test_a_sites_own_delay(self):
        self.check("20ms", 1, 100, "--delay", "1s", "--sites", "*.good-0.test delay=20ms", seconds=0.02)

    @ring.about(12)
    def test_twenty_hosts_use_their_address_at_its_delay(self):
        """The slot of an address is as long as it says."""
        arguments = ("--delay", "1s", "--address-delay", "50ms")
        self.check("50ms", 1, 4, *arguments, hosts=20, seconds=0.05)
