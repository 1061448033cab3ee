"""Other users of this machine, and what a terminal, a mail server or a text command could be made to do: they get no
hold of a ring, its key, its data or its secrets."""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import threading

import misbehave
import ring

STRANGER = 65534  # nobody
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("ORBWEAVER_")}


def loose(root):
    """Paths below a directory, and itself, that others than the owner may use: {path: mode}."""
    found = {}
    for path in [root, *sorted(root.rglob("*"))]:
        mode = stat.S_IMODE(path.lstat().st_mode)
        if mode & 0o077 and not path.is_symlink():
            found[str(path.relative_to(root))] = oct(mode)
    return found


def command_line(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", errors="replace").split("\0")[:-1]


class LocalCase(ring.Case):
    def setUp(self):
        super().setUp()
        # A directory that the stranger may enter, as those of a shared machine are.
        self.dir.chmod(0o755)

    def needs_root(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to be another user")

    def as_stranger(self, *arguments):
        self.needs_root()
        binary = self.dir / "orbweaver"
        if not binary.exists():
            shutil.copy2(ring.BINARY, binary)
        return subprocess.run(
            ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", binary, *map(str, arguments)],
            capture_output=True,
            text=True,
            env=CLEAN,
            timeout=ring.PATIENCE,
            check=False,
            cwd="/",
        )

    def endless(self, *more, out="crawl", environment=None):
        """A crawl that stays: its peers' files."""
        web = self.web(hosts=4, pages=2000, latency="100ms")
        arguments = self.crawl_arguments(web, *more, out=out)
        crawl = self.keep(ring.Process([ring.BINARY, *arguments], self.dir, "crawling", environment))
        ring.wait_until("a page was fetched", lambda: web.total() > 5 or not crawl.running())
        self.assertTrue(crawl.running(), crawl.err)
        return web, crawl


class RingsOfOneMachine(LocalCase):
    @ring.about(4)
    def test_a_crawl_has_a_key_and_its_commands_find_it(self):
        web, crawl = self.endless("--peers", "2")
        out = self.dir / "crawl"
        ring.wait_until("two peers are up", lambda: len(self.peer_files()) == 2)
        self.assertEqual(stat.S_IMODE((out / "ring.key").stat().st_mode), 0o600)
        address = self.peer_files()["peer-1"]["address"]
        for command in (["status"], ["seed", web.url(1)], ["stop"], ["explain", web.url(0)], ["traps"]):
            self.refused(ring.UNREACHABLE, [address, "key"], *command, "--peer", address)
            if os.geteuid() == 0:
                for where in (["--peer", address], ["--dir", out], ["--peer", address, "--ring-key-file", out / "ring.key"]):
                    got = self.as_stranger(*command, *where)
                    self.assertNotEqual(got.returncode, 0, f"{command} {where}: {got.stdout}")
        self.assertEqual(len(json.loads(self.ok("status", "--json", "--dir", out))["peers"]), 2)
        self.assertEqual(len(json.loads(self.ok("status", "--json", "--dir", out / "peer-2"))["peers"]), 2)
        # An address that a peer in --dir has is asked with that peer's key.
        self.ok("status", "--dir", out, "--peer", address)
        self.ok("explain", "--dir", out, web.url(0))
        self.ok("traps", "--dir", out)
        self.ok("seed", "--dir", out, web.url(1))
        self.ok("recrawl", "--dir", out, "--older-than", "1h")
        self.ok("url", "--dir", out, web.url(1))
        self.ok("leave", "--dir", out / "peer-2")
        self.ok("stop", "--dir", out)
        self.assertEqual(crawl.wait(), 0, crawl.err)
        before = (out / "ring.key").read_bytes()
        again = self.start_crawl(web, "--peers", "2", name="again")
        ring.wait_until("it goes on", lambda: len(self.peer_files()) == 2 or not again.running())
        self.ok("stop", "--dir", out)
        self.assertEqual(again.wait(), 0, again.err)
        self.assertEqual((out / "ring.key").read_bytes(), before)

    def test_the_directory_of_a_peer_with_a_key_is_enough(self):
        key = self.dir / "ring.key"
        self.ok("ring-key", key)
        for path in (key, "ring.key"):  # the name is as its peer was given it: from another directory too
            node = self.node(f"peer-{path == key}", key_file=path)
            told = json.loads(subprocess.run(
                [ring.BINARY, "status", "--json", "--dir", str(node.directory)],
                capture_output=True, check=True, cwd="/", env=CLEAN, timeout=60,
            ).stdout)
            self.assertEqual(told["peers"][0]["id"], node.id)

    def test_a_peer_without_a_key_says_what_that_means(self):
        node = self.node("open")
        self.assertIn("ring-key", node.err)
        self.assertIn("no ring key", node.log())
        key = self.dir / "key"
        self.ok("ring-key", key)
        self.assertNotIn("ring-key", self.node("keyed", key_file=key).err)


class Keys(LocalCase):
    def test_ring_key_makes_a_file_for_its_owner_alone(self):
        path = self.dir / "key"
        said = self.ok("ring-key", path)
        key = path.read_text(encoding="utf-8").strip()
        self.assertEqual(len(key), 40)
        self.assertNotIn(key, said)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.refused(ring.INVALID_INPUT, [str(path)], "ring-key", path)
        self.assertEqual(path.read_text(encoding="utf-8").strip(), key, "a key that is there stays")
        victim = self.dir / "victim"
        link = self.dir / "link"
        link.symlink_to(victim)
        self.refused(ring.INVALID_INPUT, [str(link)], "ring-key", link)
        self.assertFalse(victim.exists())
        self.assertEqual(len(self.ok("ring-key").strip()), 40)

    def test_a_key_that_others_can_read_is_refused_with_the_fix(self):
        path = self.dir / "key"
        self.ok("ring-key", path)
        for mode in (0o640, 0o604, 0o660, 0o622):
            path.chmod(mode)
            fix = f"chmod 600 {path}"
            self.refused(ring.INVALID_SETTING, [fix], "node", "--dir", self.dir / "p", "--ring-key-file", path)
            self.refused(ring.INVALID_SETTING, [fix], "status", "--peer", "127.0.0.1:1", "--ring-key-file", path)
            self.refused(ring.INVALID_SETTING, [fix], "crawl", "http://127.0.0.1:9/", "--config", self.config(path))
        path.chmod(0o400)
        self.node("p", key_file=path)

    def config(self, key):
        path = self.dir / "orbweaver.toml"
        path.write_text(f'ring_key_file = "{key}"\nallow_private = ["127.0.0.0/8"]\n', encoding="utf-8")
        return path


class Data(LocalCase):
    @ring.about(4)
    def test_what_a_crawl_writes_is_its_owners(self):
        web = self.web(hosts=3, pages=40)
        self.crawl(web, "--peers", "2", "--text", "yes", "--record-links", "yes")
        self.assertEqual(loose(self.dir / "crawl"), {})
        self.assertTrue(list((self.dir / "crawl").rglob("*.warc.gz")))
        # What an earlier release left open is closed.
        for peer in (self.dir / "crawl").glob("peer-*"):
            for name in ("archive", "store", "log", "text"):
                if (peer / name).exists():  # a peer that was given no host has no archive
                    (peer / name).chmod(0o755)
        self.crawl(web, "--peers", "2", "--text", "yes")
        self.assertEqual(loose(self.dir / "crawl"), {})

    def test_data_access_widens_it_but_not_the_key_nor_the_token(self):
        web = self.web(hosts=3, pages=40)
        self.crawl(web, "--data-access", "group", out="group")
        self.crawl(web, "--data-access", "all", out="all")
        for name, directory, file in (("group", 0o750, 0o640), ("all", 0o755, 0o644)):
            out = self.dir / name
            owners = [out / "ring.key", out / "lock", out / "peer-1" / "lock", out / "peer-1" / "control-token"]
            for path in owners:
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)
            for path in [out, *out.rglob("*")]:
                if path not in owners:
                    wanted = directory if path.is_dir() else file
                    self.assertEqual(oct(stat.S_IMODE(path.stat().st_mode)), oct(wanted), path)

    def test_links_that_another_user_laid_lead_nowhere(self):
        victims = self.dir / "victims"
        victims.mkdir()
        web = self.web(hosts=2, pages=10)
        out = self.dir / "crawl"
        peer = out / "peer-1"
        peer.mkdir(parents=True)
        laid = []
        for place, names in ((out, ["crawl.json", "seeds.txt", "crawl.json.new", "seeds.txt.new"]),
                             (peer, ["peer.json", "ended.json", "peer.json.new", "ended.json.new"])):
            for name in names:
                victim = victims / f"{place.name}-{name}"
                victim.write_text("precious\n" if name != "crawl.json" else '{"peers":1}\n', encoding="utf-8")
                laid.append((victim, victim.read_text(encoding="utf-8")))
                (place / name).symlink_to(victim)
        self.run_it(*self.crawl_arguments(web))
        for victim, text in laid:
            self.assertEqual(victim.read_text(encoding="utf-8"), text, victim)
        for place in (self.dir / "locked", self.dir / "keyed"):
            place.mkdir()
        precious = victims / "lock"
        precious.write_text("precious\n", encoding="utf-8")
        (self.dir / "locked" / "lock").symlink_to(precious)
        self.refused(ring.IO, ["lock"], *self.crawl_arguments(web, out="locked"))
        self.refused(ring.IO, ["lock"], "node", "--dir", self.dir / "locked")
        self.assertEqual(precious.read_text(encoding="utf-8"), "precious\n")

    def test_a_directory_of_another_user_is_refused(self):
        self.needs_root()
        web = self.web(hosts=2, pages=10)
        place = self.dir / "theirs"
        place.mkdir()
        os.chown(place, STRANGER, STRANGER)
        self.refused(ring.IO, [str(place), "another user"], *self.crawl_arguments(web, out="theirs"))
        self.refused(ring.IO, [str(place), "another user"], "node", "--dir", place)
        self.assertEqual(list(place.iterdir()), [])
        # Nor a new one below it, nor one's own by a link that the stranger laid; root for that user neither.
        shared = self.dir / "shared"
        mine = self.dir / "mine"
        mine.mkdir()
        shared.mkdir()
        shared.chmod(0o1777)
        (shared / "laid").symlink_to(mine)
        os.lchown(shared / "laid", STRANGER, STRANGER)
        for path, left in ((place / "new", place), (shared / "laid", mine), (shared / "laid" / "new", mine)):
            self.refused(ring.IO, [str(path), "another user"], *self.crawl_arguments(web, out=path))
            self.refused(ring.IO, [str(path), "another user"], "node", "--dir", path)
            self.refused(ring.IO, [str(path), "another user"], "node", "--dir", path, "--user", "daemon")
            self.assertEqual(list(left.iterdir()), [])


    def test_a_reader_of_the_data_does_not_keep_its_owner_out(self):
        self.needs_root()
        web, crawl = self.endless("--data-access", "all")
        peer = self.dir / "crawl" / "peer-1"
        got = self.as_stranger("export", "urls", "--dir", self.dir / "crawl")
        self.assertEqual(got.returncode, ring.IN_USE, got.stderr)
        self.assertIn(f"process {self.peer_files()['peer-1']['pid']};", got.stderr)
        self.ok("stop", "--dir", self.dir / "crawl")
        crawl.wait()
        for place in (self.dir / "crawl", peer):
            command = ["setpriv", f"--reuid={STRANGER}", "--clear-groups", "flock", "--nonblock", place / "lock", "true"]
            got = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            self.assertIn("Permission denied", got.stderr)


class Outputs(LocalCase):
    def test_an_answer_that_could_not_be_written_is_a_failure(self):
        web = self.web(hosts=2, pages=10)
        commands = [self.crawl_arguments(web), ["status", "--dir", self.dir / "crawl"],
                    ["explain", "--dir", self.dir / "crawl", web.url(0)], ["url", web.url(0)], ["--version"], ["--help"],
                    ["crawl", "--help"], ["export", "urls", "--dir", self.dir / "crawl"]]
        for arguments in commands:
            with open("/dev/full", "wb") as full:
                got = subprocess.run([ring.BINARY, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, env=CLEAN,
                                     timeout=ring.PATIENCE, check=False, cwd=self.dir, text=True)
            self.assertEqual(got.returncode, ring.IO, f"{arguments}: {got.stderr}")
            self.assertEqual(got.stderr.count("standard output could not be written"), 1, got.stderr)


class Arguments(LocalCase):
    def test_no_process_shows_a_secret_in_its_arguments(self):
        secret = "hunter2-7f3a"
        proxy = "http://me:pass-91c@127.0.0.1:9"
        flags = ["--site-headers", f"private.example Authorization: Bearer {secret}", f"--proxy={proxy}"]
        # By flags, and by the environment: the peers have it either way.
        for out, more, environment in (
            ("flags", flags, None),
            ("environment", [], {"ORBWEAVER_PROXY": proxy, "ORBWEAVER_SITE_HEADERS": flags[1]}),
        ):
            more = [*more, "--contact", "https://example.org/bot", "--retry-delay", "10m"]
            arguments = self.crawl_arguments(self.web(name=f"web-{out}"), *more, out=out, quick=False)
            crawl = self.keep(ring.Process([ring.BINARY, *arguments], self.dir, out, environment))
            ring.wait_until("a peer is up", lambda o=out, c=crawl: self.peer_files(o) or not c.running())
            self.assertTrue(crawl.running(), crawl.err)
            for pid in (crawl.pid, *(told["pid"] for told in self.peer_files(out).values())):
                told = " ".join(command_line(pid))
                self.assertNotIn("hunter2", told)
                self.assertNotIn("pass-91c", told)
            self.ok("stop", "--dir", self.dir / out)
            crawl.wait()

    def test_a_peers_own_flags_are_hidden_too(self):
        header = ["--site-headers", "private.example X-Key: hunter2"]
        node = self.node("a", *header, "--proxy=http://u:pw77@127.0.0.1:9", "--contact", "https://example.org/bot")
        told = command_line(node.pid)
        self.assertNotIn("hunter2", " ".join(told))
        self.assertNotIn("pw77", " ".join(told))
        self.assertIn("--site-headers", told)


class Root(LocalCase):
    def setUp(self):
        super().setUp()
        self.needs_root()

    def owners(self, root):
        return {path.lstat().st_uid for path in [root, *root.rglob("*")]}

    def uid(self, pid):
        return pathlib.Path(f"/proc/{pid}").stat().st_uid

    def test_root_is_told_once_how_to_be_somebody_else(self):
        web = self.web(hosts=2, pages=10)
        code, _, err = self.run_it(*self.crawl_arguments(web, "--peers", "2"))
        self.assertEqual(code, 0, err)
        self.assertEqual(err.count("--user NAME"), 1, err)
        self.assertEqual(self.node("a").err.count("--user NAME"), 1)
        code, _, err = self.run_it(*self.crawl_arguments(web, "--user", "root", out="meant"))
        self.assertEqual((code, err), (0, ""))

    def test_a_crawl_becomes_the_user(self):
        web, crawl = self.endless("--user", "nobody", "--peers", "2", out="made/by/nobody")
        out = self.dir / "made" / "by" / "nobody"
        pids = [crawl.pid, *(told["pid"] for told in self.peer_files("made/by/nobody").values())]
        for pid in pids:
            status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
            for line in ("Uid", "Gid"):
                self.assertEqual(set(re.search(rf"{line}:(.*)", status)[1].split()), {str(STRANGER)})
            self.assertEqual(set(re.search(r"Groups:(.*)", status)[1].split()) - {str(STRANGER)}, set())
            self.assertEqual(int(re.search(r"CapEff:\s*(\S+)", status)[1], 16), 0)
        self.assertEqual(self.owners(self.dir / "made"), {STRANGER})
        self.ok("stop", "--dir", out)
        self.assertEqual(crawl.wait(), 0, crawl.err)
        self.assertNotIn("--user", crawl.err)
        # Root, on what is that user's from now on.
        said = self.refused(ring.IO, ["another user", "--user nobody"], *self.crawl_arguments(web, out=out))
        self.assertIn(str(out), said)

    def test_a_peer_becomes_the_user_and_has_the_key_that_only_root_reads(self):
        key = self.dir / "ring.key"
        self.ok("ring-key", key)
        node = self.node("a", "--user", "nobody", key_file=key)
        self.assertEqual(self.uid(node.pid), STRANGER)
        self.assertEqual(self.owners(node.directory), {STRANGER})
        self.ok("status", "--dir", node.directory)
        self.assertNotEqual(self.as_stranger("status", "--dir", node.directory).returncode, 0)

    def test_who_asks_strangers_by_https_is_the_user_by_then(self):
        askers = []
        mute = socket.socket()
        self.addCleanup(mute.close)
        mute.bind(("127.0.0.1", 0))
        mute.listen(16)
        port = mute.getsockname()[1]

        def serve():
            kept = []
            with contextlib.suppress(OSError):
                while True:
                    one, (_, theirs) = mute.accept()
                    kept.append(one)  # and not a word
                    for line in pathlib.Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
                        fields = line.split()
                        if fields[1].endswith(f":{theirs:04X}") and fields[2].endswith(f":{port:04X}"):
                            askers.append(int(fields[7]))

        threading.Thread(target=serve, daemon=True).start()
        seed = f"localhost:{port}"
        code, _, err = self.run_it("crawl", seed, "--allow-private", "127.0.0.0/8", "--out", self.dir / "made", "--user", "nobody",
                                   "--robots-timeout", "1s", "--fetch-timeout", "2s", "--max-retries", "0", "--quiet")
        self.assertNotEqual(code, 0)
        self.assertLess(err.index(f"asking '{seed}' by https first"), err.index(f"'{seed}' does not answer by https"), err)
        self.assertGreaterEqual(len(askers), 2)
        self.assertEqual(set(askers), {STRANGER})

    def test_who_cannot_be_anybody_else_is_told(self):
        self.refused(ring.INVALID_SETTING, ["no-such-user", "adduser"], "node", "--dir", self.dir / "p", "--user", "no-such-user")
        got = self.as_stranger("node", "--dir", "/tmp/never-made", "--user", "root")
        self.assertEqual(got.returncode, ring.INVALID_SETTING, got.stderr)
        self.assertIn("only root", got.stderr)
        # Out of its reach: told before anything is made, with what helps.
        closed = self.dir / "closed"
        closed.mkdir(mode=0o700)
        arguments = ["http://127.0.0.1:9/", "--allow-private", "127.0.0.0/8", "--out", closed / "x" / "y"]
        self.refused(ring.IO, [f"chmod o+x {closed}", "nobody"], "crawl", *arguments, "--user", "nobody")
        self.refused(ring.IO, [f"chmod o+x {closed}", "nobody"], "node", "--dir", closed / "x" / "y", "--user", "nobody")
        self.assertEqual(list(closed.iterdir()), [])
        place = self.dir / "roots"
        place.mkdir()
        (place / "something").touch()
        self.refused(ring.IO, [str(place), "chown -R nobody"], "node", "--dir", place, "--user", "nobody")


class Canary:
    """Listens on one of the Fetch standard's bad ports and counts who comes."""

    PORTS = (6665, 6666, 6667, 6668, 6669, 6697, 6566, 10080, 6679, 4190)

    def __init__(self, case):
        self.connections = 0
        self.lines = []
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for port in self.PORTS:
            with contextlib.suppress(OSError):
                self.sock.bind(("127.0.0.1", port))
                self.port = port
                break
        else:
            case.skipTest("all bad ports that a user may listen on are taken")
        self.sock.listen(64)
        case.addCleanup(self.sock.close)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                one, _ = self.sock.accept()
            except OSError:
                return
            self.connections += 1
            with contextlib.suppress(OSError):
                self.lines.append(one.recv(4096))
                one.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok")
            one.close()


class Ports(LocalCase):
    @ring.about(4)
    def test_bad_ports_are_not_asked_whoever_names_them(self):
        canary = Canary(self)

        def answer(handler, host, path):
            bad = f"http://{host}:{canary.port}"
            if path == "/robots.txt" and host == "moved.test":
                handler.whole(b"", 301, Location=bad + "/robots.txt")
            elif path == "/robots.txt":
                handler.whole(f"User-agent: *\nSitemap: {bad}/sitemap.xml\n".encode(), type_="text/plain")
            elif path == "/redirect":
                handler.whole(b"", 302, Location=bad + "/redirected")
            elif path == "/":
                handler.whole(f"<!DOCTYPE html><a href='{bad}/link'>x</a> <a href='/redirect'>y</a>".encode())
            else:
                handler.whole(b"", 404)

        server = misbehave.SmallServer(self, answer)
        seeds = [server.url("plain.test"), server.url("moved.test"), f"http://seed.test:{canary.port}/"]
        wanted = [*seeds[2:], *(f"http://plain.test:{canary.port}/{n}" for n in ("link", "redirected", "sitemap.xml"))]
        reach = [*ring.QUICK, *server.reach, "--resolve", f"*:{canary.port}:127.0.0.1", "--scope", "any", "--robots", "yes"]
        node = self.node("a", *seeds, *reach)
        self.wait_for_rest([node])
        for url in wanted:
            told = self.explain(node, url)
            self.assertEqual((told["state"], told["reason"]), ("excluded", "bad_port"), told)
            self.assertIn("--allow-ports", told["why"])
        self.assertIn("--allow-ports", self.ok("explain", "--peer", node.address, wanted[0]))
        self.assertEqual(self.explain(node, seeds[1])["state"], "fetched")
        self.assertEqual(canary.connections, 0, canary.lines)
        self.refused(ring.INVALID_INPUT, [str(canary.port), "port"], "links", wanted[0], "--allow-private", "127.0.0.1/32")
        self.assertEqual(canary.connections, 0, canary.lines)
        allowed = self.node("b", *seeds, *reach, "--allow-ports", str(canary.port))
        self.wait_for_rest([allowed])
        for url in wanted:
            self.assertEqual(self.explain(allowed, url)["state"], "fetched", url)
        # What its port kept out is judged again with the next visit.
        self.ok("stop", "--peer", node.address)
        node.wait()
        node = self.node("a", *reach, "--allow-ports", str(canary.port))
        self.ok("recrawl", "--peer", node.address)
        ring.wait_until("it is fetched", lambda: self.explain(node, wanted[0])["state"] == "fetched")

    def test_denied_addresses_are_refused_whatever_allows_them(self):
        server = misbehave.SmallServer(self, lambda h, host, path: h.whole(b"<!DOCTYPE html>x"))
        url = server.url("one.test")
        node = self.node("a", url, *ring.QUICK, *server.reach, "--robots", "no", "--deny-addresses", "127.0.0.0/8")
        self.wait_for_rest([node])
        told = self.explain(node, url)
        self.assertEqual((told["state"], told["reason"]), ("failed", "address_denied"), told)
        self.assertIn("deny_addresses", told["why"])
        self.assertEqual(server.requests(), {})


class Terminals(LocalCase):
    # A window's title, a colour, CSI as one C1 character, a byte that is CSI in an old terminal.
    HOSTILE = b"\x1b]0;owned\x07 \x1b[31m\xc2\x9b31m \x9b31m\x7f"

    def check(self, out):
        data = out if isinstance(out, bytes) else out.encode("utf-8", errors="surrogateescape")
        for bad in (b"\x1b", b"\x07", b"\xc2\x9b", b"\x9b", b"\x7f", b"\r"):
            self.assertNotIn(bad, data.replace("›".encode(), b""), data)
        return data

    def raw(self, *arguments):
        got = subprocess.run([ring.BINARY, *map(str, arguments)], capture_output=True, env=CLEAN, timeout=60, check=False)
        self.check(got.stderr)
        return self.check(got.stdout)

    def file(self, name, data):
        path = self.dir / name
        path.write_bytes(data)
        return path

    def test_tools_print_no_escape_of_a_strangers(self):
        bad = self.HOSTILE
        robots = self.file("robots.txt", b"User-agent: *" + b"\nDisallow: /x" + bad + b"\nSitemap: http://a.test/" + bad + b"\n")
        told = self.raw("robots", robots, "http://a.test/x" + "%1B]0;owned%07%20%1B[31m")
        self.assertIn(b"\\x1b]0;owned\\x07", told)
        json.loads(self.raw("robots", "--json", robots, "/x"))
        page = self.file("page.html", b"<!DOCTYPE html><base href='http://a.test/'><a href='/x" + bad + b"'>" + bad + b"</a>")
        json.loads(self.raw("links", page, "--base", "http://a.test/"))
        sitemap = self.file("sitemap.txt", b"http://a.test/x" + bad + b"\nhttp://b.test/\n")
        self.raw("sitemap", sitemap, "--base", "http://a.test/sitemap.txt", "--content-type", "text/plain")
        json.loads(self.raw("sitemap", "--json", sitemap, "--content-type", "text/plain"))
        self.raw("robots", robots, b"http://a.test/\xc2\x9b31m".decode())
        self.raw("url", b"http://a.test/\xc2\x9b31m".decode())
        self.raw("explain", "--dir", self.dir, "http://a.test/")

    def test_what_another_peer_says_is_no_escape_either(self):
        # A peer.json that somebody else wrote, and a command's error that quotes it.
        (self.dir / "peer.json").write_text(json.dumps({"address": "\x1b]0;owned\x07:1\x9b", "id": 5}), encoding="utf-8")
        with open(self.dir / "lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # as a peer that runs has it
            self.raw("status", "--dir", self.dir)
            said = self.refused(ring.INVALID_INPUT, ["\\x1b]0;owned"], "status", "--dir", self.dir)
            self.check(said)

    def test_a_crawls_words_hold_no_escape(self):
        link = b"<a href='http://b\xc2\x9b.test/'>x</a><a href='/p\x1b[31m\xc2\x9b'>y</a>"
        server = misbehave.SmallServer(self, lambda h, host, path: h.whole(b"<!DOCTYPE html>" + link))
        node = self.node("a", server.url("a.test"), *ring.QUICK, *server.reach, "--robots", "no")
        self.wait_for_rest([node])
        self.raw("status", "--peer", node.address)
        self.raw("explain", "--peer", node.address, server.url("a.test", b"/\xc2\x9b31m".decode()))
        self.raw("seed", "--peer", node.address, b"http://\xc2\x9b/".decode())
        self.raw("traps", "--peer", node.address)
        self.ok("stop", "--peer", node.address)
        node.wait()
        self.check(pathlib.Path(node.directory / "log" / "peer.log").read_bytes())
        self.raw("export", "urls", "--dir", node.directory)


class TextCommands(LocalCase):
    """What a reader of hostile documents has of its peer: tests/unit/user_command_test.cc has each in turn."""

    def text_of(self, script, *more, environment=None):
        reader = self.dir / "reader.sh"
        reader.write_text(script, encoding="utf-8")
        server = misbehave.SmallServer(self, lambda h, host, path: h.whole(b"body", type_="application/x-note"))
        arguments = ["--text", "--text-commands", f"application/x-note=sh {reader}", "--robots", "no", *more]
        out = self.ok(*self.crawl_arguments(server, *arguments, seeds=[server.url("a.test")], scope="host"),
                      environment=environment)
        self.assertEqual(json.loads(out)["pages"], 1, out)
        lines = [json.loads(line) for path in (self.dir / "crawl").rglob("*.jsonl") for line in path.open(encoding="utf-8")]
        self.assertEqual(len(lines), 1)
        return lines[0]["text"]

    def test_a_text_command_has_no_secret_no_descriptor_and_writes_nothing(self):
        victim = self.dir / "victim"
        script = f"""
            env; echo owned > {victim}; echo owned >> {self.dir}/crawl/peer-1/log/peer.log
            setsid sh -c 'sleep 271828.1' </dev/null >/dev/null 2>&1 &
            for fd in /proc/self/fd/*; do test -e $fd && echo "descriptor ${{fd##*/}}"; done
            grep NoNewPrivs /proc/self/status; true
        """
        text = self.text_of(script, environment={"MY_SECRET_TOKEN": "hunter2", "ORBWEAVER_SITE_HEADERS": "a.b X: hunter2"})
        self.assertNotIn("hunter2", text)
        self.assertIn("PATH=", text)
        self.assertRegex(text, r"NoNewPrivs:\s1")
        self.assertLessEqual(set(re.findall(r"descriptor (\d+)", text)), {"0", "1", "2", "3", "10"}, text)
        self.assertFalse(victim.exists() and victim.stat().st_size > 0)
        self.assertNotIn("owned", (self.dir / "crawl/peer-1/log/peer.log").read_text(encoding="utf-8"))
        left = subprocess.run(["pgrep", "-f", "sleep 271828[.]1"], capture_output=True, text=True, check=False)
        self.assertEqual(left.stdout, "", "a child of a text command outlived it")

    def test_a_text_command_changes_nothing_and_reaches_no_service(self):
        tool = self.dir / "tool"
        tool.write_text("#!/bin/sh\n", encoding="utf-8")
        tool.chmod(0o755)
        service = socket.socket(socket.AF_UNIX)
        self.addCleanup(service.close)
        service.bind(str(self.dir / "service"))
        service.listen(8)
        service.setblocking(False)
        script = f"""
            chmod 4755 {tool}; chmod 0777 {self.dir}/crawl; touch -d @1 {tool}; chown 65534 {tool}
            python3 -c "import socket; socket.socket(socket.AF_UNIX).connect('{self.dir}/service'); print('connected')"
            echo end
        """
        before = tool.stat()
        self.assertEqual(self.text_of(script), "end\n")
        after = tool.stat()
        self.assertEqual((after.st_mode, after.st_uid, after.st_ctime_ns), (before.st_mode, before.st_uid, before.st_ctime_ns))
        self.assertEqual(loose(self.dir / "crawl"), {})
        self.assertRaises(BlockingIOError, service.accept)

    def test_its_memory_is_bounded_by_a_setting(self):
        script = "head -c 300000000 /dev/zero | tail -c 299999999 | wc -c; echo end; true\n"
        self.assertNotIn("299999999", self.text_of(script, "--max-text-command-memory", "64MiB"))


class Hardening(ring.Case):
    def test_the_binary_has_what_the_compiler_offers(self):
        def read(*arguments):
            return subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=60).stdout

        self.assertRegex(read("readelf", "-hW", ring.BINARY), r"Type:\s+DYN")  # position-independent
        dynamic = read("readelf", "-dW", ring.BINARY)
        self.assertRegex(dynamic, r"FLAGS.*(BIND_NOW|NOW)")
        segments = read("readelf", "-lW", ring.BINARY)
        self.assertIn("GNU_RELRO", segments)
        self.assertRegex(segments, r"GNU_STACK\s+(\S+\s+){5}RW ")  # and not executable
        symbols = read("nm", "-D", ring.BINARY)
        self.assertIn("__stack_chk_fail", symbols)
        self.assertRegex(symbols, r"__(memcpy|snprintf|vsnprintf|read)_chk")
        self.assertIn("__glibcxx_assert_fail", symbols)


class BillOfMaterials(ring.Case):
    """deploy/sbom against what CycloneDX 1.5 asks for (bom-1.5.schema.json: required fields, enums, patterns)."""

    TYPES = {"application", "framework", "library", "container", "platform", "operating-system", "device", "device-driver",
             "firmware", "file", "machine-learning-model", "data"}  # fmt: skip

    def bill(self):
        command = [ring.ROOT / "deploy" / "sbom", "--binary", ring.BINARY]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout

    @ring.about(8)
    def test_the_bill_is_cyclonedx_and_the_same_each_time(self):
        text = self.bill()
        self.assertEqual(text, self.bill())
        bill = json.loads(text)
        self.assertEqual((bill["bomFormat"], bill["specVersion"], bill["version"]), ("CycloneDX", "1.5", 1))
        self.assertRegex(bill["serialNumber"], r"^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        refs = [bill["metadata"]["component"]["bom-ref"]]
        for one in [bill["metadata"]["component"], *bill["components"]]:
            self.assertIn(one["type"], self.TYPES)
            self.assertTrue(one["name"] and one["version"], one)
            self.assertRegex(one["purl"], r"^pkg:[a-z]+/\S+@\S+$")
            self.assertLessEqual({p["name"] for p in one.get("properties", [])},
                                 {"debian:source", "orbweaver:use", "orbweaver:file"})
            for reference in one.get("externalReferences", []):
                self.assertEqual(set(reference), {"type", "url"})
        refs += [one["bom-ref"] for one in bill["components"]]
        self.assertEqual(len(refs), len(set(refs)))
        for entry in bill["dependencies"]:
            self.assertLessEqual({entry["ref"], *entry["dependsOn"]}, set(refs))
        # Every library that the binary names is of one of the packages, and those that are headers alone are there too.
        files = {p["value"] for one in bill["components"] for p in one["properties"] if p["name"] == "orbweaver:file"}
        needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(
            ["readelf", "-dW", ring.BINARY], capture_output=True, text=True, check=True, timeout=60).stdout)
        self.assertLessEqual(set(needed), files)
        names = {one["name"] for one in bill["components"]}
        self.assertLessEqual({"uplot", "nlohmann-json3-dev", "libcli11-dev", "libmsgpack-cxx-dev", "libcurl4", "librocksdb7.8"}, names)
        # The package that each header of a library comes from: Beast's of one that libboost-dev only names.
        for header in ("boost/beast.hpp", "boost/log/core.hpp", "zmq.hpp", "seccomp.h", "rocksdb/db.h"):
            owner = subprocess.run(["dpkg-query", "-S", f"/usr/include/{header}"], capture_output=True, text=True, check=True)
            self.assertIn(owner.stdout.split(":")[0], names, header)


class Quickstart(ring.Case):
    def test_a_flag_of_the_callers_takes_the_place_of_its_own(self):
        # The script as it is, with a build that only tells what it was given.
        deploy = self.dir / "deploy"
        deploy.mkdir()
        binary = self.dir / "build" / "release" / "orbweaver"
        binary.parent.mkdir(parents=True)
        for name in ("quickstart", "common.sh"):
            shutil.copy2(ring.ROOT / "deploy" / name, deploy)
        for path, text in ((deploy / "install-packages", ""), (deploy / "build", ""), (binary, f"printf '%s\\n' \"$@\" >{self.dir}/told")):
            path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            path.chmod(0o755)
        (self.dir / "there").mkdir()
        url = "https://example.org/"
        own = str(self.dir / "crawl-example.org")
        for given, peers, out, left in (
            ([], "3", own, []),
            (["--peers", "5", "--max-pages", "9"], "5", own, ["--max-pages", "9"]),
            (["--max-pages=9", "--peers=5", "--out", "there"], "5", "there", ["--max-pages=9"]),
            (["--out=there", "https://b.test/"], "3", "there", ["https://b.test/"]),
        ):
            pathlib.Path(own).mkdir(exist_ok=True)
            subprocess.run([deploy / "quickstart", url, *given], cwd=self.dir, capture_output=True, check=True, timeout=60)
            told = (self.dir / "told").read_text(encoding="utf-8").splitlines()
            self.assertEqual(told, ["crawl", "--peers", peers, "--out", out, url, *left])
        got = subprocess.run([deploy / "quickstart", url, "--peers"], cwd=self.dir, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(got.returncode, 1)
        self.assertIn("--peers lacks its value", got.stderr)
