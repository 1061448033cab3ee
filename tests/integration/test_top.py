"""`orbweaver top`: a ring that crawls with a delay, as one print, as JSON lines, and on a terminal."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import termios

import ring


class Terminal:
    """The command on a terminal of its own, of 24 lines and 100 columns."""

    def __init__(self, case, *arguments, ignore_hangup=False):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            if ignore_hangup:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.environ["TERM"] = "xterm"
            os.execv(ring.BINARY, ["orbweaver", *map(str, arguments)])
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.text = ""
        self.ended = False
        case.addCleanup(self.end)

    def read(self):
        while select.select([self.file], [], [], 0)[0]:
            try:
                more = os.read(self.file, 65536)
            except OSError:  # the other side is closed
                return
            if not more:
                return
            self.text += more.decode(errors="replace")

    def wait_for(self, words):
        def met():
            self.read()
            return words in self.text

        ring.wait_until(f"{words!r} is shown", met)

    def press(self, key):
        self.text = ""
        os.write(self.file, key.encode())

    def code(self):
        _, status = os.waitpid(self.pid, 0)
        self.ended = True
        return os.waitstatus_to_exitcode(status)

    def end(self):
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.close()

    def close(self):
        if self.file >= 0:
            os.close(self.file)
        self.file = -1


class Top(ring.Case):
    def crawling(self, *more):
        """A crawl of two peers that waits for delays nearly all of the time."""
        web = self.web(hosts=4, pages=200)
        return self.start_crawl(web, "--peers", 2, "--delay", "500ms", *more, quick=False)

    def test_shows_the_rates_the_limit_and_the_peers(self):
        self.crawling()
        where = ("--dir", self.dir / "crawl")
        ring.wait_until("the crawl has begun", lambda: self.run_it("top", "--once", "--json", *where)[0] == 0)

        def of_delays():
            shown = json.loads(self.ok("top", "--once", "--json", *where))
            return shown if shown["limit"]["by"] == "delays" and len(shown["peers"]) == 2 else None

        found = []
        ring.wait_until("the hosts wait for their delay", lambda: found.append(of_delays()) or found[-1])
        shown = found[-1]
        self.assertGreater(shown["queued"], 0)
        self.assertGreaterEqual(shown["pages_per_second"], 0)
        self.assertRegex(shown["limit"]["text"], r"^politeness: \d+ hosts? waits? until")
        for peer in shown["peers"]:
            self.assertEqual(peer["state"], "active")
            self.assertGreater(peer["memory_bytes"], 0)
            self.assertGreater(peer["disk_free_bytes"], 0)
            self.assertGreaterEqual(peer["processors"], 0)
            self.assertLessEqual(sum(peer["limit"]["shares"].values()), 1.01)
        lines = self.ok("top", "--once", *where).splitlines()
        self.assertRegex(lines[0], r"^ring [0-9a-f]{8}  2 of 2 peers  .* pages/s")
        self.assertRegex(lines[1], r"^fetched .* queued .* failed .* excluded ")
        self.assertTrue(lines[3].startswith("limit: "), lines)
        self.assertRegex(next(line for line in lines if line.startswith("end: ")), r"^end: in ")
        head = next(at for at, line in enumerate(lines) if line.startswith("PEER"))
        self.assertRegex(lines[head], r"^PEER +STATE +PAGES/S")
        self.assertEqual(len(lines), head + 3)

        # Four hosts at 500 ms each: the end is that of the slowest, and two peers hold them.
        self.assertEqual(shown["end"]["by"], "host")
        slowest = max(shown["hosts"], key=lambda host: host["seconds_needed"])
        self.assertEqual((shown["end"]["host"], shown["end"]["seconds"]), (slowest["host"], slowest["seconds_needed"]))
        self.assertGreaterEqual(slowest["seconds_needed"], slowest["queued"] * 0.5)
        self.assertEqual({host["peer"] for host in shown["hosts"]} - {peer["id"] for peer in shown["peers"]}, set())
        lines = self.ok("top", "--once", "--hosts", *where).splitlines()
        head = next(at for at, line in enumerate(lines) if line.startswith("HOST"))
        self.assertRegex(lines[head + 1], r"^host-\d+\.sample\.test +\d+\+? +")

        self.assertGreater(shown["politeness"]["gaps"], 0)
        self.assertEqual(shown["politeness"]["too_short"], 0)
        self.assertEqual(shown["politeness"]["promised_seconds"], 0.5)
        self.assertGreaterEqual(shown["politeness"]["least_seconds"], 0.5)
        self.assertIn("fetched", {outcome["state"] for outcome in shown["outcomes"]})
        self.assertRegex("\n".join(lines), r"politeness: \d+ waits .* none too short; the shortest took 0\.5\d\d s where")

        for told in self.peer_files().values():
            _, text = ring.get(f"http://{told['status_address']}/metrics")
            self.assertRegex(text, r'orbweaver_limited_seconds_total\{by="delays"[^}]*\} \d')

    def test_on_a_terminal_it_follows_keys_and_leaves_it_as_it_was(self):
        self.crawling()
        where = ("--dir", self.dir / "crawl")
        ring.wait_until("the crawl has begun", lambda: self.run_it("top", "--once", *where)[0] == 0)
        screen = Terminal(self, "top", *where, "--interval", "0.25")
        screen.wait_for("PAGES/S")
        screen.wait_for("limit: ")
        screen.press("?")
        screen.wait_for("this help")
        screen.press("?")
        screen.wait_for("PAGES/S")
        screen.press("e")
        screen.wait_for("REASON")
        screen.press("q")
        self.assertEqual(screen.code(), 0)
        screen.read()
        self.assertIn("\x1b[?1049l", screen.text, "the earlier text is shown again")

        screen = Terminal(self, "top", *where)
        screen.wait_for("PAGES/S")
        screen.press("\x03")  # Ctrl-C
        screen.code()
        screen.read()
        self.assertIn("\x1b[?1049l", screen.text)

    def test_keys_pause_the_host_at_the_cursor_in_the_whole_ring(self):
        self.crawling()
        where = ("--dir", self.dir / "crawl")
        ring.wait_until("hosts wait", lambda: "host-" in self.run_it("top", "--once", "--hosts", *where)[1])
        screen = Terminal(self, "top", *where, "--interval", "0.25")
        screen.wait_for("PAGES/S")
        screen.press("h")
        screen.wait_for("NEEDS")
        for key in "/host-00\r ":
            screen.press(key)

        # The screen itself is sent as changes of letters.
        def orders(peers):
            rows = json.loads(self.ok("orders", *where, "--json"))
            return {row["name"]: row["value"] for row in rows} if len(rows) == peers else None

        ring.wait_until("the host is paused", lambda: orders(1))
        ((name, value),) = orders(1).items()
        self.assertRegex(name, r"^pause host-00\d\.sample\.test$")
        self.assertEqual(value, "yes")
        screen.press("+")
        ring.wait_until("its delay is doubled", lambda: orders(2))
        self.assertEqual(orders(2), {name: "yes", name.replace("pause", "delay"): "1000000"})
        screen.press("q")
        self.assertEqual(screen.code(), 0)

    def test_ends_when_its_terminal_is_gone(self):
        self.crawling()
        where = ("--dir", self.dir / "crawl")
        ring.wait_until("the crawl has begun", lambda: self.run_it("top", "--once", *where)[0] == 0)
        screen = Terminal(self, "top", *where, ignore_hangup=True)
        screen.wait_for("PAGES/S")
        screen.close()
        self.assertEqual(screen.code(), 0)

    def test_says_what_is_wrong_before_it_takes_the_terminal(self):
        self.refused(6, ["no peer"], "top", "--once", "--dir", self.dir / "none")
