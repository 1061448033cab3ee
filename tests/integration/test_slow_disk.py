"""A slow disk under durability = power: it stops neither the other hosts nor the answers that the ring waits for."""

import json
import pathlib
import subprocess

import ring

HERE = pathlib.Path(__file__).resolve().parent


class SlowDisk(ring.Case):
    def setUp(self):
        super().setUp()
        self.library = self.dir / "slow_sync.so"
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", self.library, HERE / "slow_sync.c"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.log = self.dir / "synced.log"

    def slow(self, data, milliseconds):
        """The environment of a process whose syncs below this directory take so long."""
        return {
            "LD_PRELOAD": str(self.library),
            "SLOW_SYNC_ROOT": str(data),
            "SLOW_SYNC_MS": str(milliseconds),
            "SLOW_SYNC_LOG": str(self.log),
        }

    def syncs_of(self, what):
        return sum(what in line for line in self.log.read_text(encoding="utf-8").splitlines())

    @ring.about(10)
    def test_pages_of_all_hosts_share_its_syncs(self):
        web = self.web(hosts=40, pages=200, latency="10ms")
        data = self.dir / "crawl"
        code, said, errors = self.run_it(
            *self.crawl_arguments(web, "--durability", "power"), environment=self.slow(data, 50)
        )
        self.assertEqual(code, 0, errors)
        self.assertTrue(json.loads(said)["finished"], said)
        self.check_whole(web)
        pages = len(web.pages())
        self.assertGreater(pages, 100)
        journal = self.syncs_of("/store/")
        self.assertGreater(journal, 0)
        self.assertLess(2 * journal, pages, "about a sync of the store for each page: hosts wait for each other")

    @ring.about(25)
    def test_its_peer_is_not_taken_for_dead(self):
        """Each sync takes a second, and whoever says nothing for three counts as dead."""
        web = self.web(hosts=16, pages=60, latency="10ms")
        power = ["--durability", "power", "--suspicion-time", "3s", "--replicas", 2, "--scope", "domain"]
        arguments = [*web.seeds, *power, *ring.QUICK, *web.reach]
        first = self.node("a", *arguments)
        data = self.dir / "slow"
        slow = self.node(
            "slow", *arguments, "--join", first.file()["address"], data=data, environment=self.slow(data, 1000)
        )
        self.wait_for_members([first, slow], 2)
        self.wait_for_rest([first, slow], seconds=120)
        self.check_whole(web)
        self.assertGreater(self.syncs_of("/store/"), 3)
        for node in (first, slow):
            self.assertNotIn("taken over", node.log())
