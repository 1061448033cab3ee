"""`orbweaver doctor`: a ring that is well, one that is not, damaged directories, and one page step by step."""

import gzip
import json
import os
import signal

import misbehave
import ring


class Doctor(ring.Case):
    def ask(self, *arguments):
        """({check: worst state}, all findings): the exit code must fit them."""
        code, out, err = self.run_it("doctor", "--json", *arguments)
        answer = json.loads(out)
        order = ["ok", "warn", "fail"]
        worst = {}
        for finding in answer["checks"]:
            self.assertTrue(finding["found"], finding)
            before = worst.get(finding["check"], "ok")
            worst[finding["check"]] = max(before, finding["state"], key=order.index)
        failed = "fail" in worst.values()
        self.assertEqual((code, answer["healthy"]), (10, False) if failed else (0, True), err)
        return worst, answer["checks"]

    def test_a_ring_that_is_well_and_one_that_lost_a_peer(self):
        web = self.web(hosts=4, pages=40)
        settings = ["--contact", "https://you.example/bot", "--scope", "domain", "--suspicion-time", "1s", *ring.QUICK]
        first = self.node("a", *settings, *web.reach)
        self.ok("seed", "--peer", first.address, *web.seeds)
        self.wait_for_rest([first])  # alone: next to the second it may hold none of the hosts, and have no archive
        second = self.node("b", "--join", first.address, *web.reach)
        self.wait_for_members([first, second], 2)
        self.wait_for_rest([first, second])
        worst, findings = self.ask("--dir", first.directory)
        for check in ("machine.memory", "machine.descriptors", "disk.rights", "archive.newest", "ring.health",
                      "ring.pairs", "ring.clocks", "ring.versions", "settings.contact"):  # fmt: skip
            self.assertEqual(worst.get(check), "ok", findings)
        self.assertEqual(worst["settings.delay"], "warn")
        self.assertIn("ok    ring.health", self.run_it("doctor", "--dir", first.directory)[1])
        second.signal(signal.SIGKILL)
        second.wait()
        ring.wait_until("its end is seen", lambda: self.ask("--dir", first.directory)[0]["ring.pairs"] == "fail")
        worst, findings = self.ask("--dir", first.directory)
        self.assertEqual(worst["ring.health"], "fail")
        self.assertTrue(any(second.id[:8] in finding["found"] for finding in findings))
        self.assertTrue(all(finding.get("fix") for finding in findings if finding["state"] == "fail"), findings)

    def test_a_directory_with_faults(self):
        self.crawl(self.web(hosts=2, pages=20))
        where = self.dir / "crawl"
        worst, _ = self.ask("--dir", where)
        self.assertEqual((worst["disk.rights"], worst["archive.newest"]), ("ok", "ok"))
        self.assertEqual(worst["ring.peers"], "warn", "no peer runs, which is no fault")
        archive = max((where / "peer-1" / "archive").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        content = bytearray(archive.read_bytes())
        self.assertEqual(content[:2], gzip.compress(b"")[:2])
        content[len(content) // 2] ^= 0xFF
        archive.write_bytes(content)
        os.chmod(where / "peer-1", 0o777)
        worst, findings = self.ask("--dir", where)
        self.assertEqual((worst["disk.rights"], worst["archive.newest"]), ("fail", "fail"), findings)
        self.assertIn("chmod o-w", next(f for f in findings if f["check"] == "disk.rights")["fix"])

    def answer(self, handler, host, path):
        if path == "/robots.txt":
            return handler.whole(b"User-agent: *\nCrawl-delay: 0\nDisallow: /private\n")
        if path == "/old":
            return handler.whole(b"", 301, Location="/new")
        if path == "/away":
            return handler.whole(b"", 302, Location="http://other.test/")
        if path == "/challenge":
            return handler.whole(b"are you human?", 403, cf_mitigated="challenge")
        if path == "/gone":
            return handler.whole(b"", 410)
        if path == "/shell":
            return handler.whole(b"<!doctype html><div id='root'></div><script src='/main.js'></script>")
        return handler.whole(b"<!DOCTYPE html><title>page</title>")

    def test_a_page_step_by_step(self):
        server = misbehave.SmallServer(self, self.answer)
        node = self.node("a", "--scope", "host", *ring.QUICK, *server.reach)
        self.ok("seed", "--peer", node.address, server.url("site.test"))
        self.wait_for_rest([node])
        where = ("--peer", node.address)
        worst, findings = self.ask(server.url("site.test"), *where)
        self.assertEqual(worst, {
            "url.form": "ok", "url.crawl": "ok", "url.address": "ok", "url.robots": "ok", "url.answer": "ok"}, findings)  # fmt: skip
        worst, findings = self.ask(server.url("site.test", "/private/x"), *where)
        self.assertEqual(worst["url.robots"], "fail")
        self.assertIn("line 3: Disallow: /private", next(f for f in findings if f["check"] == "url.robots")["found"])
        self.assertNotIn("site.test/private/x", server.requests())
        worst, findings = self.ask(server.url("site.test", "/old"), *where)
        self.assertEqual((worst["url.redirect"], worst["url.answer"]), ("ok", "ok"), findings)
        self.assertEqual(self.ask(server.url("site.test", "/away"), *where)[0]["url.answer"], "warn")
        worst, findings = self.ask(server.url("site.test", "/challenge"), *where)
        self.assertIn("challenge", next(f for f in findings if f["check"] == "url.answer")["found"])
        self.assertEqual(self.ask(server.url("site.test", "/gone"), *where)[0]["url.answer"], "fail")
        worst, findings = self.ask(server.url("site.test", "/shell"), *where)
        self.assertEqual((worst["url.answer"], worst["url.browser"]), ("ok", "warn"), findings)
        self.assertEqual(self.ask(server.url("elsewhere.test"), *where)[0]["url.crawl"], "fail")
        for order, back, verdict, words in (
            (["delay", "site.test", "2s"], [], "ok", "2s after each request"),
            (["pause", "--host", "*.test"], ["resume", "--host", "*.test"], "warn", "has paused site.test"),
            (["pause"], ["resume"], "warn", "has paused the crawl"),
            (["block", "site.test"], ["unblock", "site.test"], "fail", "has blocked site.test"),
        ):  # fmt: skip
            self.ok(*order, *where)
            worst, findings = self.ask(server.url("site.test"), *where)
            self.assertEqual(worst["url.orders"], verdict, findings)
            self.assertIn(words, next(f for f in findings if f["check"] == "url.orders")["found"])
            if back:
                self.ok(*back, *where)
        self.assertEqual(self.ask("no url", *where)[0], {"url.form": "fail"})
