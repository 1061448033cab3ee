"""notify_url, notify_command, notify_events: real peers tell a web hook and a command what happens."""

import collections
import contextlib
import http.server
import json
import re
import signal
import socket
import threading

import ring


class Hook:
    """A web hook that answers with the next of `codes`, then with 204; and what it has been sent."""

    def __init__(self, case, codes=()):
        self.codes = collections.deque(codes)
        self.sent = []  # (code, notice)
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                notice = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                code = hook.codes.popleft() if hook.codes else 204
                hook.sent.append((code, notice))
                self.send_response(code)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook/secret-part"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        case.addCleanup(self.end)

    def end(self):
        self.server.shutdown()
        self.server.server_close()

    def taken(self, event=None):
        return [notice for code, notice in self.sent if code == 204 and event in (None, notice["event"])]


class Notify(ring.Case):
    @ring.about(8)
    def test_a_lost_peer_is_told_once_and_until_it_is_taken(self):
        hook = Hook(self, codes=[503, 429])
        more = ("--suspicion-time", "1s", "--notify-url", hook.url)
        a = self.node("a", *more)
        b = self.node("b", "--join", a.address, *more)
        c = self.node("c", "--join", a.address, *more)
        self.wait_for_members([a, b, c], 3)
        lost = max([a, b, c], key=lambda node: node.id)
        rest = sorted({a, b, c} - {lost}, key=lambda node: node.id)
        lost.kill()
        ring.wait_until("it is told", lambda: hook.taken("peer_lost"))
        for node in rest:  # both have seen it by now
            ring.wait_until("all have seen it", lambda node=node: "state=down" in node.log())
        (notice,) = hook.taken()
        self.assertEqual(notice["peer"], rest[0].id)
        self.assertEqual((notice["details"]["peer"], notice["details"]["state"]), (lost.id, "down"))
        self.assertIn("a peer is down", notice["text"])
        self.assertEqual([code for code, _ in hook.sent], [503, 429, 204])
        self.assertEqual(len({told["id"] for _, told in hook.sent}), 1, "the same one again")
        where = f"http://{rest[0].status_address}/metrics"
        ring.wait_until("it is counted", lambda: re.search(r"^orbweaver_notices_taken_total(\{.*\})? 1$",
                                                           ring.get(where)[1], re.MULTILINE))  # fmt: skip

    @ring.about(8)
    def test_the_end_of_a_crawl_and_the_files_of_its_archive(self):
        hook = Hook(self)
        web = self.web(hosts=4, pages=100)
        told = self.dir / "told.jsonl"
        script = self.dir / "hook"
        script.write_text(f"#!/bin/sh\ncat >> {told}\n", encoding="utf-8")
        script.chmod(0o755)
        self.crawl(web, "--peers", 3, "--notify-url", hook.url, "--notify-command", script,
                   "--notify-events", "crawl_ended,archive_file_closed")  # fmt: skip
        ends = hook.taken("crawl_ended")
        self.assertIn(len(ends), (1, 2))  # by one peer, unless two differ about who runs
        self.assertEqual(ends[0]["details"]["totals"]["fetched"], len(web.expected()))
        self.assertEqual(ends[0]["details"]["reason"], "nothing is left to fetch")
        files = {path: path.stat().st_size for path in (self.dir / "crawl").glob("peer-*/archive/*.warc.gz")}
        closed = {notice["details"]["file"]: notice["details"]["bytes"] for notice in hook.taken("archive_file_closed")}
        self.assertEqual(closed, {str(path): size for path, size in files.items()})
        for notice in hook.taken():
            self.assertEqual(len(notice["peer"]), 32, notice)
            self.assertRegex(notice["address"], r":\d+$")
            self.assertTrue(notice["id"].startswith(notice["peer"][:16]), notice)
        by_command = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
        self.assertEqual(sorted(notice["id"] for notice in by_command), sorted(notice["id"] for notice in hook.taken()))

    @ring.about(6)
    def test_what_was_not_taken_is_told_after_the_next_start(self):
        hook = Hook(self, codes=[500] * 2)
        more = ("--notify-url", hook.url, "--notify-events", "orders")
        a = self.node("a", *more)
        self.ok("pause", "--peer", a.address)
        ring.wait_until("it was sent", lambda: hook.sent)
        a.signal(signal.SIGINT)
        self.assertEqual(a.wait(), 0)
        self.assertEqual(hook.taken(), [])
        left = a.directory / "notices-left.jsonl"
        self.assertEqual(len(left.read_text(encoding="utf-8").splitlines()), 1)
        # A start that fails keeps it.
        with socket.socket() as busy:
            busy.bind(("127.0.0.1", 0))
            busy.listen()
            hook.codes.extend([500] * 10)
            failed = self.node("a", *more, "--status-listen", f"127.0.0.1:{busy.getsockname()[1]}", up=False)
            self.assertEqual(failed.wait(), ring.IN_USE)
        self.assertEqual(len(left.read_text(encoding="utf-8").splitlines()), 1)
        hook.codes.clear()
        a = self.node("a", *more)
        ring.wait_until("it is told", hook.taken)
        self.assertEqual({notice["id"] for _, notice in hook.sent}, {hook.taken()[0]["id"]})
        a.signal(signal.SIGINT)
        self.assertEqual(a.wait(), 0)
        self.assertFalse(left.exists())

    @ring.about(4)
    def test_the_address_of_a_hook_is_shown_to_nobody(self):
        url = f"http://127.0.0.1:{ring.free_port()}/secret-part"
        a = self.node("a", "--notify-url", url, "--notify-command", "/bin/false secret-part", "--notify-events", "orders")
        ring.wait_until("it is up", a.up)
        (pid,) = [json.loads((a.directory / "peer.json").read_text(encoding="utf-8"))["pid"]]
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", encoding="utf-8") as line:
            self.assertNotIn("secret-part", line.read())
        self.ok("pause", "--peer", a.address)
        for way in ("notify_url", "notify_command"):
            ring.wait_until("it is not taken", lambda way=way: f"by={way}" in a.log())
        self.assertNotIn("secret-part", self.ok("status", "--peer", a.address, "--json"))
        self.assertNotIn("secret-part", a.log())

    @ring.about(2)
    def test_wrong_settings_are_refused(self):
        for name, value, words in (("--notify-url", "ftp://a.test/", "http or https"),
                                   ("--notify-events", "party", "no such event")):  # fmt: skip
            self.refused(ring.INVALID_SETTING, [words], "node", "--dir", self.dir / "x", name, value)
