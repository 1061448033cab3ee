"""Snapshots of a ring that crawls, and rings of other sizes made from them: real processes, real checkpoints."""

import json
import pathlib
import shutil
import signal

import ring


class Snapshots(ring.Case):
    def three(self, web, *more):
        """Three peers that crawl."""
        first = self.node("a", "--scope", "domain", *ring.QUICK, "--stop-when-done", "yes", *web.reach, *more)
        nodes = [first, *(self.node(name, "--join", first.address, *web.reach) for name in "bc")]
        self.wait_for_members(nodes, 3)
        self.ok("seed", "--peer", first.address, *web.seeds)
        return nodes

    def snapshot(self, node, name="snapshot.json", *more):
        path = self.dir / name
        self.ok("snapshot", "--peer", node.address, "--manifest", path, *more)
        return path, json.loads(path.read_text(encoding="utf-8"))

    def restored_into(self, manifest, name, count, *more):
        """The directories of a ring of so many peers, which nobody has started yet."""
        places = [self.dir / name / f"peer-{i + 1}" for i in range(count)]
        answer = json.loads(self.ok("restore", "--json", "--from", manifest, "--into", *places, *more))
        self.assertEqual([peer["directory"] for peer in answer["peers"]], [str(place) for place in places])
        return places, answer

    def states(self, web, directory):
        """{URL: state} of all that the web has, as a stopped ring knows it."""
        states = {}
        for url in web.expected():
            states[url] = json.loads(self.ok("explain", "--json", "--dir", directory, url))["state"]
        return states

    def run_restored(self, web, manifest, count, ended=None, *more):
        """The ring goes on to the end of the crawl: the URLs whose outcome is in the snapshot. To read them from the
        disk takes a process each, so they may be given."""
        name = f"of-{count}"
        places, answer = self.restored_into(manifest, name, count, *more)
        if ended is None:
            states = self.states(web, self.dir / name)
            ended = {url for url, state in states.items() if state in ("fetched", "failed", "excluded")}
            self.assertGreater(len(ended), 0)
            self.assertLess(len(ended), len(states), "the crawl was over before the snapshot")
        web.reset()
        nodes = [self.node(f"{name}-{place.name}", *web.reach, data=place, up=False) for place in places]
        for node in nodes:
            self.assertEqual(node.wait(), 0, node.err)
        pages = web.pages()
        again = web.expected_twice()
        self.assertEqual({url for url in ended & set(pages) if url not in again}, set(), "fetched again")
        self.assertEqual(ended | set(pages), web.expected())
        self.assertEqual({u: n for u, n in pages.items() if n > (2 if u in again else 1)}, {}, "fetched twice")
        endings = [json.loads((place / "ended.json").read_text(encoding="utf-8")) for place in places]
        for ending in endings:
            self.assertTrue(ending["finished"])
            self.assertEqual(ending["totals"], endings[0]["totals"])
        self.assertEqual(endings[0]["totals"]["fetched"] + endings[0]["totals"]["failed"], len(web.expected()))
        self.assertGreaterEqual(answer["records"], len(ended))
        for place in places:
            held = json.loads((place / "ended.json").read_text(encoding="utf-8"))["status"]["counts"]["partitions_held"]
            self.assertGreater(held, 0, f"{place.name} has no part of the crawl")
            if count == 1:
                self.assertEqual(held, 64, "another number of partitions")
        return ended

    @ring.about(40)
    def test_a_ring_that_is_killed_goes_on_from_its_snapshot_with_two_peers_and_with_five(self):
        web = self.web(hosts=24, pages=160, latency="100ms")  # so many hosts that each peer has one
        nodes = self.three(web)
        ring.wait_until("the crawl is under way", lambda: web.total() >= 60)
        path, manifest = self.snapshot(nodes[1])
        self.assertEqual({peer["id"] for peer in manifest["peers"]}, {node.id for node in nodes})
        self.assertEqual(manifest["missing"], [])
        for node in nodes:
            node.signal(signal.SIGKILL)
        for node in nodes:
            node.wait(20)
        for peer in manifest["peers"]:
            self.assertGreater(len(peer["archive"]), 0)
            for file in peer["archive"]:
                there = list(pathlib.Path(peer["archive_path"]).glob(file["name"].removesuffix(".open") + "*"))
                self.assertTrue(there and there[0].stat().st_size >= file["bytes"], file)
        ended = self.run_restored(web, path, 2)
        self.run_restored(web, path, 5, ended)
        self.run_restored(web, path, 1, ended, "--partitions", 64)

    @ring.about(10)
    def test_a_snapshot_does_not_disturb_the_crawl(self):
        web = self.web(hosts=8, pages=240, latency="50ms")
        nodes = self.three(web)
        for i in range(3):
            before = web.total()
            ring.wait_until("the crawl goes on", lambda goal=before + 15: web.total() >= goal)
            self.snapshot(nodes[i], f"{i}.json")
        self.assertEqual([node.wait() for node in nodes], [0, 0, 0])
        self.check_whole(web)

    def test_what_is_wrong_with_a_snapshot_is_said_before_anything_is_made(self):
        web = self.web(hosts=2, pages=20)
        node = self.node("a", "--scope", "domain", *ring.QUICK, *web.reach)
        self.ok("seed", "--peer", node.address, *web.seeds)
        self.wait_for_rest([node])
        path, manifest = self.snapshot(node)
        node.signal(signal.SIGINT)
        self.assertEqual(node.wait(20), 0)
        into = self.dir / "new"

        def refused(code, words, manifest_path=path):
            self.refused(code, words, "restore", "--from", manifest_path, "--into", into)
            self.assertFalse(into.exists() and any(into.iterdir()), "a directory was made")

        whole = path.read_text(encoding="utf-8")
        cut = self.dir / "cut.json"
        cut.write_text(whole[: len(whole) // 2], encoding="utf-8")
        refused(ring.INVALID_INPUT, ["cut.json", "copy it again"], cut)
        cut.write_text(whole.replace('"replicas": 2', '"replicas": 3').replace('"made": "2', '"made": "3'), encoding="utf-8")
        refused(ring.INVALID_INPUT, ["its digest differs"], cut)
        cut.write_text(whole.replace('"format": 1', '"format": 7'), encoding="utf-8")
        refused(ring.UNSUPPORTED, ["its format is 7"], cut)
        refused(ring.IO, ["no.json"], self.dir / "no.json")
        # The checkpoint is elsewhere: beside the manifest, under the peer's identity.
        place = pathlib.Path(manifest["peers"][0]["path"])
        moved = self.dir / node.id
        shutil.copytree(place, moved)
        shutil.rmtree(place)
        table = max((moved / "store").glob("*.log"), key=lambda file: file.stat().st_size)
        good = table.read_bytes()
        table.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        refused(ring.INVALID_INPUT, [table.name, "digest differs"])
        table.write_bytes(good[:-1])
        refused(ring.INVALID_INPUT, [table.name, "the manifest says"])
        table.unlink()
        refused(ring.IO, [table.name, "copy the checkpoint again"])
        table.write_bytes(good)
        (moved / "store" / "more").write_bytes(b"")
        refused(ring.INVALID_INPUT, ["more", "not in the manifest"])
        (moved / "store" / "more").unlink()
        full = self.dir / "full"
        full.mkdir()
        (full / "a file").write_bytes(b"")
        self.refused(ring.MISMATCH, ["is not empty"], "restore", "--from", path, "--into", full)
        self.refused(ring.INVALID_INPUT, ["twice"], "restore", "--from", path, "--into", into, into)
        self.ok("restore", "--from", path, "--into", into)

    def test_a_peer_that_is_down_is_named_and_the_snapshot_fails_unless_there_are_copies(self):
        web = self.web(hosts=2, pages=20)
        for replicas, code in ((1, ring.UNREACHABLE), (2, 0)):
            common = ["--suspicion-time", "1s", "--probe-every", "200ms", "--probe-timeout", "100ms", *web.reach]
            more = ["--scope", "domain", "--replicas", replicas, *ring.QUICK, *common]
            first = self.node(f"a{replicas}", *more)
            second = self.node(f"b{replicas}", "--join", first.address, *common)
            self.wait_for_members([first, second], 2)
            self.ok("seed", "--peer", first.address, *web.seeds)
            self.wait_for_rest([first, second])
            second.signal(signal.SIGKILL)
            second.wait(20)
            path = self.dir / f"{replicas}.json"
            command = ["snapshot", "--peer", first.address, "--manifest", path]
            got, out, err = self.run_it(*command)
            self.assertEqual(got, code, out + err)
            self.assertIn(second.address, out + err)
            self.assertEqual(path.exists(), code == 0)
            if code != 0:
                self.ok(*command, "--partial")
                self.refused(ring.MISMATCH, ["no part in it"], "restore", "--from", path, "--into", self.dir / "new")
            manifest = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual([peer["id"] for peer in manifest["missing"]], [second.id])
            first.signal(signal.SIGINT)
            self.assertEqual(first.wait(20), 0)
