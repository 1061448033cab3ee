"""A ring that is upgraded, and taken back, peer by peer while it crawls: two builds, one protocol version apart."""

import json
import os
import shutil
import signal

import ring

OLD, NEW = 4, 5  # the protocol versions of the two builds


class Upgrade(ring.Case):
    def setUp(self):
        super().setUp()
        if not os.access(ring.AHEAD, os.X_OK):
            self.fail(
                f"there is no {ring.AHEAD}: build it with `deploy/build --ahead`, "
                "or name another with ORBWEAVER_AHEAD_BINARY"
            )

    @staticmethod
    def binary(version):
        return ring.AHEAD if version == NEW else ring.BINARY

    def three(self, web, version, *more):
        """Three peers of one version, of which none has a seed yet."""
        options = ["--scope", "domain", *ring.QUICK, "--stop-when-done", "yes", *more]
        nodes = [self.node("a", *options, *web.reach, binary=self.binary(version))]
        for name in "bc":
            nodes.append(self.node(name, "--join", nodes[0].address, *web.reach, binary=self.binary(version)))
        self.wait_for_members(nodes, 3)
        return nodes

    def restart(self, node, web, version):
        """Stopped as for an upgrade, and started again with the same directory."""
        node.signal(signal.SIGINT)
        self.assertEqual(node.wait(20), 0, node.err)
        again = self.node(node.name, *web.reach, binary=self.binary(version))
        self.assertEqual((again.id, again.address), (node.id, node.address))
        return again

    def members_of(self, node):
        return {member["id"]: member for member in self.own_status(node)["members"]}

    def wait_for_versions(self, nodes, versions):
        """Until each knows what each speaks, and each pair has spoken in the newest that both know."""

        def met():
            for node, own in zip(nodes, versions):
                members = self.members_of(node)
                for other, theirs in zip(nodes, versions):
                    member = members.get(other.id)
                    if member is None or (member["protocol"], member["state"]) != (theirs, "active"):
                        return False
                    if other is not node and member["spoken"] != min(own, theirs):
                        return False
            return True

        ring.wait_until(f"the peers speak {versions} with one another", met)

    def ask_with_both_builds(self, nodes, url):
        """Commands of either build, to peers of either build."""
        for version in (OLD, NEW):
            binary = self.binary(version)
            for node in nodes:
                to = ["--json", "--peer", node.address]
                answer = json.loads(self.ok("status", *to, binary=binary))
                self.assertEqual({peer["id"] for peer in answer["peers"]}, {n.id for n in nodes})
                self.assertEqual(answer["unreachable"], [])
                self.assertEqual(json.loads(self.ok("explain", *to, url, binary=binary))["state"], "fetched")

    def roll(self, from_version, to_version):
        """A crawl in which every peer is restarted as the other build, one after the other: the web and the peers."""
        web = self.web(hosts=8, pages=320, latency="100ms")
        nodes = self.three(web, from_version)
        versions = [from_version] * 3
        self.wait_for_versions(nodes, versions)
        self.ok("seed", "--peer", nodes[0].address, *web.seeds)
        for i in range(3):
            before = web.total()
            ring.wait_until("the crawl goes on", lambda goal=before + 15: web.total() >= goal)
            nodes[i] = self.restart(nodes[i], web, to_version)
            versions[i] = to_version
            self.assertEqual(self.own_status(nodes[i])["protocol"], to_version)
            self.wait_for_versions(nodes, versions)
            if i == 0:
                self.ask_with_both_builds(nodes, web.url(0))
        self.assertLess(len(web.pages()), len(web.expected()), "the crawl was over before the last restart")
        self.assertEqual([node.wait() for node in nodes], [0, 0, 0])
        endings = [json.loads((n.directory / "ended.json").read_text(encoding="utf-8")) for n in nodes]
        for ending in endings:
            self.assertTrue(ending["finished"])
            self.assertEqual(ending["totals"], endings[0]["totals"])
            self.assertEqual(ending["status"]["counts"]["messages_refused"], 0)
        self.assertEqual(endings[0]["totals"]["fetched"] + endings[0]["totals"]["failed"], len(web.pages()))
        self.check_whole(web)
        return nodes

    @ring.about(15)
    def test_a_rolling_upgrade_in_mid_crawl_loses_nothing_and_every_message_is_understood(self):
        for node in self.roll(OLD, NEW):
            self.assertNotIn("malformed message", node.log())

    @ring.about(15)
    def test_the_way_back_in_mid_crawl_loses_nothing(self):
        # Until a peer that was taken back has said so, it may be spoken to as before. It refuses that by name, and the
        # sender, without an answer, says it again.
        for node in self.roll(NEW, OLD):
            for line in node.log().splitlines():
                if "malformed message" in line:
                    self.assertIn(f"it is of protocol version {NEW}, this peer speaks", line)

    @ring.about(20)
    def test_a_disk_lost_in_the_middle_of_a_rolling_upgrade_loses_nothing(self):
        web = self.web(hosts=8, pages=320, latency="100ms")
        # It is found dead soon, and each peer has few pages in flight: those may be fetched again.
        own = ["--suspicion-time", "1s", "--probe-every", "200ms", "--probe-timeout", "100ms", "--max-fetches", "4"]
        options = ["--scope", "domain", *ring.QUICK, "--replicas", "2", *own]
        nodes = [self.node("a", *options, *web.reach)]
        for name in "bc":
            nodes.append(self.node(name, "--join", nodes[0].address, *own, *web.reach))
        self.wait_for_members(nodes, 3)
        self.ok("seed", "--peer", nodes[0].address, *web.seeds)

        def crawls_on(pages):
            before = web.total()
            ring.wait_until("the crawl goes on", lambda: web.total() >= before + pages)

        def upgrade(at):
            nodes[at].signal(signal.SIGINT)
            self.assertEqual(nodes[at].wait(20), 0, nodes[at].err)
            nodes[at] = self.node(nodes[at].name, *own, *web.reach, binary=ring.AHEAD)
            self.assertEqual(self.own_status(nodes[at])["protocol"], NEW)

        crawls_on(30)
        upgrade(0)
        crawls_on(15)
        # One of the older build is gone for good, with its disk.
        lost = nodes.pop(1)
        lost.signal(signal.SIGKILL)
        lost.wait(10)
        shutil.rmtree(lost.directory)
        crawls_on(15)
        upgrade(1)
        self.wait_for_members(nodes, 2)
        self.assertLess(len(web.pages()), len(web.expected()), "the crawl was over before the last restart")
        self.wait_for_rest(nodes)
        self.check_nothing_lost(web)
        for node in nodes:
            self.assertNotIn("malformed message", node.log())

    def test_a_peer_of_the_next_version_joins_and_leaves_a_ring_of_this_one(self):
        web = self.web(hosts=2, pages=20)
        old = self.node("old", "--scope", "domain", *ring.QUICK, *web.reach)
        new = self.node("new", "--join", old.address, *web.reach, binary=ring.AHEAD)
        self.wait_for_versions([old, new], [OLD, NEW])
        newer = self.node("newer", "--join", new.address, *web.reach, binary=ring.AHEAD)
        self.wait_for_versions([old, new, newer], [OLD, NEW, NEW])
        self.ok("seed", "--peer", new.address, *web.seeds)
        self.wait_for_rest([old, new, newer])
        self.check_whole(web)
        # What the newer ones have written is read by the older one that takes it over.
        for node in (newer, new):
            self.ok("leave", "--peer", node.address)
            self.assertEqual(node.wait(), 0, node.err)
        self.wait_for_rest([old])
        self.assertEqual(self.own_status(old)["counts"]["fetched"], len(web.expected()))
        for node in (old, new, newer):
            self.assertNotIn("malformed message", node.log())
        self.assertIn("orbweaver_messages_malformed_total 0", ring.get(f"http://{old.status_address}/metrics")[1])
