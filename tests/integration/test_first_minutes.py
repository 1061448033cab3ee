"""What a person meets in the first minutes: what is said when nothing is fetched, and questions after the end."""

import json
import os
import shutil
import signal
import subprocess

import bad_tls
import misbehave
import ring


class NothingFetched(ring.Case):
    def test_a_private_address_is_refused_before_a_peer_starts_and_the_fix_is_named(self):
        web = self.web(hosts=1, pages=3)
        words = ["no page could be fetched", "127.0.0.1 is in 127.0.0.0/8", "--allow-private 127.0.0.0/8"]
        self.refused(ring.INVALID_SETTING, words, "crawl", f"http://127.0.0.1:{web.port}/", "--out", self.dir / "c")
        self.assertFalse((self.dir / "c").exists())

    def test_one_seed_that_can_be_fetched_is_enough_to_start(self):
        web = self.web(hosts=1, pages=3)
        code, out, err = self.run_it(
            *self.crawl_arguments(web, seeds=[*web.seeds, "http://10.1.2.3:1/"])
        )
        self.assertEqual(code, 0, err)
        summary = json.loads(out)
        self.assertEqual(summary["pages"], 3)
        refused = [reason for reason in summary["reasons"] if "10.1.2.3" in reason["example"]]
        self.assertEqual([reason["count"] for reason in refused], [1], summary["reasons"])

    def test_a_crawl_that_fetched_nothing_says_why_and_exits_otherwise(self):
        port = ring.free_port()
        code, out, err = self.run_it(
            "crawl", f"http://127.0.0.1:{port}/a", "--allow-private", "127.0.0.0/8", "--robots", "no",
            "--max-retries", "0", "--out", self.dir / "c",
        )  # fmt: skip
        self.assertEqual(code, ring.NOTHING_FETCHED, err)
        self.assertIn("nothing was fetched", err)
        self.assertIn(f"failed: the host does not take connections, 1: http://127.0.0.1:{port}/a", out)


class Reasons(ring.Case):
    def test_the_summary_counts_each_reason_with_an_example(self):
        web = self.web(hosts=6, pages=60, calm=False)
        summary = json.loads(self.ok(*self.crawl_arguments(web, "--peers", 2, scope="any")))
        by_state = {"failed": 0, "excluded": 0}
        for reason in summary["reasons"]:
            by_state[reason["state"]] += reason["count"]
            self.assertTrue(reason["example"].startswith("http"), reason)
            self.assertTrue(reason["why"], reason)
        self.assertGreater(by_state["failed"], 0)
        self.assertEqual(by_state, {"failed": summary["failed"], "excluded": summary["excluded"]})
        gone = [reason for reason in summary["reasons"] if reason.get("status") == 404]
        self.assertEqual([reason["why"] for reason in gone], ["the server answered 404"])


def contents(directory):
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in directory.rglob("*") if path.is_file()}


class Stopped(ring.Case):
    """Questions about a crawl that does not run."""

    def ask(self, *arguments):
        code, out, err = self.run_it(*arguments, "--dir", self.dir / "crawl", "--json")
        self.assertEqual(code, 0, err)
        self.assertIn("no peer runs in", err)
        return json.loads(out)

    def check_answers(self, fetched):
        before = contents(self.dir / "crawl")
        status = self.ask("status")
        self.assertEqual(status["totals"]["fetched"], fetched)
        self.assertEqual(len(status["read_from"]), 2)
        self.assertEqual({peer["state"] for peer in status["peers"]}, {"stopped"})
        self.assertEqual(self.ask("status", "--ledger")["differences"], [])
        seed = self.ask("explain", self.seed)
        self.assertEqual((seed["state"], seed["depth"]), ("fetched", 0))
        self.assertEqual(self.ask("explain", self.seed + "not-there")["state"], "unknown")
        self.assertEqual(self.ask("traps")["traps"], [])
        urls = self.ok("export", "urls", "--state", "fetched", "--dir", self.dir / "crawl").split()
        self.assertEqual(len(urls), fetched)
        self.assertEqual(urls, self.ok("export", "urls", "--states", "fetched", "--dir", self.dir / "crawl").split())
        self.assertEqual(contents(self.dir / "crawl"), before)

    def test_a_crawl_that_ended_is_read_and_not_changed(self):
        web = self.web(hosts=6, pages=80)
        self.seed = web.seeds[0]
        self.assertEqual(self.crawl(web, "--peers", 2)["pages"], 80)
        self.check_answers(80)

    def test_a_crawl_whose_peers_were_killed_is_read_and_not_changed(self):
        web = self.web(hosts=6, pages=80)
        self.seed = web.seeds[0]
        nodes = [self.node("a", "--scope", "domain", *ring.QUICK, *web.reach)]
        nodes.append(self.node("b", "--join", nodes[0].address, *web.reach))
        self.wait_for_members(nodes, 2)
        self.ok("seed", "--peer", nodes[0].address, *web.seeds)
        self.wait_for_rest(nodes)
        for node in nodes:
            node.signal(signal.SIGKILL)
            node.wait()
        (self.dir / "crawl").mkdir()
        for i, name in enumerate("ab", 1):
            os.rename(self.dir / name, self.dir / "crawl" / f"peer-{i}")
        self.check_answers(80)

    def test_readmit_needs_a_peer_that_runs(self):
        web = self.web(hosts=1, pages=3)
        self.crawl(web)
        code, _, err = self.run_it("traps", "--readmit", "--dir", self.dir / "crawl")
        self.assertEqual(code, ring.UNREACHABLE, err)

    def test_a_peer_may_start_while_its_directory_is_looked_at(self):
        web = self.web(hosts=1, pages=3)
        self.crawl(web)
        for _ in range(5):
            looking = [
                self.keep(ring.Process([ring.BINARY, "status", "--dir", self.dir / "crawl"], self.dir, f"look-{i}"))
                for i in range(4)
            ]
            self.assertTrue(self.crawl(web)["finished"])
            for process in looking:
                process.wait()


class Schemes(ring.Case):
    def test_a_host_without_a_scheme_is_asked_by_https_and_then_by_http(self):
        web = self.web(hosts=1, pages=3)
        host = web.seeds[0].removeprefix("http://").rstrip("/")
        code, out, err = self.run_it(*self.crawl_arguments(web, seeds=[host]))
        self.assertEqual(code, 0, err)
        self.assertIn(f"'{host}' does not answer by https", err)
        self.assertIn(f"crawling 'http://{host}'", err)
        self.assertEqual(json.loads(out)["pages"], 3)

    def test_https_is_taken_where_the_host_answers_by_it(self):
        authority = bad_tls.Authority(self.dir)
        context = authority.good("secure.test")
        server = bad_tls.TlsServer(self, {"secure.test": (context, bad_tls.whole)}, context)
        host = f"secure.test:{server.port}"
        code, out, err = self.run_it(
            "crawl", f"{host}/a", "--out", self.dir / "c", "--json", "--ca-file", authority.file, *ring.QUICK,
            *server.reach,
        )  # fmt: skip
        self.assertEqual(code, 0, err)
        self.assertIn(f"crawling 'https://{host}/a'", err)
        self.assertEqual(json.loads(out)["failed"], 0)

    def test_the_first_request_of_the_crawl_comes_a_delay_after_the_question(self):
        web = self.web(hosts=1, pages=2)
        host = web.seeds[0].removeprefix("http://").rstrip("/")
        self.ok(*self.crawl_arguments(web, "--delay", "600ms", seeds=[host], quick=False))
        for name, counts in web.stats()["hosts"].items():
            self.assertGreaterEqual(counts["smallest_gap_ms"], 600, name)


class Terminals(ring.Case):
    """`orbweaver node` says what goes on."""

    def until_said(self, node, *words):
        ring.wait_until(f"{node.name} says {words}", lambda: all(word in node.err for word in words))

    def test_peers_that_join_leave_and_die_are_said(self):
        first = self.node("a", "--suspicion-time", "1s", *ring.QUICK)
        self.until_said(first, f"listens on {first.address}", "alone; others join it with", f"--join {first.address}")
        second = self.node("b", "--join", first.address)
        third = self.node("c", "--join", first.address)
        self.wait_for_members([first, second, third], 3)
        self.until_said(second, f"joining the ring at {first.address}", "in ring")
        self.until_said(first, f"at {second.address} joined", f"at {third.address} joined (3 peers)")
        ring.wait_until("it has partitions to leave", lambda: self.own_status(second)["counts"]["partitions_held"] > 0)
        self.ok("leave", "--peer", second.address)
        self.assertEqual(second.wait(), 0)
        self.until_said(second, "partitions still here", "ended: left; all partitions were handed over")
        self.until_said(first, f"at {second.address} has left")
        third.signal(signal.SIGKILL)
        third.wait()
        self.until_said(first, f"at {third.address} is down")
        self.ok("stop", "--peer", first.address)
        first.wait()
        self.assertIn("ended: stopped", first.err)

    def test_quiet_says_nothing(self):
        node = self.node("a", "--quiet", *ring.QUICK)
        self.ok("stop", "--peer", node.address)
        node.wait()
        for word in ("listens", "in ring", "ended"):
            self.assertNotIn(word, node.err)


class OthersDirectories(ring.Case):
    """A directory that belongs to another user, and may not be read."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("needs root, to be another user")
        self.dir.chmod(0o755)
        shutil.copy2(ring.BINARY, self.dir / "orbweaver")
        self.theirs = self.dir / "c1"
        (self.theirs / "peer-1" / "store").mkdir(parents=True)
        (self.theirs / "crawl.json").write_text('{"peers": 1}\n', encoding="utf-8")
        (self.theirs / "ring.key").write_text("k" * 40 + "\n", encoding="utf-8")
        self.theirs.chmod(0o700)

    def as_nobody(self, *arguments):
        return subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "./orbweaver", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=self.dir,
            env={"PATH": os.environ["PATH"], "HOME": "/"},
            timeout=ring.PATIENCE,
            check=False,
        )

    def test_each_command_says_whose_directory_it_is(self):
        url = "http://a.test/"
        for command in (
            ["status"], ["status", "--ledger"], ["explain", url], ["traps"], ["traps", "--readmit"], ["seed", url],
            ["stop"], ["leave"], ["recrawl"], ["forget", "ab"], ["export", "urls"], ["report", "failed"], ["retry", "failed"],
        ):  # fmt: skip
            with self.subTest(command):
                ended = self.as_nobody(*command, "--dir", "c1")
                self.assertEqual(ended.returncode, ring.IO, ended.stderr)
                said = "cannot read c1: Permission denied; it belongs to root: run this as root\n"
                self.assertEqual(ended.stderr, "orbweaver: " + said)

    def test_a_crawl_and_a_key_in_it(self):
        for command in (
            ["crawl", "http://a.test/", "--out", "c1"], ["node", "--dir", "n1", "--ring-key-file", "c1/ring.key"],
            ["status", "--peer", "127.0.0.1:1", "--ring-key-file", "c1/ring.key"],
        ):  # fmt: skip
            with self.subTest(command):
                ended = self.as_nobody(*command)
                self.assertEqual(ended.returncode, ring.IO, ended.stderr)
                self.assertRegex(
                    ended.stderr, r"cannot read c1/\S+: Permission denied; c1 belongs to root: run this as root"
                )
                self.assertNotIn("make one", ended.stderr)

    def test_a_directory_below_it(self):
        self.theirs.chmod(0o755)
        (self.theirs / "peer-1").chmod(0o700)
        for command in (["status"], ["stop"], ["export", "urls"]):
            with self.subTest(command):
                ended = self.as_nobody(*command, "--dir", "c1")
                self.assertEqual(ended.returncode, ring.IO, ended.stderr)
                self.assertIn("c1/peer-1 belongs to root", ended.stderr)


class NoPeerRuns(ring.Case):
    """Commands that need a peer that runs."""

    COMMANDS = (["stop"], ["leave"], ["seed", "http://a.test/"], ["forget", "ab"], ["traps", "--readmit"])

    def test_a_peer_that_was_stopped(self):
        node = self.node("k1", *ring.QUICK)
        self.ok("stop", "--dir", node.directory)
        node.wait()
        for command in self.COMMANDS:
            said = self.refused(ring.UNREACHABLE, [], *command, "--dir", node.directory)
            self.assertIn(f"no peer runs in {node.directory}; start it with: orbweaver node --dir {node.directory}", said)

    def test_a_crawl_that_ended(self):
        self.crawl(self.web(hosts=1, pages=3), "--peers", "2")
        for command in self.COMMANDS:
            said = self.refused(ring.UNREACHABLE, [], *command, "--dir", self.dir / "crawl")
            self.assertIn(f"start it with: orbweaver crawl --out {self.dir / 'crawl'}", said)

    def test_those_that_run_are_asked_though_the_first_does_not(self):
        first = self.node("peer-1", *ring.QUICK)
        second = self.node("peer-2", "--join", first.address)
        self.wait_for_members([first, second], 2)
        self.ok("stop", "--one", "--peer", first.address)
        first.wait()
        self.assertEqual(json.loads(self.ok("status", "--json", "--dir", self.dir))["peers"][0]["id"], second.id)


class Redirects(ring.Case):
    """A site whose seed leads to another host."""

    def moved(self, target="www.site.test"):
        def answer(handler, host, path):
            if path == "/robots.txt":
                return handler.whole(b"", 404)
            if host.split(":")[0] == "site.test":
                return handler.whole(b"moved", 301, Location=f"http://{target}:{self.server.port}{path}")
            return handler.whole(b"<!DOCTYPE html><a href='http://other.test/'>o</a>")

        self.server = misbehave.SmallServer(self, answer)
        return self.server.url("site.test")

    def crawl_it(self, seed, *more):
        return self.run_it("crawl", seed, "--out", self.dir / "c", *ring.QUICK, *self.server.reach, *more)

    def test_a_seed_that_redirects_out_of_scope_is_named_with_the_fix(self):
        seed = self.moved()
        target = self.server.url("www.site.test")
        code, out, err = self.crawl_it(seed)
        self.assertEqual(code, ring.NOTHING_FETCHED, err)
        said = f"the seed {seed} redirects to {target}, which is out of scope: start there, or --scope domain"
        self.assertIn(said, out)
        self.assertIn("links out of scope, not followed: 1", out)
        self.assertIn("only redirects were fetched", err)
        told = json.loads(self.ok("explain", seed, "--dir", self.dir / "c", "--json"))
        self.assertEqual(told["redirects_to"], target)
        self.assertIn(f"a redirect to {target}, which is out of scope", told["why"])
        # What was fetched before is still known when the same crawl goes on.
        code, out, _ = self.crawl_it(seed)
        self.assertEqual(code, ring.NOTHING_FETCHED)
        self.assertIn(said, out)

    def test_another_domain_is_not_in_the_scope_of_this_one(self):
        seed = self.moved("elsewhere.test")
        code, out, _ = self.crawl_it(seed, "--json", "--quiet")
        self.assertEqual(code, ring.NOTHING_FETCHED)
        self.assertEqual(
            json.loads(out)["redirects_out"],
            [{"url": seed, "to": self.server.url("elsewhere.test"), "fix": "start there"}],
        )

    def test_with_the_scope_that_is_named_it_is_crawled(self):
        seed = self.moved()
        code, out, err = self.crawl_it(seed, "--scope", "domain", "--json", "--quiet")
        self.assertEqual(code, 0, err)
        summary = json.loads(out)
        self.assertEqual(summary["pages"], 2)
        self.assertNotIn("redirects_out", summary)
        self.assertNotIn("only_redirects", summary)


class Causes(ring.Case):
    """What kept a page out is what happened."""

    def nothing(self, *arguments, code=ring.NOTHING_FETCHED):
        got, out, err = self.run_it(
            "crawl", *arguments, "--out", self.dir / "c", "--max-retries", "0", *ring.QUICK, "--contact", "https://a.test/"
        )
        self.assertEqual(got, code, err)
        return out + err

    def test_a_name_that_does_not_resolve(self):
        said = self.nothing("http://nosuch.invalid/")
        self.assertIn("excluded: the host's name does not resolve, so its robots.txt could not be had, 1: ", said)
        self.assertIn("is the name right", said)
        self.assertNotIn("--robots no", said)
        told = json.loads(self.ok("explain", "http://nosuch.invalid/", "--dir", self.dir / "c", "--json"))
        self.assertEqual((told["state"], told["reason"]), ("excluded", "robots_dns"))
        self.assertIn("does not resolve", told["why"])

    def test_a_server_that_does_not_run(self):
        url = f"http://127.0.0.1:{ring.free_port()}/"
        said = self.nothing(url, "--allow-private", "127.0.0.0/8")
        self.assertIn(f"excluded: the host does not take connections, so its robots.txt could not be had, 1: {url}", said)
        self.assertIn("does the server run?", said)
        self.assertNotIn("--robots no", said)

    def test_a_robots_txt_that_fails_is_told_with_its_status(self):
        server = misbehave.SmallServer(self, lambda h, host, path: h.whole(b"", 503))
        said = self.nothing(server.url("a.test"), *server.reach)
        self.assertIn("excluded: the server answered 503 to its robots.txt, which counts as 'disallow all', 1: ", said)
        self.assertIn("--robots no", said)
        told = json.loads(self.ok("explain", server.url("a.test"), "--dir", self.dir / "c", "--json"))
        self.assertEqual((told["reason"], told["status"]), ("robots_unreachable", 503))

    def test_the_cause_is_still_known_after_a_restart(self):
        url = f"http://127.0.0.1:{ring.free_port()}"
        flags = [*ring.QUICK, "--max-retries", "0", "--allow-private", "127.0.0.0/8"]
        node = self.node("a", url + "/one", *flags)
        self.wait_for_rest([node])
        self.ok("stop", "--peer", node.address)
        node.wait()
        node = self.node("a", *flags)
        self.ok("seed", "--peer", node.address, url + "/two")
        ring.wait_until("it is out", lambda: self.explain(node, url + "/two")["state"] == "excluded")
        self.assertEqual(self.explain(node, url + "/two")["reason"], "robots_connect")

    def test_seeds_without_a_scheme_of_which_none_answers_stop_before_the_first_fetch(self):
        host = f"localhost:{ring.free_port()}"
        said = self.nothing(host, "--allow-private", "127.0.0.0/8", "--allow-private", "::1/128", code=ring.UNREACHABLE)
        self.assertIn(f"'{host}' answers neither by https (", said)
        self.assertNotIn("crawling", said)
        self.assertEqual(list((self.dir / "c").glob("peer-*")), [], "no peer has begun")

    def test_one_of_them_that_answers_is_enough(self):
        web = self.web(hosts=1, pages=3)
        seeds = [f"127.0.0.1:{ring.free_port()}", web.seeds[0].removeprefix("http://").rstrip("/")]
        code, out, err = self.run_it(*self.crawl_arguments(web, "--max-retries", "0", seeds=seeds))
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["pages"], 3)

    def test_a_seed_in_deny_addresses_is_not_told_as_a_private_one(self):
        said = self.nothing(
            "http://127.0.0.1:9999/", "--allow-private", "127.0.0.0/8", "--deny-addresses", "127.0.0.0/8",
            code=ring.INVALID_SETTING,
        )  # fmt: skip
        self.assertIn("127.0.0.1 is in deny_addresses; remove its range from deny_addresses", said)
        self.assertNotIn("--allow-private", said)

    def test_names_that_resolve_to_denied_and_private_addresses(self):
        port = ring.free_port()
        common = ["--resolve", f"denied.test:{port}:127.0.0.1", "--resolve", f"private.test:{port}:127.0.0.2",
                  "--allow-private", "127.0.0.1/32", "--deny-addresses", "127.0.0.1/32"]  # fmt: skip
        urls = {name: f"http://{name}.test:{port}/" for name in ("denied", "private")}
        said = self.nothing("http://nosuch.invalid/", *urls.values(), *common)
        self.assertIn(f"failed: refused: its address is in deny_addresses, 1: {urls['denied']}", said)
        self.assertIn(f"failed: refused: private address, 1: {urls['private']}; allow with --allow-private", said)
        for name, words in (("denied", "deny_addresses"), ("private", "--allow-private")):
            told = json.loads(self.ok("explain", urls[name], "--dir", self.dir / "c", "--json"))
            self.assertIn(words, told["why"])


class Keys(ring.Case):
    """A ring that hears nothing of a peer with another key."""

    def test_a_peer_without_the_key_says_why_it_may_not_be_answered(self):
        key = self.dir / "ring.key"
        self.ok("ring-key", key)
        first = self.node("a", *ring.QUICK, key_file=key)
        second = self.node("b", "--join", first.address, up=False)
        said = f"{first.address} does not answer: does a peer run there, and does it have the same ring key"
        ring.wait_until("it says so", lambda: said in second.err)
