"""The commands for people, and what a running peer tells over HTTP."""

import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import ring
import warcs


class TwoPrograms(ring.Case):
    """The laboratory and the sample web are a program beside the crawler, which becomes it."""

    def test_the_crawler_carries_neither_sqlite_nor_the_sample_web(self):
        def needed(binary):
            told = subprocess.run(["readelf", "-dW", binary], capture_output=True, text=True, check=True, timeout=60)
            return re.findall(r"NEEDED.*\[lib(\w+)", told.stdout)

        lab = pathlib.Path(ring.BINARY).with_name("orbweaver-lab")
        self.assertNotIn("sqlite3", needed(ring.BINARY))
        self.assertIn("curl", needed(ring.BINARY))
        self.assertIn("sqlite3", needed(lab))
        self.assertIn(b"sample.test", lab.read_bytes())  # the sample web's hosts
        self.assertNotIn(b"sample.test", pathlib.Path(ring.BINARY).read_bytes())

    def test_words_output_and_exit_code_pass_through(self):
        for command in ("lab", "sampleweb"):
            self.assertIn(f"orbweaver {command} [OPTIONS]", self.ok(command, "--help"))
            self.assertIn(f"  {command}  ", self.ok("--help"))
        self.refused(ring.INVALID_SETTING, ["see orbweaver --help"], "lab", "no-such-thing")
        self.refused(ring.INVALID_SETTING, ["--pages"], "sampleweb", "--pages", "many")
        self.refused(ring.INVALID_INPUT, ["is not there"], "lab", "cache", "--trace", self.dir / "none")

    def test_a_signal_ends_the_sample_web_cleanly(self):
        for name, number in (("term", signal.SIGTERM), ("int", signal.SIGINT)):
            web = self.web(name=name, hosts=2, pages=10)
            os.kill(web.pid, number)  # the process that was started is the one that serves
            self.assertEqual(web.wait(20), 0, web.err)

    def test_without_the_second_program_the_first_names_it_and_what_to_do(self):
        alone = shutil.copy2(ring.BINARY, self.dir / "orbweaver")
        for command in ("lab", "sampleweb"):
            code, _, err = self.run_it(command, "--help", binary=alone)
            self.assertEqual(code, ring.IO, err)
            self.assertIn(str(self.dir / "orbweaver-lab"), err)
            self.assertIn("deploy/build", err)
        self.assertEqual(self.run_it("url", "http://a.test/", binary=alone)[0], 0)

    def test_through_a_link_the_second_program_is_found_beside_the_first_itself(self):
        link = self.dir / "ow"
        link.symlink_to(ring.BINARY)
        code, out, err = self.run_it("lab", "--help", binary=link)
        self.assertEqual(code, 0, err)
        self.assertIn("dedup", out)


class StatusPages(ring.Case):
    def test_metrics_healthz_and_status_of_a_running_peer(self):
        web = self.web(hosts=4, pages=60)
        node = self.node("a", *web.seeds, "--scope", "domain", *ring.QUICK, *web.reach)
        told = json.loads((node.directory / "peer.json").read_text(encoding="utf-8"))
        self.assertEqual(told["status_address"], node.status_address)
        self.wait_for_rest([node])
        base = f"http://{node.status_address}"
        self.assertEqual(ring.get(base + "/healthz"), (200, "ok\n"))
        status = ring.get_json(base + "/status")
        self.assertEqual(status["id"], node.id)
        self.assertEqual(status["counts"]["fetched"], 60)
        code, text = ring.get(base + "/metrics")
        self.assertEqual(code, 200)
        values = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                self.assertRegex(line, r"^[a-z_]+(\{[^}]*\})? [-+0-9.e]+$")
                values[line.rsplit(" ", 1)[0]] = float(line.rsplit(" ", 1)[1])
        self.assertEqual(values["orbweaver_pages_fetched_total"], 60)
        self.assertEqual(values["orbweaver_urls_queued"], 0)
        self.assertEqual(values["orbweaver_members_active"], 1)
        listed = {line.split()[0] for line in self.ok("settings", "--metrics").splitlines()}
        self.assertEqual({re.sub(r"\{.*", "", name) for name in values}, listed)
        self.assertEqual({line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}, listed)

    def test_off_means_no_port(self):
        node = self.node("a", "--status-listen", "off")
        self.assertEqual(node.status_address, "")
        self.assertEqual(len(self.status(node)["peers"]), 1)


class Tools(ring.Case):
    def test_help_everywhere(self):
        out = self.ok("--help")
        commands = re.findall(r"^  ([a-z-]+) {2,}\S", out.split("Subcommands:")[1], re.MULTILINE)
        self.assertGreaterEqual(len(commands), 13)
        for command in commands:
            self.assertIn("Usage:", self.ok(command, "--help"))
        self.assertRegex(self.ok("--version"), r"orbweaver \d+\.\d+\.\d+")

    def test_settings_are_the_flags_of_a_node(self):
        names = [line.split()[0] for line in self.ok("settings").splitlines()]
        self.assertEqual(len(names), len(set(names)))
        help_text = self.ok("node", "--help")
        for name in names:
            self.assertIn("--" + name.replace("_", "-"), help_text)
        page = self.ok("settings", "--markdown")
        for name in names:
            self.assertIn(f"`{name}`", page)

    def test_url(self):
        told = json.loads(self.ok("url", "HTTP://EXAMPLE.test:80/a/../%7Eb?x#f"))
        self.assertEqual(told["href"], "http://example.test/%7Eb?x#f")
        self.assertIn("http://example.test/~b?x", told.values())
        told = json.loads(self.ok("url", "--base", "http://a.test/x/y", "../z"))
        self.assertEqual(told["href"], "http://a.test/z")
        self.refused(ring.INVALID_INPUT, ["http://[bad/"], "url", "http://[bad/")
        self.refused(ring.INVALID_INPUT, ["URL"], "url")

    def test_links(self):
        page = self.dir / "page.html"
        page.write_text(
            '<base href="/d/"><a href="x?y=1&amp;z">1</a><!-- <a href=no> --><img src=no><area href=//b.test/>',
            encoding="utf-8",
        )
        for parser in ("stream", "tidy"):
            out = self.ok("links", page, "--base", "http://a.test/", "--parser", parser)
            self.assertIn("http://a.test/d/x?y=1&z", out)
            self.assertIn("http://b.test/", out)
            self.assertNotIn('/no"', out)
        self.refused(ring.INVALID_INPUT, ["--base"], "links", page)
        code, _, err = self.run_it("links", self.dir / "absent", "--base", "http://a.test/")
        self.assertIn(code, (ring.INVALID_INPUT, 7))
        self.assertIn("absent", err)

    def test_links_and_robots_of_a_url(self):
        web = self.web(hosts=8, pages=60, calm=False)
        url = f"http://127.0.0.1:{web.port}/"
        code, _, err = self.run_it("links", url)
        self.assertNotEqual(code, 0, "a private address was asked")
        self.assertIn("allow-private", err)
        self.ok("links", url, "--allow-private", "127.0.0.1/32")
        self.assertEqual(web.stats()["total"], 1)

    def test_robots(self):
        path = self.dir / "robots.txt"
        path.write_text(
            "User-agent: *\nDisallow: /a\nAllow: /a/b\n\nUser-agent: other\nDisallow: /\n", encoding="utf-8"
        )
        told = json.loads(self.ok("robots", "--json", path, "http://x.test/a/c", "http://x.test/a/b", "http://x.test/"))
        self.assertEqual([entry["allowed"] for entry in told], [False, True, True])
        self.assertEqual(told[0]["line"], 2)
        told = json.loads(self.ok("robots", "--json", "--agent", "other", path, "http://x.test/"))
        self.assertFalse(told[0]["allowed"])
        code, _, err = self.run_it("robots", self.dir / "absent", "http://x.test/")
        self.assertIn(code, (ring.INVALID_INPUT, 7))
        self.assertIn("absent", err)

    def test_index_lists_every_response_sorted(self):
        web = self.web(hosts=40, pages=80, calm=False)  # so many that each peer has some
        self.crawl(web, "--peers", 2)
        out = self.ok("index", self.dir / "crawl")
        lines = (self.dir / "crawl" / "index.cdxj").read_text(encoding="utf-8").splitlines()
        captures = [line for line in lines if not line.startswith("!")]
        self.assertEqual(captures, sorted(captures))
        found = {}
        for line in captures:
            key, stamp, rest = line.split(" ", 2)
            self.assertTrue(key.startswith("test,sample,"), line)
            self.assertRegex(stamp, r"^\d{14}$")
            entry = json.loads(rest)
            found[entry["url"]] = found.get(entry["url"], 0) + 1
            [path] = (self.dir / "crawl").rglob(entry["filename"].rsplit("/", 1)[-1])
            with open(path, "rb") as file:
                file.seek(int(entry["offset"]))
                self.assertEqual(file.read(2), b"\x1f\x8b", line)
        self.assertEqual(found, warcs.read_all(self.dir / "crawl"))
        self.assertIn(str(len(captures)), out)
        self.refused(ring.INVALID_INPUT, [str(self.dir / "nothing")], "index", self.dir / "nothing")

        # A peer each, made one; and in blocks.
        parts = []
        for peer in sorted((self.dir / "crawl").glob("peer-*")):
            told = json.loads(self.ok("index", peer, "--json"))
            self.assertEqual(told["damaged"] + told["left_out"], 0)
            parts.append(told["index"])
        self.assertEqual(len(parts), 2)
        merged = self.dir / "merged.cdxj"
        self.ok("index", "--merge", *parts, "--out", merged)
        self.assertEqual(merged.read_text(encoding="utf-8").splitlines(), lines)
        self.ok("index", "--zipnum", self.dir / "crawl", "--out", self.dir / "blocks.idx")
        with gzip.open(self.dir / "blocks.cdx.gz", "rt", encoding="utf-8") as blocks:
            self.assertEqual(blocks.read().splitlines(), lines)
        self.ok("index", "--cdx11", self.dir / "crawl")
        head, *rows = (self.dir / "crawl" / "index.cdx").read_text(encoding="utf-8").splitlines()
        self.assertEqual(head, " CDX N b a m s k r M S V g")
        self.assertEqual([row.split(" ")[:2] for row in rows], [line.split(" ")[:2] for line in captures])
        self.assertEqual({len(row.split(" ")) for row in rows}, {11})
        self.refused(ring.INVALID_INPUT, ["--out"], "index", "--merge", *parts)
        self.refused(ring.INVALID_INPUT, ["another form"], "index", "--merge", *parts, self.dir / "crawl" / "index.cdx",
                     "--out", merged)  # fmt: skip

    def test_ring_keys_differ(self):
        keys = {self.ok("ring-key").strip() for _ in range(5)}
        self.assertEqual(len(keys), 5)
        self.assertEqual({len(key) for key in keys}, {40})

    def test_sampleweb_is_the_same_for_the_same_seed(self):
        def paths(seed, name):
            web = self.web(name=name, seed=seed, hosts=5, pages=50, calm=False)
            return {url.replace(f":{web.port}", "") for url in web.expected()}

        self.assertEqual(paths(3, "one"), paths(3, "two"))
        self.assertNotEqual(paths(3, "three"), paths(4, "four"))


class Suites(ring.Case):
    """The outside suites, through the commands' --batch."""

    def listed(self, name, suite):
        """How many cases of a file are judged otherwise: tests/spec/differences.tsv; not those that the suite disputes."""
        folder = {"links": "html"}.get(name, name)
        rows = (ring.ROOT / "tests/spec/differences.tsv").read_text(encoding="utf-8").splitlines()
        return sum(row.startswith(f"{folder}/{suite}.json\t") for row in rows)

    def suite(self, name):
        script = ring.SUITES / "run_suites.py"
        if not script.exists():
            self.skipTest(f"there is no {script} (set ORBWEAVER_SUITES)")
        process = self.keep(
            ring.Process([sys.executable, script, name, "--cmd", f"{ring.BINARY} {name} --batch"], self.dir, name)
        )
        process.wait(180)
        counts = re.findall(r"^(\w+) +(\d+) / +(\d+)$", process.out, re.MULTILINE)
        self.assertTrue(counts, process.out + process.err)
        for suite, right, cases in counts:
            # Of the parsers that disagree among themselves the script asks only what all of them say.
            otherwise = 0 if suite in ("crawler_commons", "protego") else self.listed(name, suite)
            self.assertEqual(int(right) + otherwise, int(cases), process.out)

    def test_robots(self):
        self.suite("robots")

    def test_url(self):
        self.suite("url")

    def test_links(self):
        self.suite("links")

    def test_a_batch_survives_lines_of_rubbish(self):
        lines = b'\n{\nnull\n[]\n"x"\n{"input": 5}\n\xff\xfe\n' + b"[" * 100_000 + b"\n"
        good = {
            "url": b'{"input": "http://a.test/x", "base": null}',
            "robots": b'{"robots_b64": "", "agent": "a", "url": "http://a.test/"}',
            "links": b'{"base_url": "http://a.test/", "html_b64": "PGEgaHJlZj14Pg==", "charset": null}',
        }
        for name, line in good.items():
            done = subprocess.run(
                [ring.BINARY, name, "--batch"], input=lines + line + b"\n", capture_output=True, timeout=30, check=False
            )
            self.assertGreaterEqual(done.returncode, 0, f"{name}: {done.stderr[-500:]}")
            answers = done.stdout.decode().strip().splitlines()
            self.assertEqual(len(answers), lines.count(b"\n") + 1, f"{name}: an answer a line; {done.stderr[-300:]}")
            self.assertNotIn("error", json.loads(answers[-1]), name)
