"""Sitemaps and robots tags in a crawl: who may name a sitemap, what becomes of what it lists, what is kept of a page
that asks not to be kept; and `orbweaver sitemap`."""

import gzip
import json
import os
import shutil
import time

import misbehave
import ring
import warcs

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def urlset(*urls):
    return (HEAD + "<urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>").encode()


def index(*urls):
    return (HEAD + "<sitemapindex>" + "".join(f"<sitemap><loc>{u}</loc></sitemap>" for u in urls) + "</sitemapindex>").encode()


class Sitemaps(ring.Case):
    """site.test links nothing; its robots.txt names sitemaps of every form, one of them on another host."""

    XML, GZIP, FORM = "application/xml", "application/gzip", "text/plain"

    def answer(self, handler, host, path):
        here = f"http://site.test:{self.server.port}"
        away = f"http://maps.test:{self.server.port}"
        robots = (
            f"Sitemap: {here}/index.xml\nSitemap: /list.txt\nSitemap: {away}/site.xml\nSitemap: {here}/broken.xml\n"
            f"User-agent: *\nDisallow: /secret\n"
        )
        found = {
            ("site.test", "/robots.txt"): (robots, self.FORM),
            ("site.test", "/"): ("<p>no links", "text/html"),
            ("site.test", "/index.xml"): (index(f"{here}/part.xml.gz", f"{here}/feed", f"{away}/part.xml"), self.XML),
            ("site.test", "/part.xml.gz"): (gzip.compress(urlset(f"{here}/gz", f"{here}/secret/x")), self.GZIP),
            ("site.test", "/feed"): (f"<rss><channel><item><link>{here}/rss</link></item></channel></rss>", self.XML),
            ("site.test", "/list.txt"): (f"{here}/text\nhttp://other.test:{self.server.port}/far\n", self.FORM),
            ("site.test", "/broken.xml"): (urlset(f"{here}/before?a=1&b=2") + b"<oops", "text/html"),
            # Whatever the host of a sitemap says in its own robots.txt: it is not what is being crawled.
            ("maps.test", "/robots.txt"): (f"Sitemap: {away}/own.xml\n", self.FORM),
            ("maps.test", "/site.xml"): (urlset(f"{here}/away", f"{away}/page"), self.XML),
            ("site.test", "/sitemap.xml"): (urlset(f"{here}/usual"), self.XML),
        }.get((host, path))
        if found is None:
            return handler.whole(b"<p>a page", 404 if path == "/robots.txt" else 200)
        body = found[0] if isinstance(found[0], bytes) else found[0].encode()
        return handler.whole(body, 200, found[1])

    def asked(self, *more, seeds=("site.test",), host="site.test"):
        self.server = misbehave.SmallServer(self, self.answer)
        summary = self.crawl(
            self.server, "--peers", 2, *more, seeds=[self.server.url(host) for host in seeds], scope="host"
        )
        self.assertTrue(summary["finished"], summary)
        requests = self.server.requests()
        self.assertEqual({url: n for url, n in requests.items() if n > 1}, {}, "asked for twice")
        self.assertEqual(
            warcs.read_all(self.dir / "crawl"),
            {f"http://{url}".replace(".test/", f".test:{self.server.port}/"): 1 for url in requests},
            "sitemaps lie in the archive like any page",
        )
        return {url for url in requests if not url.endswith("/robots.txt")}

    NAMED = {"/", "/index.xml", "/list.txt", "/broken.xml", "/part.xml.gz", "/feed"}
    LISTED = {"/gz", "/rss", "/text", "/away", "/before?a=1&b=2"}

    def test_what_robots_txt_names_is_read_and_what_it_lists_in_scope_is_fetched(self):
        self.assertEqual(
            self.asked(), {"site.test" + path for path in self.NAMED | self.LISTED} | {"maps.test/site.xml"}
        )

    def test_off_reads_none(self):
        self.assertEqual(self.asked("--sitemaps", "off"), {"site.test/"})

    def test_usual_places_are_for_hosts_whose_robots_txt_names_none(self):
        self.assertEqual(
            self.asked("--sitemaps", "well_known", seeds=["site.test", "plain.test"]),
            {"site.test" + path for path in self.NAMED | self.LISTED}
            | {"maps.test/site.xml"}
            | {"plain.test/", "plain.test/sitemap.xml", "plain.test/sitemap_index.xml"},
        )

    def test_depth_is_as_if_the_first_page_linked_the_sitemap(self):
        self.server = misbehave.SmallServer(self, self.answer)
        node = self.node("a", self.server.url("site.test"), "--max-depth", 2, *ring.QUICK, *self.server.reach)
        self.wait_for_rest([node])
        depths = {
            path: self.explain(node, self.server.url("site.test", path))["depth"]
            for path in ("/index.xml", "/part.xml.gz", "/gz", "/text")
        }
        self.assertEqual(depths, {"/index.xml": 1, "/part.xml.gz": 1, "/gz": 2, "/text": 2})
        secret = self.explain(node, self.server.url("site.test", "/secret/x"))
        self.assertEqual((secret["state"], secret["reason"]), ("excluded", "robots"))
        self.assertEqual(self.explain(node, self.server.url("maps.test", "/site.xml"))["state"], "fetched")
        self.assertEqual(self.explain(node, self.server.url("maps.test", "/page"))["state"], "out of scope")


class Nested(ring.Case):
    def test_indexes_without_end_are_followed_four_deep(self):
        def answer(handler, host, path):
            if path == "/robots.txt":
                return handler.whole(f"Sitemap: {server.url('site.test', '/0')}\n".encode(), 200, "text/plain")
            if path == "/":
                return handler.whole(b"<p>home")
            return handler.whole(index(f"/{int(path[1:]) + 1}"), 200, "text/xml")

        server = misbehave.SmallServer(self, answer)
        self.assertTrue(self.crawl(server, seeds=[server.url("site.test")], scope="host")["finished"])
        self.assertEqual(
            {url for url in server.requests() if not url.endswith("robots.txt")},
            {"site.test" + path for path in ("/", "/0", "/1", "/2", "/3", "/4")},
        )


class Served(ring.Case):
    """By a server that people use."""

    def test_nginx_serves_a_site_with_a_packed_sitemap(self):
        nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        self.assertTrue(nginx, "there is no nginx here: deploy/install-packages --tests")
        port = ring.free_port()
        root = self.dir / "site"
        root.mkdir()
        base = f"http://site.test:{port}"
        (root / "index.html").write_text("<p>home</p>", encoding="utf-8")
        for i in range(20):
            (root / f"{i}.html").write_text(f"<p>{i}</p>", encoding="utf-8")
        (root / "robots.txt").write_text(f"User-agent: *\nDisallow: /19.html\n\nSitemap: {base}/map.xml.gz\n")
        (root / "map.xml.gz").write_bytes(gzip.compress(urlset(*(f"{base}/{i}.html" for i in range(20)))))
        config = self.dir / "nginx.conf"
        config.write_text(
            f"daemon off; worker_processes 1; pid {self.dir}/nginx.pid; error_log stderr;\n"
            "events {}\nhttp { types { text/html html; text/plain txt; application/gzip gz; }\n"
            + "".join(f"  {k}_temp_path {self.dir}/{k};\n" for k in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
            + f"  access_log {self.dir}/access.log;\n  server {{ listen 127.0.0.1:{port}; root {root}; }}\n}}\n",
            encoding="utf-8",
        )
        os.chmod(self.dir, 0o755)
        server = self.keep(ring.Process([nginx, "-c", config, "-e", "stderr"], self.dir, "nginx"))
        server.reach = ["--resolve", f"*:{port}:127.0.0.1", "--allow-private", "127.0.0.1/32"]
        ring.wait_until("nginx answers", lambda: answers(port) or not server.running())
        self.assertTrue(server.running(), server.err)
        self.assertTrue(self.crawl(server, "--peers", 2, seeds=[base + "/"], scope="host")["finished"])
        self.assertEqual(
            warcs.read_all(self.dir / "crawl"),
            {f"{base}/{path}": 1 for path in ["", "robots.txt", "map.xml.gz", *(f"{i}.html" for i in range(19))]},
        )
        told = json.loads(self.ok("sitemap", "--json", f"{base}/map.xml.gz".replace("site.test", "127.0.0.1"),
                                  "--allow-private", "127.0.0.1/32"))
        self.assertEqual((told["kind"], len(told["entries"]), told["problem"]), ("urlset", 20, ""))


def answers(port):
    try:
        return ring.get(f"http://127.0.0.1:{port}/robots.txt")[0] == 200
    except OSError:
        return False


class RobotsTags(ring.Case):
    """X-Robots-Tag and <meta>, under everybody's name, ours, and another's."""

    PAGES = {
        "/header": ("", {"X_Robots_Tag": "noindex"}),
        "/ours": ("", {"X_Robots_Tag": "otherbot: nofollow, orbweaver: noindex, noarchive"}),
        "/theirs": ("", {"X_Robots_Tag": "otherbot: noindex, nofollow"}),
        "/meta": ("<meta name=robots content='NoIndex'>", {}),
        "/own-meta": ("<meta content='none' name='Orbweaver'>", {}),
        "/other-meta": ("<meta name=otherbot content=none>", {}),
        "/gone": ("<meta name=robots content='unavailable_after: 25 Jun 2010 15:00:00 PST'>", {}),
        "/nofollow": ("<meta name=robots content='nofollow, nosnippet'>", {}),
        "/plain": ("", {}),
    }
    NOINDEX = {"/header", "/ours", "/meta", "/own-meta", "/gone"}
    NOFOLLOW = {"/own-meta", "/nofollow"}

    def answer(self, handler, host, path):
        if path == "/robots.txt":
            return handler.whole(b"", 404)
        if path == "/":
            return handler.whole("".join(f"<a href={p}>x</a>" for p in self.PAGES).encode())
        head, headers = self.PAGES.get(path, ("", {}))
        link = f"<a href={path}/linked>x</a>" if path in self.PAGES else ""
        return handler.whole(f"<!DOCTYPE html>{head}<p>the words of {path}</p>{link}".encode(), **headers)

    def archived(self):
        """{path: whether its words are in the archive}; the response itself is there either way."""
        found = {}
        for file in sorted(self.dir.rglob("*.warc.gz*")):
            for fields, block in warcs.records(file):
                if fields["WARC-Type"] != "response":
                    continue
                path = fields["WARC-Target-URI"].split(".test", 1)[1].split("/", 1)[1]
                head, body = block.split(b"\r\n\r\n", 1)
                self.assertIn(b" 200 ", head.split(b"\r\n")[0] + b" 200 " if path == "robots.txt" else head)
                self.assertEqual(fields.get("WARC-Truncated"), None if body or path == "robots.txt" else "unspecified")
                found["/" + path] = b"the words of" in body
        return found

    def crawled(self, *more):
        server = misbehave.SmallServer(self, self.answer)
        node = self.node("a", server.url("site.test"), "--text", *more, *ring.QUICK, *server.reach)
        self.wait_for_rest([node])
        paths = {url.removeprefix("site.test") for url in server.requests()}
        why = {path: self.explain(node, server.url("site.test", path)) for path in self.PAGES}
        self.assertEqual({answer["state"] for answer in why.values()}, {"fetched"})
        marked = {path for path, answer in why.items() if answer["reason"] == "noindex"}
        for path in marked:
            self.assertIn("not kept", why[path]["why"])
        node.signal(15)
        self.assertEqual(node.wait(), 0)
        lines = [
            json.loads(line)
            for file in (self.dir / "a" / "text").glob("*.jsonl")
            for line in file.read_text(encoding="utf-8").splitlines()
        ]
        texts = {line["url"].split(f":{server.port}", 1)[1]: line.get("robots") for line in lines}
        return paths, marked, texts

    def test_noindex_is_fetched_and_followed_but_not_kept(self):
        paths, marked, texts = self.crawled()
        self.assertEqual(marked, self.NOINDEX)
        self.assertLessEqual({path + "/linked" for path in self.PAGES}, paths, "nofollow is not obeyed unless asked")
        archived = self.archived()
        self.assertEqual({path for path in self.PAGES if not archived[path]}, self.NOINDEX)
        self.assertEqual(set(self.PAGES) - set(texts), self.NOINDEX)
        self.assertEqual(texts["/nofollow"], ["nofollow", "nosnippet"])
        self.assertIsNone(texts["/plain"])

    def test_who_does_not_obey_keeps_all(self):
        _, marked, texts = self.crawled("--obey-noindex", "no", "--parser", "tidy")
        self.assertEqual(marked, set())
        archived = self.archived()
        self.assertEqual({path for path in self.PAGES if not archived[path]}, set())
        self.assertLessEqual(set(self.PAGES), set(texts))
        self.assertEqual(texts["/ours"], ["noindex", "noarchive"])

    def test_nofollow_leaves_the_links_out(self):
        paths, _, _ = self.crawled("--obey-nofollow", "yes")
        self.assertEqual({p for p in self.PAGES if p + "/linked" not in paths}, self.NOFOLLOW)


class RobotsCache(ring.Case):
    RULES = b"User-agent: *\nDisallow: /no\n"

    def test_a_robots_txt_is_asked_for_once_a_day_and_restarts_do_not_matter(self):
        def answer(handler, host, path):
            return handler.whole(self.RULES if path == "/robots.txt" else b"<p>a page")

        server = misbehave.SmallServer(self, answer)
        for page in ("/1", "/2", "/no/3"):
            node = self.node("a", server.url("site.test", page), *ring.QUICK, *server.reach)
            self.wait_for_rest([node])
            node.signal(15)
            self.assertEqual(node.wait(), 0)
        self.assertEqual(server.requests(), {"site.test/robots.txt": 1, "site.test/1": 1, "site.test/2": 1})

    def test_429_is_waited_for_and_then_the_rules_hold(self):
        asked = []

        def answer(handler, host, path):
            if path != "/robots.txt":
                return handler.whole(b"<p>a page<a href=/no>x</a><a href=/yes>x</a>")
            asked.append(time.monotonic())
            if len(asked) == 1:
                return handler.whole(b"", 429, Retry_After="2")
            return handler.whole(self.RULES)

        server = misbehave.SmallServer(self, answer)
        node = self.node("a", server.url("site.test"), *ring.QUICK, *server.reach)
        self.wait_for_rest([node])
        self.assertEqual(server.requests(), {"site.test/robots.txt": 2, "site.test/": 1, "site.test/yes": 1})
        self.assertGreaterEqual(asked[1] - asked[0], 1.9)


class Tools(ring.Case):
    def test_sitemap_prints_what_was_read(self):
        path = self.dir / "map.xml"
        path.write_bytes(urlset("http://a.test/1?x=1&y=2", "/2")[:-9])
        out = self.ok("sitemap", path)
        self.assertIn("http://a.test/1?x=1&y=2\n", out)
        self.assertIn("(not a URL) /2", out)
        self.assertIn("urlset: 2 entries", out)
        self.assertIn("note: ", out)
        told = json.loads(self.ok("sitemap", "--json", "--base", "http://b.test/s.xml", path))
        self.assertEqual([e["url"] for e in told["entries"]], ["http://a.test/1?x=1&y=2", "http://b.test/2"])
        self.assertTrue(told["damaged"] and told["recognised"])
        path.write_text("this is none", encoding="utf-8")
        code, out, _ = self.run_it("sitemap", path)
        self.assertEqual(code, ring.INVALID_INPUT)
        self.assertIn("neither a sitemap nor a feed", out)
        self.refused(ring.INVALID_INPUT, ["absent"], "sitemap", self.dir / "absent")

    def test_robots_prints_the_group_and_the_line(self):
        path = self.dir / "robots.txt"
        path.write_text(
            "User-agent: *\nCrawl-delay: 2.5\nDisallow: /a\n\nSitemap: http://x.test/s.xml\n", encoding="utf-8"
        )
        out = self.ok("robots", path, "http://x.test/a/c", "http://x.test/b")
        for words in ("disallowed  http://x.test/a/c", "line 3: Disallow: /a", "allowed     http://x.test/b", "no rule",
                      "group:       * (line 1)", "crawl-delay: 2.5 s", "sitemap:     http://x.test/s.xml"):
            self.assertIn(words, out)
