"""A ring of many real peers on one machine (tests/bench/ring many): how long it takes to form, to notice a death, to take
the peer back and to start again as a whole, and what it costs at rest. At the end the ring crawls a small web."""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time
import urllib.request

# Small peers: many of them have to fit into one machine.
SMALL = ["--max-memory", "128MiB", "--max-fetches", "4", "--max-open-files", "512", "--suspicion-time", "5s"]
REST_SECONDS = 20
WAIT_SECONDS = 900
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Peer:
    def __init__(self, binary, directory, flags):
        self.binary, self.directory, self.flags = binary, directory, flags
        self.process = None

    def start(self, *more):
        with open(self.directory.with_suffix(".log"), "ab") as said:
            self.process = subprocess.Popen(
                [self.binary, "node", "--dir", str(self.directory), "--quiet", "--user", "root", *SMALL, *self.flags,
                 *more],
                stdout=said,
                stderr=said,
            )

    def file(self):
        path = self.directory / "peer.json"
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return found if found.get("pid") == self.process.pid else {}

    def status(self):
        """As this peer sees the ring; None while it starts."""
        address = self.file().get("status_address")
        if not address:
            return None
        try:
            with urllib.request.urlopen(f"http://{address}/status", timeout=30) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            return None

    def use(self):
        """CPU seconds, resident bytes, open files."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        files = len(os.listdir(f"/proc/{self.process.pid}/fd"))
        return (int(stat[11]) + int(stat[12])) / TICKS, int(stat[21]) * PAGE, files


def settled(peers, members):
    """Every peer sees so many members that are not down, agrees on who holds what, and nothing moves."""
    tables = set()
    for peer in peers:
        status = peer.status()
        if status is None or sum(member["state"] in ("active", "suspect") for member in status["members"]) != members:
            return False
        counts = status["counts"]
        if any(counts[name] for name in ("partitions_to_gain", "partitions_to_hand_over", "partitions_to_return")):
            return False
        tables.add((status["ring_fingerprint"], status["tenures_fingerprint"]))
    return len(tables) == 1


def until(what, met):
    print(f"waits: {what}", file=sys.stderr)
    began = time.monotonic()
    while not met():
        if time.monotonic() - began > WAIT_SECONDS:
            raise SystemExit(f"waited {WAIT_SECONDS} s for: {what}")
        time.sleep(1)
    return round(time.monotonic() - began, 1)


def cpu_of(peers):
    return sum(peer.use()[0] for peer in peers)


def many(binary, count, pages, partitions, room):
    ready = room / "many-web"
    web = subprocess.Popen(
        [binary, "sampleweb", "--calm", "--pages", str(pages), "--hosts", "50", "--ready-file", str(ready)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    peers = []
    try:
        until("the sample web", lambda: ready.exists() and ready.read_text(encoding="utf-8").strip())
        reach = json.loads(ready.read_text(encoding="utf-8"))
        result = {"peers": count, "partitions": partitions}
        seeds = room / "many-seeds"
        seeds.write_text("\n".join(reach["seeds"]) + "\n", encoding="utf-8")
        reaches = ["--allow-private", "127.0.0.0/8"]
        for name in reach.get("resolve", []):
            reaches += ["--resolve", name]
        ring_wide = ["--stop-when-done", "yes", "--partitions", str(partitions), "--scope", "any", "--delay", "0s", "--archive", "off"]
        peers = [Peer(binary, room / f"many-{number}", reaches) for number in range(count)]
        peers[0].start(*ring_wide)
        until("the first peer", lambda: peers[0].status() is not None)
        address = peers[0].file()["address"]
        began = time.monotonic()
        for peer in peers[1:]:
            peer.start("--join", address)
        until("the ring is formed", lambda: settled(peers, count))
        result["forms_seconds"] = round(time.monotonic() - began, 1)
        result["forms_cpu_a_peer"] = round(cpu_of(peers) / count, 2)

        before = cpu_of(peers)
        time.sleep(REST_SECONDS)
        result["rest_cpu_share_a_peer"] = round((cpu_of(peers) - before) / REST_SECONDS / count, 4)
        uses = [peer.use() for peer in peers]
        result["resident_mib_a_peer"] = round(statistics.mean(use[1] for use in uses) / 2**20, 1)
        result["open_files_most"] = max(use[2] for use in uses)

        victim = peers[count // 2]
        others = [peer for peer in peers if peer is not victim]
        victim.process.kill()
        victim.process.wait()
        before = cpu_of(others)
        result["dies_seconds"] = until("the death is noticed", lambda: settled(others, count - 1))
        result["dies_cpu_a_peer"] = round((cpu_of(others) - before) / count, 3)
        before = cpu_of(others)
        victim.start()
        result["back_seconds"] = until("it is back", lambda: settled(peers, count))
        result["back_cpu_a_peer"] = round((cpu_of(others) - before) / count, 3)

        for peer in peers:
            peer.process.send_signal(signal.SIGINT)
        for peer in peers:
            peer.process.wait()
        began = time.monotonic()
        for peer in peers:
            peer.start()
        until("all are back", lambda: settled(peers, count))
        result["all_again_seconds"] = round(time.monotonic() - began, 1)
        result["all_again_cpu_a_peer"] = round(cpu_of(peers) / count, 2)

        last = Peer(binary, room / "many-last", reaches)
        peers.append(last)
        began = time.monotonic()
        last.start("--join", peers[0].file()["address"], "--seeds", str(seeds))
        fetched = []

        def ended():
            statuses = [status for status in (peer.status() for peer in peers) if status]
            if statuses:
                fetched.append(sum(status["counts"]["fetches"] for status in statuses))
                print(f"{len(statuses)} peers, {fetched[-1]} pages fetched", file=sys.stderr)
            return all(peer.process.poll() is not None for peer in peers)

        until("the crawl ends", ended)
        result["crawl_seconds"] = round(time.monotonic() - began, 1)
        result["exit_codes"] = sorted({peer.process.returncode for peer in peers})
        result["fetches_seen"] = max(fetched)
        return result
    finally:
        for peer in peers:
            if peer.process is not None and peer.process.poll() is None:
                peer.process.kill()
                peer.process.wait()
        web.send_signal(signal.SIGTERM)
        web.wait()
