"""What counts as a URL and as a link: canonical rules, page requisites, commands for other formats; judged from the
server's side."""

import http.server
import json
import threading

import ring
import warcs

HTML = {"Content-Type": "text/html; charset=utf-8"}
CSS = {"Content-Type": "text/css"}


class Site:
    """A server of named hosts on a port of its own: {"host/path": (status, headers, body)}. Remembers what was asked."""

    def __init__(self, answers):
        self.answers = answers
        self.asked = []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                key = self.headers["Host"].split(":")[0] + self.path
                if not self.path.endswith("/robots.txt"):
                    site.asked.append(key)
                status, headers, body = site.answers.get(key, (404, HTML, "nothing here"))
                data = body.format(port=site.port).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value.format(port=site.port))
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.reach = ["--resolve", f"*:{self.port}:127.0.0.1", "--allow-private", "127.0.0.0/8"]
        self.seeds = []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, key):
        host, path = key.split("/", 1)
        return f"http://{host}:{self.port}/{path}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Links(ring.Case):
    def site(self, seeds, answers):
        site = Site(answers)
        self.addCleanup(site.close)
        site.seeds = [site.url(seed) for seed in seeds]
        return site

    def check_crawl(self, site, expected, *more):
        summary = self.crawl(site, *more, scope="host")
        self.assertTrue(summary["finished"], summary)
        self.assertEqual(sorted(site.asked), sorted(expected))
        return summary

    def archived(self, site):
        whole = warcs.read_all(self.dir / "crawl")
        return sorted(url.replace(f":{site.port}", "")[len("http://"):] for url in whole if "robots.txt" not in url)


class Requisites(Links):
    PAGES = {
        "a.test/": (
            200,
            {**HTML, "Link": "<http://cdn.test:{port}/head.css>; rel=stylesheet"},
            '<title>t</title><link rel=stylesheet href="http://cdn.test:{port}/s.css"><img src=/i.png alt="">'
            '<img srcset="http://cdn.test:{port}/wide.png 2x" alt=""><script src="http://cdn.test:{port}/j.js"></script>'
            '<img src="http://cdn.test:{port}/moved.png" alt=""><img src="http://cdn.test:{port}/page" alt="">'
            '<a href="/next">x</a><a href="http://other.test:{port}/">x</a>',
        ),
        "a.test/next": (200, HTML, "<body style=\"background:url('/b.png')\">"),
        "cdn.test/s.css": (200, CSS, '@import "deep/more.css"; a{{background:url(bg.png)}}'),
        "cdn.test/deep/more.css": (200, CSS, "a{{background:url('deep.png')}}"),
        "cdn.test/moved.png": (302, {"Location": "http://cdn2.test:{port}/here.png"}, ""),
        "cdn.test/page": (200, HTML, '<img src="http://third.test:{port}/x.png" alt=""><a href="/y">x</a>'),
    }
    ALL = [
        "a.test/", "a.test/next", "a.test/i.png", "a.test/b.png", "cdn.test/s.css", "cdn.test/head.css",
        "cdn.test/deep/more.css", "cdn.test/deep/deep.png", "cdn.test/bg.png", "cdn.test/wide.png", "cdn.test/j.js",
        "cdn.test/moved.png", "cdn2.test/here.png", "cdn.test/page",
    ]  # fmt: skip

    def test_they_come_with_their_page_from_any_host_and_no_further(self):
        site = self.site(["a.test/"], self.PAGES)
        self.check_crawl(site, self.ALL, "--peers", 2, "--page-requisites")
        self.assertEqual(self.archived(site), sorted(self.ALL))

    def test_they_come_at_the_pages_depth(self):
        site = self.site(["a.test/"], self.PAGES)
        self.check_crawl(site, self.ALL, "--page-requisites", "--max-depth", 1)

    def test_tidys_tree_finds_them_too(self):
        site = self.site(["a.test/"], self.PAGES)
        self.check_crawl(site, self.ALL, "--page-requisites", "--parser", "tidy")

    def test_without_the_setting_only_pages_are_fetched(self):
        site = self.site(["a.test/"], self.PAGES)
        self.check_crawl(site, ["a.test/", "a.test/next"])

    def test_a_style_that_names_itself_for_ever_ends(self):
        class Endless(dict):
            def get(self, key, default=None):
                if key.endswith("robots.txt"):
                    return default
                if key.startswith("cdn.test/"):
                    return (200, CSS, f'@import "/{len(key)}{key[9:13]}x{"y" * (len(key) - 8)}.css";')
                return (200, HTML, '<link rel=stylesheet href="http://cdn.test:{port}/s.css">')

        site = self.site(["a.test/"], Endless())
        summary = self.crawl(site, "--page-requisites", "--max-redirects", 5, scope="host")
        self.assertTrue(summary["finished"], summary)
        self.assertEqual(len(site.asked), 6)  # the page, its style, and four more steps


class Canonical(Links):
    RULES = ["--trailing-slash", "drop", "--join-www", "--strip-sessions", "--strip-tracking", "--strip-index"]
    PAGES = {
        "site.test/": (301, {"Location": "http://www.site.test:{port}/"}, ""),
        "www.site.test/": (200, HTML, '<a href="/dir/index.html?utm_source=a">x</a><a href="/dir/;jsessionid=1">x</a>'),
        "site.test/dir": (301, {"Location": "http://site.test:{port}/dir/"}, ""),
        "site.test/dir/": (301, {"Location": "http://www.site.test:{port}/dir/"}, ""),
        "www.site.test/dir/": (200, HTML, '<a href="leaf?fbclid=1">x</a><a href="loop">x</a>'),
        "site.test/dir/leaf": (200, HTML, "leaf"),
        "site.test/dir/loop": (302, {"Location": "http://www.site.test:{port}/dir/loop"}, ""),
        "www.site.test/dir/loop": (302, {"Location": "http://site.test:{port}/dir/loop"}, ""),
    }

    def test_a_redirect_within_the_canonical_form_loses_no_page(self):
        site = self.site(["www.site.test/index.php"], self.PAGES)
        for peers in (1, 2):
            site.asked.clear()
            summary = self.crawl(site, *self.RULES, "--peers", peers, "--max-redirects", 4, out=f"crawl-{peers}",
                                 scope="host")
            self.assertTrue(summary["finished"], summary)
            loops = [key for key in site.asked if key.endswith("loop")]
            others = [key for key in site.asked if not key.endswith("loop")]
            self.assertEqual(
                sorted(others),
                sorted([
                    "site.test/", "www.site.test/", "site.test/dir", "site.test/dir/", "www.site.test/dir/",
                    "site.test/dir/leaf",
                ]),
            )  # fmt: skip
            self.assertEqual(len(loops), 5)
            self.assertEqual(summary["pages"], 3)  # the loop has no end: excluded, with that for a reason

    def test_a_host_that_was_asked_by_its_other_name_changes_hands(self):
        """A leave hands over what a canonical redirect left behind, the robots.txt of the other name too."""
        site = self.site(["www.site.test/"], self.PAGES)
        quick = [*self.RULES, "--replicas", 1, "--max-redirects", 4, *ring.QUICK, *site.reach]
        one = self.node("one", *quick, "--scope", "host", site.seeds[0])
        ring.wait_until("the page is fetched", lambda: "site.test/dir/leaf" in site.asked)
        self.wait_for_rest([one])
        two = self.node("two", "--join", one.address, *site.reach)
        self.wait_for_members([one, two], 2)
        self.ok("leave", "--peer", one.address)
        self.assertEqual(one.wait(), 0)
        told = self.explain(two, site.url("www.site.test/dir/leaf"))
        self.assertEqual(told["state"], "fetched")

    def test_explain_and_url_show_the_rings_form_and_its_rules(self):
        node = self.node("one", "--join-www", "--strip-tracking", "--listen", "127.0.0.1:0")
        asked = "http://www.site.test/?utm_source=x#y"
        told = self.explain(node, asked)
        self.assertEqual(told["url"], "http://site.test/")
        self.assertEqual(told["canonical_rules"], ["fragment", "strip_tracking", "join_www"])
        report = json.loads(self.ok("url", asked, "--peer", node.address))
        self.assertEqual(report["href"], asked)
        self.assertEqual(report["canonical"], "http://site.test/")
        self.assertEqual(report["surt"], "test,site)/")
        self.assertEqual(report["canonical_rules"], told["canonical_rules"])
        self.assertEqual(report["owner"], told["owner"])
        self.assertEqual(report["partition"], told["partition"])
        alone = json.loads(self.ok("url", asked, "--join-www"))
        self.assertEqual(alone["canonical"], "http://site.test/?utm_source=x")

    def test_a_peer_with_other_rules_is_refused(self):
        node = self.node("one", "--strip-tracking")
        self.refused(ring.MISMATCH, ["strip_tracking"], "node", "--dir", self.dir / "two", "--join", node.address,
                     "--strip-tracking", "no")


class TextCommands(Links):
    NOTE = {"Content-Type": "application/x-note"}

    def crawl_notes(self, command, *more, out="crawl"):
        site = self.site(["a.test/"], {
            "a.test/": (200, HTML, '<a href="/note">x</a>'),
            "a.test/note": (200, self.NOTE, "HTTP://A.TEST:{port}/FOUND and more"),
        })  # fmt: skip
        summary = self.crawl(site, "--text-commands", f"application/x-note={command}", *more, scope="host", out=out)
        self.assertTrue(summary["finished"], summary)
        return site, summary

    def test_urls_of_a_commands_text_are_links_and_its_text_is_kept(self):
        site, _ = self.crawl_notes("tr A-Z a-z", "--text")
        self.assertEqual(sorted(site.asked), ["a.test/", "a.test/found", "a.test/note"])
        lines = [json.loads(line) for path in (self.dir / "crawl").rglob("*.jsonl") for line in path.open()]
        self.assertIn(f"http://a.test:{site.port}/found and more", [line["text"] for line in lines])

    def test_a_command_that_hangs_or_fails_costs_its_time_and_no_page(self):
        for at, command in enumerate(("sleep 600", "false", "/nonexistent/command")):
            with self.subTest(command):
                site, summary = self.crawl_notes(command, "--text-command-timeout", "100ms", out=f"crawl-{at}")
                self.assertEqual(sorted(site.asked), ["a.test/", "a.test/note"])
                self.assertEqual(summary["pages"], 2)
