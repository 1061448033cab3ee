#!/usr/bin/env python3
"""kill -9 in mid-crawl, of one peer or of everything, and what it costs: URLs lost (none) and URLs fetched twice (at
most those that were being fetched). The tests run it once or twice; as a program it does so as often as one likes:

    tests/integration/kills.py [--times 20] [--jobs 2] [--seed N]

prints a table of each kill and the worst of all; the exit code is 1 when a URL was lost or too many came twice.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import random
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
import ring  # noqa: E402
import warcs  # noqa: E402

PEERS = 3
FETCHES_MAX = 4  # of each peer at once, robots.txt files and pages that are being read included
REQUESTS_BEFORE = (15, 170)  # the kill comes when the web has seen so many requests, of about 260


@dataclasses.dataclass
class Cost:
    """What one kill did."""

    killed: int  # peers
    requests_before: int
    lost: set
    strays: set
    twice: dict  # URL -> how often it was asked for
    not_archived: set
    left_open: list  # archive files that are still named *.open when the crawl has ended

    def bound(self):
        return self.killed * FETCHES_MAX

    def right(self):
        return (
            not self.lost
            and not self.strays
            and not self.not_archived
            and not self.left_open
            and len(self.twice) <= self.bound()
        )


class Kills(ring.Case):
    """Crawls of a sample web with all its mishaps that are cut off."""

    def runTest(self):
        """Makes the class usable without a test method."""

    def crawl_and_kill(self, random_source, of_all):
        web = self.web(hosts=8, pages=200, calm=False, latency="10ms", seed=random_source.randrange(1000))
        command = ["--peers", PEERS, "--max-fetches", FETCHES_MAX]
        crawl = self.start_crawl(web, *command)
        goal = random_source.randrange(*REQUESTS_BEFORE)
        ring.wait_until(
            f"{goal} requests by {PEERS} peers",
            lambda: not crawl.running() or (web.total() >= goal and len(self.peer_files()) == PEERS),
        )
        before = web.total()
        self.assertTrue(crawl.running(), f"the crawl ended before it was killed: {crawl.out} {crawl.err}")
        if of_all:
            self.kill_everything(crawl)
            summary = self.crawl(web, *command)
        else:
            self.kill_one(crawl, random_source)
            self.assertEqual(crawl.wait(), 0, crawl.err)
            summary = json.loads(crawl.out)
        self.assertTrue(summary["finished"], summary)
        lost, strays, twice = web.lost_and_twice()
        archived = warcs.read_all(self.dir / "crawl")
        return Cost(
            PEERS if of_all else 1,
            before,
            lost,
            strays,
            twice,
            web.expected() - set(archived),
            [path.name for path in (self.dir / "crawl").rglob("*.open")],
        )

    def kill_one(self, crawl, random_source):
        name, told = random_source.choice(sorted(self.peer_files().items()))
        os.kill(told["pid"], signal.SIGKILL)
        path = self.dir / "crawl" / name / "peer.json"

        def again():
            try:
                return json.loads(path.read_text(encoding="utf-8"))["pid"] != told["pid"]
            except (OSError, ValueError):
                return False

        ring.wait_until(f"{name} is started again", lambda: again() or not crawl.running())
        self.assertTrue(again(), f"{name} was not started again: {crawl.err}")

    def kill_everything(self, crawl):
        # The parent is held first, so that it starts nothing again and tells nobody to stop.
        crawl.signal(signal.SIGSTOP)
        pids = [told["pid"] for told in self.peer_files().values()]
        self.assertEqual(len(pids), PEERS)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        crawl.kill()
        ring.wait_until("all are gone", lambda: not any(ring.alive(pid) for pid in pids))


def once(seed, of_all):
    case = Kills()
    case.setUp()
    try:
        return case.crawl_and_kill(random.Random(seed), of_all)
    finally:
        case.doCleanups()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20, help="of each kind")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="orbweaver-it-binary-") as place:
        ring.hold_binary(place)
        return table(options)


def table(options):
    print(f"seed {options.seed}; {PEERS} peers, at most {FETCHES_MAX} fetches at once each")
    print(
        f"{'killed':>12} {'at request':>10} {'lost':>5} {'strays':>6} {'twice':>5} {'at most':>7} {'not archived':>12} "
        f"{'left open':>9}"
    )
    wrong = 0
    for name, of_all in (("one peer", False), ("everything", True)):
        worst = {"lost": 0, "strays": 0, "twice": 0, "not archived": 0, "left open": 0}
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            rounds = [pool.submit(once, options.seed + i, of_all) for i in range(options.times)]
            for i, done in enumerate(rounds):
                try:
                    cost = done.result()
                except AssertionError as error:
                    wrong += 1
                    print(f"{name:>12} seed {options.seed + i}: {error}", flush=True)
                    continue
                wrong += not cost.right()
                counts = (
                    len(cost.lost),
                    len(cost.strays),
                    len(cost.twice),
                    len(cost.not_archived),
                    len(cost.left_open),
                )
                for key, count in zip(worst, counts):
                    worst[key] = max(worst[key], count)
                print(
                    f"{name:>12} {cost.requests_before:>10} {counts[0]:>5} {counts[1]:>6} {counts[2]:>5} "
                    f"{cost.bound():>7} "
                    f"{counts[3]:>12} {counts[4]:>9}",
                    flush=True,
                )
        print(
            f"{name:>12} {options.times} times; the most in one: " + ", ".join(f"{n} {k}" for k, n in worst.items()),
            flush=True,
        )
    print(f"{2 * options.times - wrong} right, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
