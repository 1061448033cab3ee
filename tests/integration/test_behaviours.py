"""The list of server behaviours (http/behaviours.tsv of the suites): each row is met somewhere here, with its outcome.

Rows of plain HTTP are paths of badserver.py and stand in bad_outcomes.py; test_bad_world.py holds them to it. Here are the
rows that need TLS, HTTP/2, a name server, several ports or a site without end.
"""

import csv
import gzip
import ssl
import threading
import unittest

import bad_behaviours
import bad_dns
import bad_more  # noqa: F401  (registers its behaviours)
import bad_outcomes
import bad_tls
import misbehave
import ring

BASE = ["--scope", "any", "--max-retries", "1", "--connect-timeout", "2s", "--fetch-timeout", "4s", "--low-speed-time", "2s",
        *ring.QUICK]  # fmt: skip
COVERED = {}  # row -> tests


def rows(*ids):
    """Marks a test as the one that shows these rows of the list."""

    def mark(test):
        for row in ids:
            COVERED.setdefault(row, []).append(test.__name__)
        return test

    return mark


def whole_archive(directory):
    """The bytes of all archives of a peer."""
    return b"".join(gzip.decompress(path.read_bytes()) for path in directory.glob("archive/*"))


class TheList(unittest.TestCase):
    def test_every_row_is_met_and_every_difference_is_of_a_row(self):
        path = ring.SUITES / "http" / "behaviours.tsv"
        if not path.exists():
            self.skipTest(f"there is no {path}")
        with open(path, encoding="utf-8", newline="") as table:
            listed = {row["id"] for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)}
        by_path = {path.split("/")[1] for path in bad_behaviours.BEHAVIOURS} | {"B01"}
        self.assertEqual(listed - by_path - set(COVERED), set(), "rows that nothing shows")
        self.assertEqual((by_path | set(COVERED)) - listed, set(), "rows that the list does not have")
        self.assertEqual(set(bad_outcomes.DIFFERENCES) - listed, set())


class Judged(ring.Case):
    """What `explain` says of URLs."""

    def check(self, node, wanted):
        got = {}
        for url in wanted:
            answer = self.explain(node, url)
            got[url] = (answer["state"], answer["reason"])
            state, reasons = wanted[url]
            if isinstance(reasons, tuple) and got[url][0] == state and got[url][1] in reasons:
                got[url] = wanted[url]
        self.assertEqual(got, wanted)

    def crawl_of(self, urls, *arguments, robots="no"):
        node = self.node("a", *urls, "--robots", robots, *BASE, *arguments)
        self.wait_for_rest([node])
        self.assertLess(ring.high_water_kib(node.pid), 400 * 1024)
        return node


class Certificates(Judged):
    FAULTS = {
        "expired": "tls_expired",
        "wrong-name": "tls_wrong_name",
        "self-signed": "tls_self_signed",
        "untrusted-root": "tls_untrusted",
        "incomplete-chain": "tls_untrusted",
        "sha1": "tls_untrusted",
    }

    def setUp(self):
        super().setUp()
        ca = self.authority = bad_tls.Authority(self.dir)
        contexts = {"good.tls.test": ca.good("good.tls.test")}
        for name in ("middle-chain", "incomplete-chain"):
            ca.key(name)
            ca.issue(name, "middle", f"{name}.tls.test")
        contexts["middle-chain.tls.test"] = ca.context("middle-chain", ["middle"])
        contexts["incomplete-chain.tls.test"] = ca.context("incomplete-chain")
        contexts["expired.tls.test"] = ca.good("expired.tls.test", days=-1)
        contexts["wrong-name.tls.test"] = ca.good("elsewhere.tls.test")
        ca.key("self-signed")
        ca.self_signed("self-signed", "self-signed.tls.test")
        contexts["self-signed.tls.test"] = ca.context("self-signed")
        ca.key("untrusted-root")
        ca.issue("untrusted-root", "other", "untrusted-root.tls.test")
        contexts["untrusted-root.tls.test"] = ca.context("untrusted-root", ["other"])
        ca.key("sha1")
        ca.issue("sha1", "root", "sha1.tls.test", digest="sha1")
        contexts["sha1.tls.test"] = self.weak_context("sha1")
        serve = {host: (context, bad_tls.whole) for host, context in contexts.items()}
        for host, framed in (("cut-framed.tls.test", True), ("cut.tls.test", False)):
            serve[host] = (ca.good(host), bad_tls.cut_off(framed))
        self.server = bad_tls.TlsServer(self, serve, self.weak_context("sha1"))
        self.faulty = [f"{name}.tls.test" for name in self.FAULTS]

    def weak_context(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.load_cert_chain(self.authority.dir / f"{name}.pem", self.authority.dir / f"{name}.key")
        return context

    def only(self, host, change):
        """A server of its own port, whose whole context is changed."""
        context = self.authority.good(host)
        change(context)
        return bad_tls.TlsServer(self, {}, context)

    @rows("B52", "B53")
    def test_faults_of_tls_are_refused_by_name_and_nothing_else_is_hurt(self):
        def old(context):
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1

        def no_cipher(context):
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            context.set_ciphers("ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0")

        def wants_certificate(context):
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            context.load_verify_locations(self.authority.file)
            context.verify_mode = ssl.CERT_REQUIRED

        others = {host: self.only(host, change) for host, change in
                  (("old.tls.test", old), ("cipher.tls.test", no_cipher), ("client.tls.test", wants_certificate))}  # fmt: skip
        wanted = {self.server.url(f"{name}.tls.test"): ("failed", reason) for name, reason in self.FAULTS.items()}
        for host in ("good", "middle-chain", "cut-framed"):
            wanted[self.server.url(f"{host}.tls.test")] = ("fetched", "none")
        wanted[self.server.url("cut.tls.test")] = ("fetched", "none")  # see bad_outcomes.DIFFERENCES
        wanted[self.server.url("no-sni.tls.test")] = ("failed", "tls")
        for host, server in others.items():
            wanted[server.url(host)] = ("failed", "tls")
        reach = [word for server in (self.server, *others.values()) for word in server.reach]
        node = self.crawl_of(wanted, "--ca-file", self.authority.file, *reach)
        self.check(node, wanted)
        self.assertEqual(set(self.server.served) & set(self.faulty), set(), "no request was sent to them")
        self.assertIn("certificate has expired", node.log() + self.debug_of(self.server.url("expired.tls.test")))

    def test_tls_min_1_3_refuses_what_speaks_1_2_at_most(self):
        def only_1_2(context):
            context.maximum_version = ssl.TLSVersion.TLSv1_2

        other = self.only("older.tls.test", only_1_2)
        good, older = self.server.url("good.tls.test"), other.url("older.tls.test")
        reach = ["--ca-file", self.authority.file, *self.server.reach, *other.reach]
        node = self.crawl_of([good, older], "--min-tls", "1.3", *reach)
        self.check(node, {good: ("fetched", "none"), older: ("failed", "tls")})
        self.ok("stop", "--peer", node.address, *node.key)
        second = self.node("second", good, older, "--robots", "no", *BASE, *reach)
        self.wait_for_rest([second])
        self.check(second, {good: ("fetched", "none"), older: ("fetched", "none")})

    def debug_of(self, url):
        """What the log says of one fetch."""
        node = self.node("debug", url, "--robots", "no", "--log-level", "debug", *BASE,
                         "--ca-file", self.authority.file, *self.server.reach)  # fmt: skip
        self.wait_for_rest([node])
        return node.log()

    @rows("B52")
    def test_with_record_they_are_fetched_and_the_record_names_the_fault(self):
        wanted = {self.server.url(f"{name}.tls.test"): ("fetched", reason) for name, reason in self.FAULTS.items()}
        # The second page of a host comes over a connection whose fault was seen by the first.
        wanted |= {self.server.url("expired.tls.test", "/second"): ("fetched", "tls_expired")}
        wanted |= {self.server.url("good.tls.test", path): ("fetched", "none") for path in ("/", "/second")}
        node = self.crawl_of(
            wanted, "--ca-file", self.authority.file, "--tls-verify", "record", *self.server.reach
        )  # fmt: skip
        self.check(node, wanted)
        answer = self.explain(node, self.server.url("expired.tls.test"))
        self.assertIn("tls_expired", answer["why"])

    @rows("B42")
    def test_a_redirect_from_http_to_https_goes_through_the_frontier(self):
        target = self.server.url("good.tls.test", "/moved-here")
        plain = misbehave.SmallServer(self, lambda h, host, path: h.whole(b"moved", 301, Location=target))
        seed = plain.url("good.tls.test")
        node = self.crawl_of([seed], "--ca-file", self.authority.file, *plain.reach, *self.server.reach)
        self.check(node, {seed: ("fetched", "none"), target: ("fetched", "none")})


class Http2(Judged):
    WANTED = {
        "fine": ("fetched", "none"),
        # The frames of one read are taken together: whether the head is seen before the fault is chance.
        "goaway": ("failed", ("broken", "empty_reply")),
        "goaway-after": ("fetched", "none"),
        "reset": ("failed", ("broken", "empty_reply")),
        "reset-at-once": ("failed", "empty_reply"),
        "push": ("failed", "empty_reply"),
        "hpack": ("failed", "empty_reply"),
        "huge": ("failed", ("timeout", "broken")),
        "endless": ("failed", "empty_reply"),
        "pings": ("fetched", "none"),
        "preface": ("failed", "empty_reply"),
    }

    def setUp(self):
        super().setUp()
        self.authority = bad_tls.Authority(self.dir)
        context = self.authority.good("*.h2.test", "h2")
        context.set_alpn_protocols(["h2", "http/1.1"])
        serve = {f"{name}.h2.test": (context, bad_tls.h2(behave)) for name, behave in bad_tls.H2.items()}
        self.server = bad_tls.TlsServer(self, serve, context)
        self.reach = ["--ca-file", self.authority.file, *self.server.reach]

    @rows("B60")
    def test_faults_of_http2_end_in_a_state_with_a_reason(self):
        web = self.web(hosts=3, pages=40)
        wanted = {self.server.url(f"{name}.h2.test"): outcome for name, outcome in self.WANTED.items()}
        node = self.crawl_of([*wanted, *web.seeds], *self.reach, *web.reach)
        self.check(node, wanted)
        self.check_whole(web)
        self.assertFalse([name for name in self.server.served if "HTTP/1" in name])
        # Readers of archives know HTTP/1.1 only.
        archive = whole_archive(self.dir / "a")
        self.assertIn(b"GET / HTTP/1.1\r\n", archive)
        self.assertIn(b"HTTP/1.1 200 \r\ncontent-type: text/html\r\n\r\n" + bad_tls.PAGE, archive)
        self.assertNotIn(b"HTTP/2", archive)

    def test_http_version_2_speaks_it_without_tls_too(self):
        plain = bad_tls.PlainServer(self, bad_tls.h2(bad_tls.h2_page))
        url = f"http://plain.h2.test:{plain.port}/"
        node = self.crawl_of([url], "--http-version", "2", *plain.reach)
        self.check(node, {url: ("fetched", "none")})
        self.assertEqual(plain.served, ["plain"])

    @rows("B60")
    def test_http_version_1_1_does_not_offer_http2(self):
        url = self.server.url("fine.h2.test")
        node = self.crawl_of([url], "--http-version", "1.1", *self.reach)
        self.check(node, {url: ("fetched", "none")})
        self.assertEqual(self.server.served, ["fine.h2.test by HTTP/1"])


class Names(Judged):
    """Answers of a name server. The web server is at 127.0.0.2, which is allowed; 127.0.0.1 is not."""

    def setUp(self):
        super().setUp()
        self.web_server = misbehave.SmallServer(self, self.page, address="127.0.0.2")
        self.private = misbehave.SmallServer(self, lambda h, host, path: h.whole(b"secret"))
        self.allow = ["--allow-private", "127.0.0.2/32"]

    @staticmethod
    def page(handler, host, path):
        links = [f"<a href='/{i}'>x</a>" for i in range(5)] if path == "/" else []
        handler.whole(("<!DOCTYPE html>" + "".join(links)).encode())

    def url(self, host, path="/"):
        return self.web_server.url(host, path)

    def answer(self, name, kind, count):
        label = name.split(".")[0]
        v4 = kind == bad_dns.A
        if label == "gone":
            return {"rcode": bad_dns.NXDOMAIN, "authority": [bad_dns.soa(600, 600)]}
        if label == "servfail":
            return {"rcode": bad_dns.SERVFAIL}
        if label == "silent":
            return {"silent": True}
        if label == "rubbish":
            return {"rubbish": b"\x81\x80" + b"\xff" * 40}
        if label == "empty":
            return {"authority": [bad_dns.soa(600, 600)]}
        if label == "only-four" and not v4:
            return {"silent": True}  # the IPv6 question is never answered
        if label == "race" and not v4:
            return {"records": [bad_dns.address("::1")]}  # nobody is there: IPv4 wins
        if label == "large" and v4:
            return {"records": [bad_dns.address("127.0.0.2")] * 40, "truncate": True}
        private = {"loopback": "127.0.0.1", "metadata": "169.254.169.254", "ten": "10.1.2.3"}.get(label)
        if label in ("flip", "rebind") and v4:
            # The first answers are the web server's, the next ones are not: TTL 0 each time. A page is asked for twice:
            # for its network's share of the transfers, and to connect.
            good = 2 if label == "rebind" else 1
            return {"records": [bad_dns.address("127.0.0.2" if count < good else "127.0.0.1", 0)]}
        if label == "mapped" and not v4:
            return {"records": [bad_dns.address("::ffff:127.0.0.1")]}
        if label == "mapped":
            return {}
        return {"records": [bad_dns.address(private or "127.0.0.2")] if v4 else []}

    @rows("B54")
    def test_each_answer_ends_in_a_state_with_a_reason_and_private_ones_are_refused_at_connect(self):
        names = bad_dns.NameServer(self, self.answer)
        wanted = {self.url(f"{name}.dns.test"): ("fetched", "none") for name in ("good", "race", "large", "only-four", "flip")}
        for name in ("gone", "servfail", "silent", "rubbish", "empty"):
            wanted[self.url(f"{name}.dns.test")] = ("failed", "dns")
        for name in ("loopback", "metadata", "ten", "mapped"):
            wanted[self.private.url(f"{name}.dns.test")] = ("failed", "address_refused")
        node = self.crawl_of(wanted, *names.setting, "--dns-timeout", "300ms", *self.allow, "--allow-private", "::1/128")
        self.check(node, wanted)
        self.assertEqual(self.private.requests(), {})
        self.assertIn("large.dns.test", names.by_tcp)
        # Six pages over one answer of TTL 0: min_dns_ttl holds it.
        self.assertEqual(names.count("flip.dns.test"), 1)
        # A negative answer is kept as its SOA says: the further try asks nobody.
        self.assertEqual(names.count("gone.dns.test"), 1)
        self.assertEqual(sum(self.web_server.requests().values()), 5 * 6)

    @rows("B54")
    def test_a_name_that_turns_to_a_private_address_is_refused_there(self):
        """DNS rebinding: with no least TTL each request asks again, and the guard judges what came this time."""
        names = bad_dns.NameServer(self, self.answer)
        first = self.url("rebind.dns.test")
        node = self.crawl_of([first], *names.setting, "--min-dns-ttl", "0s", "--delay", "20ms", *self.allow)
        self.assertEqual(self.explain(node, first)["state"], "fetched")
        self.assertEqual(self.private.requests(), {})
        self.assertGreater(names.count("rebind.dns.test"), 1)

    @rows("B54")
    def test_robots_behind_a_dead_name_means_no(self):
        names = bad_dns.NameServer(self, self.answer)
        url = self.url("gone.dns.test")
        node = self.crawl_of([url], *names.setting, *self.allow, robots="yes")
        self.check(node, {url: ("excluded", "robots_dns")})

    @rows("B54")
    def test_no_more_queries_are_under_way_than_the_setting_says(self):
        lock, under_way, most = threading.Lock(), [0], [0]

        def slow(name, kind, count):
            with lock:
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            threading.Event().wait(0.02)
            with lock:
                under_way[0] -= 1
            return self.answer("good." + name, kind, count)

        names = bad_dns.NameServer(self, slow, at_once=True)
        urls = [self.url(f"host-{i}.dns.test", "/page") for i in range(60)]
        node = self.crawl_of(urls, *names.setting, "--max-dns-queries", "6", *self.allow)
        self.check(node, {url: ("fetched", "none") for url in urls})
        self.assertLessEqual(most[0], 6)
        self.assertGreater(most[0], 1)


class Robots(Judged):
    PAGE = b"<!DOCTYPE html><title>t</title>"

    def answer(self, handler, host, path):
        kind = host.split(".")[0]
        if not path.startswith("/robots.txt"):
            return handler.whole(self.PAGE)
        rules = b"User-agent: *\nDisallow: /\n"
        if kind.startswith("hops"):
            done, most = int(path[12:] or 0) if path != "/robots.txt" else 0, int(kind[4:])
            if done < most:
                return handler.whole(b"", 301, Location=f"/robots.txt-{done + 1}")
            return handler.whole(rules, 200, "text/plain")
        if kind == "reset":
            return handler.cut()
        if kind == "nul":
            return handler.whole(b"\0\0\nUser-agent: *\0\nDisallow: /x\n" + rules, 200, "text/plain")
        if kind == "gzip":
            return handler.whole(misbehave.packed(rules), 200, "text/plain", Content_Encoding="gzip")
        if kind == "slow":
            handler.server.over.wait(1.5)
            return handler.whole(rules, 200, "text/plain")
        return handler.whole(rules, 404)

    @rows("B49", "B50", "B51")
    def test_chains_of_redirects_resets_codings_and_slow_files(self):
        server = misbehave.SmallServer(self, self.answer)
        wanted = {
            "hops5": ("excluded", "robots"),  # RFC 9309, 2.3.1.2: five are followed
            "hops6": ("fetched", "none"),  # more than that: unavailable, all is allowed
            "reset": ("excluded", "robots_empty_reply"),
            "nul": ("excluded", "robots"),
            "gzip": ("excluded", "robots"),
            "slow": ("excluded", "robots"),  # the host's queue waits for it
            "none": ("fetched", "none"),
        }
        urls = {server.url(f"{kind}.test"): outcome for kind, outcome in wanted.items()}
        node = self.crawl_of(urls, *server.reach, robots="yes")
        self.check(node, urls)
        self.assertEqual({key for key in server.requests() if key.endswith(".test/")}, {"hops6.test/", "none.test/"})

    @rows("B51", "B61")
    def test_each_port_has_its_own_robots_txt(self):
        closed = misbehave.SmallServer(self, lambda h, host, path: h.whole(b"User-agent: *\nDisallow: /\n", 200, "text/plain"))
        free = misbehave.SmallServer(self, lambda h, host, path: h.whole(b"", 404) if "robots" in path else h.whole(self.PAGE))
        wanted = {closed.url("same.test"): ("excluded", "robots"), free.url("same.test"): ("fetched", "none")}
        node = self.crawl_of(wanted, *closed.reach, *free.reach, robots="yes")
        self.check(node, wanted)
        self.assertEqual(closed.requests(), {"same.test/robots.txt": 1})


class Sites(Judged):
    @rows("B55")
    def test_large_pages_are_read_whole_in_bounded_memory(self):
        bad = self.keep(misbehave.BadServer(self.dir))
        urls = [bad.url(f"/B55/{name}") for name in ("one-line", "tags", "links")]
        node = self.node("a", *urls, "--robots", "no", "--max-body-bytes", "64MiB", *ring.QUICK, *bad.reach)
        self.wait_for_rest([node])
        why = {url: "links_over_budget" if url.endswith("/links") else "none" for url in urls}
        self.check(node, {url: ("fetched", why[url]) for url in urls})
        asked = bad.requests()
        self.assertLessEqual({f"/ok/B55-{name}" for name in ("one-line", "tags", "links")}, set(asked))
        self.assertLess(ring.high_water_kib(node.pid), 700 * 1024)

    @rows("B55", "B56")
    def test_sites_without_end_are_held_by_the_page_limit_and_others_are_whole(self):
        bad = self.keep(misbehave.BadServer(self.dir))
        seeds = [bad.url(f"/B55/{name}") for name in ("calendar", "session", "path", "pages")]
        summary = self.crawl(bad, "--max-pages", "60", seeds=seeds, scope="host")
        self.assertTrue(summary["finished"], summary)
        self.assertLessEqual(summary["pages"], 60)
        pages = sum(count for path, count in bad.requests().items() if "robots" not in path)
        self.assertLessEqual(pages, 60)

    @rows("B56")
    def test_hosts_without_end_are_held_by_the_page_limit(self):
        """A wildcard in the DNS: each page links to two new hosts, and every one of them answers."""

        def answer(handler, host, path):
            if path == "/robots.txt":
                return handler.whole(b"", 404)
            links = "".join(f"<a href='http://{side}.{host}:{server.port}/'>x</a>" for side in "ab")
            return handler.whole(("<!DOCTYPE html>" + links).encode())

        server = misbehave.SmallServer(self, answer)
        summary = self.crawl(server, "--max-pages", "50", seeds=[server.url("wild.test")], scope="domain")
        self.assertTrue(summary["finished"], summary)
        self.assertEqual(summary["pages"], 50)

    @rows("B59")
    def test_a_cookie_wall_opens_when_cookies_are_kept_and_is_terminal_when_not(self):
        bad = self.keep(misbehave.BadServer(self.dir))
        for kept, seen in (("off", False), ("crawl", True)):
            bad.ask("/reset")
            node = self.node(kept, bad.url("/B59/wall"), bad.url("/B59/thousand"), "--robots", "no", "--cookies", kept,
                             *BASE, *bad.reach)  # fmt: skip
            self.wait_for_rest([node])
            self.assertEqual("/ok/B59-wall" in bad.requests(), seen, kept)
            self.assertEqual(self.explain(node, bad.url("/B59/thousand"))["state"], "fetched")

    @rows("B42")
    def test_redirects_to_hosts_of_another_peer_are_followed_once(self):
        def answer(handler, host, path):
            if path == "/robots.txt":
                return handler.whole(b"", 404)
            if path.startswith("/to/"):
                return handler.whole(b"moved", 302, Location=server.url(f"{path[4:]}.test", "/here"))
            links = "".join(f"<a href='/to/host-{i}'>x</a>" for i in range(24)) if path == "/" else ""
            return handler.whole(("<!DOCTYPE html>" + links).encode())

        server = misbehave.SmallServer(self, answer)
        summary = self.crawl(server, "--peers", 2, seeds=[server.url("start.test")], scope="any")
        self.assertTrue(summary["finished"], summary)
        here = {key: count for key, count in server.requests().items() if key.endswith("/here")}
        self.assertEqual(here, {f"host-{i}.test/here": 1 for i in range(24)})


class Contact(ring.Case):
    def test_a_crawl_of_a_public_address_needs_one(self):
        for seed in ("http://93.184.216.34/", "https://example.org/"):
            self.refused(ring.INVALID_SETTING, [seed, "needs a contact", "--contact"], "crawl", seed, "--out", self.dir / "x")
            self.refused(ring.INVALID_SETTING, ["needs a contact"], "node", seed, "--dir", self.dir / "y")
        self.refused(ring.INVALID_SETTING, ["contact", "not an http(s) URL"], "crawl", "http://a.test/", "--contact", "me")

    def test_it_stands_in_the_user_agent(self):
        seen = []

        def answer(handler, host, path):
            seen.append(handler.headers["User-Agent"])
            handler.whole(b"", 404)

        server = misbehave.SmallServer(self, answer)
        self.crawl(server, "--contact", "https://example.org/bot", seeds=[server.url("a.test")], code=ring.NOTHING_FETCHED)
        self.assertEqual(set(seen), {"orbweaver/0.1 (+https://example.org/bot)"})


class SiteHeaders(ring.Case):
    def test_they_reach_their_site_alone_and_nothing_that_is_kept(self):
        seen = {}

        def answer(handler, host, path):
            seen.setdefault(host, set()).add(handler.headers.get("Authorization"))
            if host == "mine.test" and path == "/":
                return handler.whole(b"moved", 302, Location=server.url("other.test"))
            return handler.whole(b"<!DOCTYPE html>")

        server = misbehave.SmallServer(self, answer)
        node = self.node("a", server.url("mine.test"), "--scope", "any", "--log-level", "debug", *ring.QUICK, *server.reach,
                         "--site-headers", f"http://mine.test:{server.port} Authorization: Basic c2VjcmV0")  # fmt: skip
        self.wait_for_rest([node])
        self.assertEqual(seen, {"mine.test": {"Basic c2VjcmV0"}, "other.test": {None}})
        node.signal(2)
        node.wait()
        self.assertIn(b"Authorization: [redacted]", whole_archive(self.dir / "a"))
        for path in (self.dir / "a").rglob("*"):
            if path.is_file():
                text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
                self.assertNotIn(b"c2VjcmV0", text, path)
