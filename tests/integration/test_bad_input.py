"""Bad input by its user: told in a message that names the thing, with its kind's exit code, and does no harm."""

import json
import shutil
import socket

import ring


class CommandLine(ring.Case):
    """What can be judged before anything is started: no directory is made, no process left."""

    def check(self, code, words, *arguments, environment=None):
        out = self.dir / "crawl"
        said = self.refused(code, words, "crawl", "--out", out, *arguments, environment=environment, seconds=10)
        self.assertFalse((out / "peer-1").exists(), "a peer was started")
        self.assertLessEqual(len(said.strip().splitlines()), 3, said)

    def test_malformed_url(self):
        for url in (
            "http://[bad/",
            "no-scheme/x",
            "http://",
            "http://a b/",
            "http://a.test:99999/",
            "http://%zz.test/",
            "://",
        ):
            with self.subTest(url):
                self.check(ring.INVALID_INPUT, [url], url)

    def test_scheme_that_is_no_page(self):
        for url in ("ftp://a.test/", "file:///etc/passwd", "mailto:a@b.test", "javascript:alert(1)"):
            with self.subTest(url):
                self.check(ring.INVALID_INPUT, [url], url)

    def test_malformed_url_among_good_ones(self):
        self.check(ring.INVALID_INPUT, ["http://[bad/"], "http://a.test/", "http://[bad/", "http://b.test/")

    def test_no_url_at_all(self):
        self.check(ring.INVALID_INPUT, ["--seeds"])

    def seeds(self, data):
        path = self.dir / "seeds.txt"
        path.write_bytes(data)
        return path

    def test_seed_file_line_is_named(self):
        path = self.seeds(b"# a comment\n\nhttp://a.test/\r\n  http://b.test/  \nnot a url\nhttp://c.test/\n")
        self.check(ring.INVALID_INPUT, [f"{path}:5:", "not a url"], "--seeds", path)

    def test_seed_file_of_rubbish(self):
        path = self.seeds(bytes(range(256)) * 40)
        self.check(ring.INVALID_INPUT, [f"{path}:1:"], "--seeds", path)

    def test_seed_file_with_a_byte_order_mark_is_read(self):
        """Editors on some systems write one; it is no part of the first URL."""
        web = self.web(hosts=1, pages=3)
        path = self.seeds(b"\xef\xbb\xbf" + web.seeds[0].encode() + b"\r\n")
        self.assertEqual(self.crawl(web, "--seeds", path, seeds=[])["pages"], 3)

    def test_seed_file_that_is_not_there_or_empty(self):
        self.check(ring.INVALID_INPUT, [str(self.dir / "absent")], "--seeds", self.dir / "absent")
        self.check(ring.INVALID_INPUT, ["--seeds"], "--seeds", self.seeds(b"# nothing\n"))

    def test_unknown_flag_and_command(self):
        self.check(ring.INVALID_SETTING, ["--dealy"], "http://a.test/", "--dealy", "1s")
        self.refused(ring.INVALID_SETTING, ["frobnicate"], "frobnicate")

    BAD_VALUES = [
        ("delay", "5"),
        ("delay", "-1s"),
        ("delay", "1 fortnight"),
        ("delay", ""),
        ("delay", "1e400s"),
        ("scope", "planet"),
        ("max-pages", "many"),
        ("max-pages", "-1"),
        ("max-pages", "99999999999999999999"),
        ("body-bytes-max", "5"),
        ("body-bytes-max", "1XB"),
        ("partitions", "1000"),
        ("archive-level", "99"),
        ("robots", "maybe"),
        ("user-agent", "böt/1.0"),
        ("user-agent", "a\r\nX-Evil: 1"),
        ("resolve", "a:b:c"),
        ("allow-private", "127.0.0.1/99"),
        ("parser", "regex"),
        ("workers", "0"),
    ]

    def test_bad_values_by_flag(self):
        for name, value in self.BAD_VALUES:
            with self.subTest(f"{name}={value}"):
                self.check(ring.INVALID_SETTING, [name], "http://a.test/", f"--{name}={value}")

    def test_bad_values_by_environment(self):
        for name, value in self.BAD_VALUES:
            with self.subTest(f"{name}={value}"):
                variable = "ORBWEAVER_" + name.upper().replace("-", "_")
                self.check(ring.INVALID_SETTING, [variable], "http://a.test/", environment={variable: value})

    def test_unknown_variable(self):
        self.check(
            ring.INVALID_SETTING,
            ["ORBWEAVER_DELLAY", "ORBWEAVER_DELAY"],
            "http://a.test/",
            environment={"ORBWEAVER_DELLAY": "1s"},
        )

    def config(self, text):
        path = self.dir / "crawl.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def test_bad_values_by_file_name_the_line(self):
        for line, word in (
            ('delay = "abc"', "delay"),
            ("delay = 5", "delay"),
            ('dellay = "1s"', "dellay"),
            ("delay =", ""),
            ('scope = ["host"]', "scope"),
            ("max_pages = 1.5", "max_pages"),
            ('resolve = "*:80"', "resolve"),
            ("[crawl]", "crawl"),
            ('delay = "1s"\ndelay = "2s"', "delay"),
            ("\x01", ""),
        ):
            with self.subTest(line):
                path = self.config("# settings\n" + line + "\n")
                self.check(
                    ring.INVALID_SETTING,
                    [f"{path}:{3 if line.count('delay') == 2 else 2}", word],
                    "http://a.test/",
                    "--config",
                    path,
                )

    def test_settings_file_that_cannot_be_read(self):
        for path in (self.dir / "absent.toml", self.dir):
            with self.subTest(path):
                self.check(ring.IO, [str(path)], "http://a.test/", "--config", path)

    def test_flag_wins_over_environment_and_that_over_the_file(self):
        web = self.web(hosts=2, pages=12)
        path = self.config('max_pages = 3\ndelay = "0s"\n')
        pages = [
            self.crawl(web, "--config", path, out="file")["pages"],
            json.loads(
                self.ok(
                    *self.crawl_arguments(web, "--config", path, out="both"), environment={"ORBWEAVER_MAX_PAGES": "5"}
                )
            )["pages"],
            json.loads(
                self.ok(
                    *self.crawl_arguments(web, "--config", path, "--max-pages", 7, out="all"),
                    environment={"ORBWEAVER_MAX_PAGES": "5"},
                )
            )["pages"],
        ]
        self.assertEqual(pages, [3, 5, 7])

    def test_number_of_peers(self):
        for peers in ("0", "-1", "257", "many"):
            self.check(ring.INVALID_SETTING, ["--peers", peers], "http://a.test/", "--peers", peers)

    def test_a_directory_that_cannot_be_made(self):
        (self.dir / "file").write_text("", encoding="utf-8")
        for path in (self.dir / "file", self.dir / "file" / "below", "/proc/orbweaver"):
            with self.subTest(path):
                self.refused(ring.IO, [str(path)], "crawl", "http://a.test/", "--out", path)
                self.refused(ring.IO, [str(path)], "node", "--dir", path)

    def test_addresses_of_peers(self):
        for address in ("127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999", "nonsense", ""):
            with self.subTest(address):
                code, _, err = self.run_it("node", "--dir", self.dir / "p", f"--join={address}", seconds=10)
                self.assertEqual(code, ring.INVALID_SETTING, err)
                self.assertIn("join", err)
        for address in ("127.0.0.1", "nonsense", "127.0.0.1:99999"):
            with self.subTest(f"--peer {address}"):
                code, _, err = self.run_it("status", "--peer", address, seconds=10)
                self.assertIn(code, (ring.INVALID_INPUT, ring.INVALID_SETTING), err)
                self.assertIn(address, err)
        for setting in ("listen", "status-listen"):
            self.refused(
                ring.INVALID_SETTING,
                [setting.replace("-", "_"), "nonsense"],
                "node",
                "--dir",
                self.dir / "p",
                f"--{setting}",
                "nonsense",
            )

    def test_a_status_port_for_others_is_refused(self):
        self.refused(
            ring.INVALID_SETTING,
            ["status_listen", "0.0.0.0"],
            "node",
            "--dir",
            self.dir / "p",
            "--status-listen",
            "0.0.0.0:0",
        )

    @ring.only_waits
    def test_questions_to_nobody(self):
        address = f"127.0.0.1:{ring.free_port()}"
        for command in (["status"], ["stop"], ["leave"], ["seed", "http://a.test/"], ["explain", "http://a.test/"]):
            self.refused(ring.UNREACHABLE, [address], *command, "--peer", address)


class InUse(ring.Case):
    def held_port(self):
        held = socket.socket()
        self.addCleanup(held.close)
        held.bind(("127.0.0.1", 0))
        held.listen()
        return held.getsockname()[1]

    def test_port_in_use(self):
        port = self.held_port()
        for flag in ("--listen", "--status-listen"):
            with self.subTest(flag):
                self.refused(
                    ring.IN_USE,
                    [f"127.0.0.1:{port}", "in use"],
                    "node",
                    "--dir",
                    self.dir / "p",
                    flag,
                    f"127.0.0.1:{port}",
                )

    def test_port_of_another_peer(self):
        node = self.node("a")
        for address in (node.address, node.status_address):
            self.refused(ring.IN_USE, [address], "node", "--dir", self.dir / "b", "--listen", address)
            self.refused(ring.IN_USE, [address], "node", "--dir", self.dir / "b", "--status-listen", address)
        self.assertEqual(len(self.status(node)["peers"]), 1)

    def test_port_of_the_sample_web(self):
        port = self.held_port()
        self.refused(ring.IN_USE, [str(port)], "sampleweb", "--listen", f"127.0.0.1:{port}")

    def test_a_peers_old_port_taken_meanwhile_is_no_error(self):
        """With --listen …:0 a peer comes back where it was if it may, else elsewhere."""
        node = self.node("a")
        node.kill()
        host, port = node.address.rsplit(":", 1)
        held = socket.socket()
        self.addCleanup(held.close)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((host, int(port)))
        held.listen()
        again = self.node("a")
        self.assertEqual(again.id, node.id)
        self.assertNotEqual(again.address, node.address)

    def test_directory_of_a_running_peer(self):
        node = self.node("a")
        said = self.refused(ring.IN_USE, [str(node.directory), str(node.pid)], "node", "--dir", node.directory)
        self.assertNotIn("RocksDB", said)
        self.assertEqual(node.file()["pid"], node.pid, "the peer's own file was overwritten")
        self.assertEqual(self.status(node)["peers"][0]["id"], node.id)

    def test_directory_of_a_running_crawl(self):
        web = self.web(hosts=4, pages=120, latency="20ms")
        crawl = self.start_crawl(web)
        ring.wait_until("it crawls", lambda: web.total() > 5)
        self.refused(ring.IN_USE, [str(self.dir / "crawl")], *self.crawl_arguments(web))
        self.assertEqual(crawl.wait(), 0, crawl.err)
        self.check_whole(web)


class AnotherRing(ring.Case):
    def test_ring_wide_value_that_differs_is_refused_by_name(self):
        first = self.node("a", "--delay", "300ms", "--max-depth", 5)
        for flag, value in (
            ("--delay", "7s"),
            ("--max-depth", "6"),
            ("--scope", "any"),
            ("--partitions", "512"),
            ("--user-agent", "other/1.0"),
        ):
            with self.subTest(flag):
                name = flag[2:].replace("-", "_")
                self.refused(
                    ring.MISMATCH,
                    [name, value],
                    "node",
                    "--dir",
                    self.dir / ("p" + flag),
                    "--join",
                    first.address,
                    flag,
                    value,
                )
        self.assertEqual(len(self.own_status(first)["members"]), 1, "a peer that was refused is a member")
        second = self.node("b", "--join", first.address, "--delay", "300ms")
        self.wait_for_members([first, second], 2)

    def test_value_that_differs_from_the_directorys_is_refused_by_name(self):
        node = self.node("a", "--delay", "300ms")
        node.kill()
        self.refused(ring.MISMATCH, ["delay", "300ms", "9s"], "node", "--dir", node.directory, "--delay", "9s")
        self.node("a", "--delay", "300ms").kill()
        self.node("a")

    def test_a_crawl_with_other_values_than_before_is_refused_by_name(self):
        web = self.web(hosts=2, pages=10)
        self.crawl(web, "--max-depth", 9)
        self.refused(ring.MISMATCH, ["max_depth", "9", "8"], *self.crawl_arguments(web, "--max-depth", 8), seconds=30)
        self.assertTrue(self.crawl(web, "--max-depth", 9)["finished"])

    def test_directory_of_another_ring_is_refused_by_name(self):
        first, second = self.node("a"), self.node("b")
        ring_a, ring_b = first.file()["ring"], second.file()["ring"]
        self.assertNotEqual(ring_a, ring_b)
        second.kill()
        self.refused(
            ring.MISMATCH, [ring_a, ring_b], "node", "--dir", second.directory, "--join", first.address, seconds=20
        )
        self.assertEqual(len(self.own_status(first)["members"]), 1)
        self.assertEqual(self.node("b").file()["ring"], ring_b)

    def test_copied_directory_is_refused(self):
        """Two peers of one identity would each take what is meant for the other."""
        first = self.node("a")
        second = self.node("b", "--join", first.address)
        self.wait_for_members([first, second], 2)
        first.kill()
        shutil.copytree(first.directory, self.dir / "copy")
        first = self.node("a")
        self.wait_for_members([first, second], 2)
        self.refused(
            ring.MISMATCH, ["identity"], "node", "--dir", self.dir / "copy", "--join", first.address, seconds=20
        )

    def test_directory_of_something_else(self):
        """Files that the peer did not make are left alone; it starts beside them or says what is in the way."""
        place = self.dir / "other"
        (place / "store").mkdir(parents=True)
        (place / "store" / "CURRENT").write_text("not a manifest\n", encoding="utf-8")
        code, _, err = self.run_it("node", "--dir", place, seconds=20)
        self.assertIn(code, (ring.IO, ring.UNSUPPORTED), err)
        self.assertIn(str(place), err)
        self.assertEqual((place / "store" / "CURRENT").read_text(encoding="utf-8"), "not a manifest\n")

    def test_crawl_plan_that_cannot_be_read(self):
        web = self.web(hosts=1, pages=3)
        self.crawl(web)
        (self.dir / "crawl" / "crawl.json").write_text("{", encoding="utf-8")
        self.refused(ring.IO, ["crawl.json"], *self.crawl_arguments(web))

    @ring.only_waits
    def test_join_of_nobody_gives_up_with_a_message(self):
        address = f"127.0.0.1:{ring.free_port()}"
        self.refused(ring.UNREACHABLE, [address], "node", "--dir", self.dir / "p", "--join", address, seconds=90)

    @ring.only_waits
    def test_join_of_something_that_is_no_peer_gives_up_with_a_message(self):
        web = self.web(hosts=1, pages=1)
        address = f"127.0.0.1:{web.port}"
        self.refused(ring.UNREACHABLE, [address], "node", "--dir", self.dir / "p", "--join", address, seconds=90)

    def test_any_member_that_answers_is_enough(self):
        first = self.node("a")
        second = self.node("b", "--join", f"127.0.0.1:{ring.free_port()}", "--join", first.address)
        self.wait_for_members([first, second], 2)
