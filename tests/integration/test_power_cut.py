"""The power of all machines fails in mid-crawl, on disks that keep only what was synced (power_cut.py). With
durability = power nothing is lost: what counts as fetched is in the archive, and in the text."""

import json
import os
import random
import signal

import power_cut
import ring
import warcs

FETCHES_MAX = 4  # of each peer at once
REQUESTS = (15, 80, 150)  # a cut comes when the web has seen about so many, of about 260
POWER = ["--durability", "power", "--text", "--record-links", "--max-fetches", FETCHES_MAX]


def texts(directory):
    """The URLs that have a line of text in files below a directory. The last line of a file may be torn."""
    found = set()
    for path in directory.rglob("*.jsonl"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            found.add(json.loads(line)["url"])
    return found


class PowerCut(ring.Case):
    def setUp(self):
        super().setUp()
        self.disk = power_cut.Disk(self.dir)
        seed = random.SystemRandom().randrange(1_000_000)
        self.random = random.Random(seed)
        self.note = f"drawn from {seed}"
        self.twice_at_most = 0

    def goals(self):
        return [goal + self.random.randrange(60) for goal in REQUESTS]

    def cut(self, peers, data):
        """All is dead. What counted has to be on the disk."""
        lost = self.disk.cut()
        self.twice_at_most += peers * FETCHES_MAX
        fetched = set(self.ok("export", "urls", "--dir", data, "--state", "fetched").split())
        archived = set(warcs.read_left(self.disk.root))
        self.assertEqual(fetched - archived, set(), f"fetched, and not in the archive; {self.note}; lost: {lost}")
        return lost, fetched

    def check(self, web):
        """At the end of the crawl."""
        archived = warcs.read_all(self.disk.root)
        twice = self.check_nothing_lost(web)
        self.assertEqual(web.expected() - set(archived), set(), f"not archived; {self.note}")
        self.assertLessEqual(len(twice), self.twice_at_most, f"asked for twice: {twice}; {self.note}")
        self.assertEqual(self.texts_of_a_calm_crawl(web) - texts(self.disk.root), set(), f"no text; {self.note}")

    def texts_of_a_calm_crawl(self, web):
        self.crawl(web, "--text", out="calm")
        return texts(self.dir / "calm")

    def peer(self, web, data, *more):
        arguments = [*web.seeds, "--scope", "domain", *ring.QUICK, *web.reach, *more]
        return self.node("a", *arguments, data=data, environment=self.disk.environment)

    def crawl_with_cuts(self, web, data, *more):
        """One peer, to its end: what the cuts took."""
        node = self.peer(web, data, *more)
        lost = []
        for goal in self.goals():
            ring.wait_until(f"{goal} requests", lambda goal=goal: web.total() >= goal, every=0.001)
            node.kill()
            lost.append(self.cut(1, data))
            node = self.peer(web, data, *more)
        self.wait_for_rest([node])
        node.signal(signal.SIGTERM)
        self.assertEqual(node.wait(20), 0, node.err)
        return lost

    @ring.about(10)
    def test_what_counts_as_fetched_is_archived(self):
        """Every directory is there, and synced, before: it is the records that count."""
        data = self.disk.root / "a"
        for name in ("archive", "text", "links", "store", "log"):
            (data / name).mkdir(parents=True)
            os.chmod(data / name, 0o700)
        os.chmod(data, 0o700)
        self.disk.begin()
        web = self.web(hosts=8, pages=200, latency="10ms")
        lost = self.crawl_with_cuts(web, data, *POWER)
        self.check(web)
        self.assertTrue(any(fetched for _, fetched in lost), "nothing counted before a cut")

    @ring.about(10)
    def test_names_of_new_directories_and_files_are_synced(self):
        """The peer makes its directory, and those that lead to it."""
        web = self.web(hosts=8, pages=200, latency="10ms")
        self.crawl_with_cuts(web, self.disk.root / "far" / "away" / "a", *POWER)
        self.check(web)

    @ring.about(12)
    def test_files_that_are_finished_in_mid_crawl(self):
        """Small archive files: a record may be the first of a new file, or the last of one."""
        web = self.web(hosts=8, pages=200, latency="10ms")
        self.crawl_with_cuts(web, self.disk.root / "a", *POWER, "--max-archive-file-bytes", "64KiB")
        self.check(web)

    @ring.about(15)
    def test_a_crawl_of_three_peers_loses_its_power(self):
        """Its key, its plan and its seeds are as durable as its pages: the same command goes on."""
        web = self.web(hosts=8, pages=200, latency="10ms")
        command = ["--peers", 3, *POWER]
        out = "disk/crawl"
        for goal in self.goals():
            crawl = self.start_crawl(web, *command, out=out, environment=self.disk.environment)
            ring.wait_until(
                f"{goal} requests by three peers",
                lambda goal=goal, crawl=crawl: (web.total() >= goal and len(self.peer_files(out)) == 3)
                or not crawl.running(),
                every=0.001,
            )
            self.assertTrue(crawl.running(), f"the crawl ended before its power was cut: {crawl.out} {crawl.err}")
            self.kill_all(crawl, out)
            self.cut(3, self.dir / out)
        code, said, errors = self.run_it(
            *self.crawl_arguments(web, *command, out=out), environment=self.disk.environment
        )
        self.assertEqual(code, 0, errors)
        self.assertTrue(json.loads(said)["finished"], said)
        self.check(web)

    def kill_all(self, crawl, out):
        """The parent is held first, so that it starts nothing again and tells nobody to stop."""
        crawl.signal(signal.SIGSTOP)
        pids = [told["pid"] for told in self.peer_files(out).values()]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        crawl.kill()
        ring.wait_until("all are gone", lambda: not any(ring.alive(pid) for pid in pids))

    @ring.about(8)
    def test_with_durability_process_the_disk_forgets(self):
        """Whether the disk of these tests takes anything at all: pages that were fetched are queued again, and so is
        what the archive had of them."""
        data = self.disk.root / "a"
        data.mkdir(mode=0o700)
        self.disk.begin()
        web = self.web(hosts=8, pages=200, latency="10ms")
        node = self.peer(web, data, "--durability", "process")
        ring.wait_until("100 requests", lambda: web.total() >= 100, every=0.001)
        node.kill()
        lost = self.disk.cut()
        self.assertTrue(any(path.startswith("a/store/") for path in lost), lost)
        self.assertTrue(any("warc" in path for path in lost), lost)
        self.assertEqual(warcs.read_left(self.disk.root), {})
