"""What the world may do to a crawl: servers that misbehave, robots.txt files of rubbish, private addresses."""

import os

import bad_outcomes
import misbehave
import ring

MEMORY_KIB = 400 * 1024  # a peer's, at most, with the small limits below
LIMITS = [
    "--connect-timeout",
    "1s",
    "--fetch-timeout",
    "4s",
    "--low-speed-time",
    "2s",
    "--max-body-bytes",
    "1MiB",
    "--max-decoded-bytes",
    "4MiB",
    "--max-body-memory",
    "32MiB",
    "--max-retries",
    "1",
    *ring.QUICK,
]


class Misbehaviours(ring.Case):
    @ring.about(40)
    def test_each_is_met_recorded_and_costs_nothing_else(self):
        bad = self.keep(misbehave.BadServer(self.dir))
        web = self.web(hosts=6, pages=150, calm=False)
        seeds = [*web.seeds, f"http://127.0.0.1:{bad.port}/hosts"]
        node = self.node("a", *seeds, "--scope", "any", "--max-depth", 6, "--text", *LIMITS, *web.reach, *bad.reach)
        # The other hosts are whole long before the bad ones have timed out.
        ring.wait_until("the sample web is fetched", lambda: web.lost_and_twice()[0] == set(), 30)
        self.wait_for_rest([node], 120)
        self.check_whole(web)
        self.assertLess(ring.high_water_kib(node.pid), MEMORY_KIB)
        requests = bad.requests()
        wrong = [f"what is no link was followed: {path}" for path in requests if path.startswith("/fake")]
        behaviours = bad.behaviours()
        self.assertEqual({path for path in behaviours if path.startswith("/")}, set(bad_outcomes.OUTCOMES))
        for path, said in behaviours.items():
            answer = self.explain(node, bad.url(path))
            linked = said["link"] is not None and any(a.split("?")[0].startswith(said["link"]) for a in requests)
            got = (answer["state"], answer["reason"], answer["status"], linked)
            wanted = bad_outcomes.OUTCOMES.get(path, ("excluded", "robots_connect", 0, False))  # else the deaf port
            if got != wanted:
                wrong.append(f"{path} ({said['what']}): {got}, not {wanted}")
        self.assertEqual(wrong, [], "\n".join(["wrongly met:", *wrong]))
        for path in ("/B44/429", "/B44/503", "/B44/429-date", "/B44/503-date"):
            self.assertGreaterEqual(min(bad.ask("/stats")["gaps"][path]), 2, f"seconds until {path} was tried again")
        for path in ("/B44/404", "/B44/410", "/B44/451", "/B44/520"):
            self.assertEqual(requests[path], 1, f"tries of {path}, which will not pass")

    @ring.about(15)
    def test_a_crawl_of_bad_hosts_ends_by_itself(self):
        bad = self.keep(misbehave.BadServer(self.dir))
        web = self.web(hosts=3, pages=30)
        seeds = [
            *web.seeds,
            *(
                bad.url(path)
                for path in ("/B02", "/B04", "/B05/head", "/B06", "/B27/gzip", "/B57/random", "/B30/endless")
            ),
        ]
        summary = self.crawl(web, "--peers", 2, *LIMITS, *bad.reach, seeds=seeds, scope="host", quick=False)
        self.assertTrue(summary["finished"], summary)
        self.assertEqual(summary["queued"], 0)
        self.assertEqual(set(web.pages()), {url for url in web.expected() if url.startswith(web.seeds[0])})

    @ring.about(10)
    def test_ctrl_c_does_not_wait_for_a_server_that_never_answers(self):
        bad = self.keep(misbehave.BadServer(self.dir))
        crawl = self.keep(
            ring.Process(
                [
                    ring.BINARY,
                    "crawl",
                    bad.url("/B04"),
                    bad.url("/B57/random"),
                    "--out",
                    self.dir / "crawl",
                    "--delay",
                    "0s",
                    "--max-body-bytes",
                    "1GiB",
                    "--max-body-memory",
                    "1GiB",
                    *bad.reach,
                ],
                self.dir,
                "crawling",
            )
        )
        ring.wait_until("both are asked", lambda: {"/B04", "/B57/random"} <= set(bad.requests()) or not crawl.running())
        crawl.signal(2)
        self.assertEqual(crawl.wait(12), 0, crawl.err)

    @ring.about(10)
    def test_a_host_that_is_down_is_given_up_and_not_for_ever(self):
        """Many pages of a host that is not there: ten tries without an answer, and the rest is not tried at all."""
        port = ring.free_port()
        paths = [f"http://down.test:{port}/{i}" for i in range(40)]
        node = self.node(
            "a",
            *paths,
            "--robots",
            "no",
            *ring.QUICK,
            "--resolve",
            f"*:{port}:127.0.0.1",
            "--allow-private",
            "127.0.0.1/32",
            "--max-retries",
            "0",
        )
        self.wait_for_rest([node])
        reasons = [self.explain(node, url)["reason"] for url in paths]
        self.assertEqual(set(reasons), {"connect", "host_down"})
        self.assertEqual(reasons.count("connect"), 10)


class RobotsFiles(ring.Case):
    HTML = b"<!DOCTYPE html><title>t</title><a href='/page.html'>page</a>"

    def answer(self, handler, host, path):
        if path != "/robots.txt":
            return handler.whole(self.HTML)
        kind = host.split(".")[0]
        if kind in ("s401", "s403", "s404", "s410", "s500", "s503", "s429"):
            return handler.whole(b"User-agent: *\nDisallow: /\n", int(kind[1:]))
        rules = b"User-agent: *\nDisallow: /page.html\n"
        if kind == "endless":
            return handler.endless(b"# nothing here\n" * 4000)
        if kind == "one-line":
            return handler.endless(b"a" * 65536)
        if kind == "silent":
            return handler.silence()
        if kind == "loop":
            return handler.whole(b"", 302, Location="/robots.txt")
        body = {
            "random": os.urandom(600_000),
            "zeros": bytes(600_000),
            "html": b"<!DOCTYPE html><p>User-agent: *<p>Disallow: /",
            "empty": b"",
            "no-agent": b"Disallow: /\n" * 1000,
            "late": b"# filler\n" * 100_000 + b"User-agent: *\nDisallow: /\n",
            "utf16": rules.decode().encode("utf-16"),
            "many": b"User-agent: *\n" + b"Disallow: /x*y*z*$\n" * 20_000,
            "lie": rules,
            "rules": rules,
            "bom": b"\xef\xbb\xbf" + rules,
        }[kind]
        if kind == "lie":
            return handler.whole(body, 200, "text/plain", Content_Encoding="gzip")
        return handler.whole(body, 200, "text/plain")

    ALLOWED = [
        "random",
        "zeros",
        "html",
        "empty",
        "no-agent",
        "late",
        "many",
        "endless",
        "one-line",
        "s401",
        "s403",
        "s404",
        "s410",
        "loop",
    ]
    RULES = ["rules", "bom", "utf16"]  # what UTF-16 with a byte order mark says is meant, though the RFC wants UTF-8
    UNREACHABLE = ["s500", "s503", "s429", "silent"]

    @ring.about(15)
    def test_rubbish_allows_rules_hold_and_unreachable_means_no(self):
        """RFC 9309, 2.3.1: 4xx and too many redirects allow all; 5xx and silence nothing; 500 KiB are read at most."""
        server = misbehave.SmallServer(self, self.answer)
        kinds = [*self.ALLOWED, *self.RULES, *self.UNREACHABLE, "lie"]
        node = self.node("a", *(server.url(f"{kind}.test") for kind in kinds), *LIMITS, *server.reach)
        self.wait_for_rest([node])
        self.assertLess(ring.high_water_kib(node.pid), MEMORY_KIB)
        requests = server.requests()
        got = {
            kind: (requests.get(f"{kind}.test/", 0), requests.get(f"{kind}.test/page.html", 0))
            for kind in kinds
            if kind != "lie"
        }
        wanted = (
            {kind: (1, 1) for kind in self.ALLOWED}
            | {kind: (1, 0) for kind in self.RULES}
            | {kind: (0, 0) for kind in self.UNREACHABLE}
        )
        self.assertEqual(got, wanted)
        for kind in self.UNREACHABLE:
            answer = self.explain(node, server.url(f"{kind}.test"))
            self.assertEqual(answer["state"], "excluded", kind)
            self.assertTrue(answer["reason"].startswith("robots_"), answer)
            self.assertEqual(answer["reason"] == "robots_unreachable", answer["status"] > 0, answer)
        for kind in self.RULES:
            self.assertEqual(self.explain(node, server.url(f"{kind}.test", "/page.html"))["reason"], "robots")


class PrivateAddresses(ring.Case):
    def refused_by_default(self, robots):
        """However the address is written; nothing reaches the server."""
        web = self.web(hosts=2, pages=10)
        node = self.node(
            "a",
            web.seeds[0],
            f"http://127.0.0.1:{web.port}/",
            f"http://[::1]:{web.port}/",
            f"http://2130706433:{web.port}/",
            "--robots",
            robots,
            "--scope",
            "any",
            *ring.QUICK,
            *web.reach[:2],
        )
        self.wait_for_rest([node])
        self.assertEqual(web.total(), 0, "requests that reached the server")
        for url in (web.seeds[0], f"http://127.0.0.1:{web.port}/", f"http://[::1]:{web.port}/"):
            answer = self.explain(node, url)
            self.assertEqual((answer["state"], answer["reason"]), ("failed", "address_refused"), url)

    def test_refused_by_default(self):
        self.refused_by_default("no")

    def test_refused_by_default_when_robots_txt_is_asked_for_first(self):
        self.refused_by_default("yes")

    def test_a_crawl_of_a_refused_address_ends_and_says_so(self):
        web = self.web(hosts=1, pages=3)
        summary = self.crawl(web, seeds=web.seeds, quick=True)
        self.assertEqual(summary["pages"], 3)
        # With a second seed, whose address is not known beforehand, it starts; the refusal comes at the connection.
        code, out, err = self.run_it(
            "crawl", *web.seeds, "http://nowhere.invalid/", "--out", self.dir / "refused", "--quiet", *ring.QUICK,
            *web.reach[:2],
        )  # fmt: skip
        self.assertEqual(code, ring.NOTHING_FETCHED)
        self.assertIn("refused: private address, 1: ", out + err)

    def redirect_to_another_range(self, *more):
        inner = misbehave.SmallServer(self, lambda handler, host, path: handler.whole(b"secret"), address="127.0.0.2")
        target = f"http://127.0.0.2:{inner.port}/secret"

        def answer(handler, host, path):
            if path == "/robots.txt":
                return handler.whole(b"", 404)
            if path == "/moved":
                return handler.whole(b"moved", 302, Location=target)
            return handler.whole(
                f"<!DOCTYPE html><a href='/moved'>m</a><a href='http://inner.test:{inner.port}/'>i</a>".encode()
            )

        outer = misbehave.SmallServer(self, answer)
        node = self.node(
            "a",
            outer.url("outer.test"),
            "--scope",
            "any",
            *ring.QUICK,
            *outer.reach,
            "--resolve",
            f"inner.test:{inner.port}:127.0.0.2",
            *more,
        )
        self.wait_for_rest([node])
        return inner, node, [target, f"http://inner.test:{inner.port}/"]

    def test_redirect_and_name_into_another_range_are_refused(self):
        self.check_refused("no")

    def test_and_so_when_robots_txt_is_asked_for_first(self):
        self.check_refused("yes")

    def check_refused(self, robots):
        inner, node, urls = self.redirect_to_another_range("--robots", robots)
        self.assertEqual(inner.requests(), {})
        for url in urls:
            answer = self.explain(node, url)
            self.assertEqual((answer["state"], answer["reason"]), ("failed", "address_refused"), url)

    def test_and_allowed_when_that_range_is_too(self):
        inner, node, urls = self.redirect_to_another_range("--allow-private", "127.0.0.2/32", "--robots", "no")
        self.assertEqual({self.explain(node, url)["state"] for url in urls}, {"fetched"})
        self.assertEqual(sum(inner.requests().values()), 2)
