"""`orbweaver replay`: what it serves. tests/replay/run shows it in a browser."""

import hashlib
import io
import json
import signal
import socket
import unittest
import urllib.error
import urllib.request
import zipfile

import ring

VIEWER = {"ui.js": "// ui", "sw.js": "// sw", "adblock/adblock.gz": "x"}


class Replay(ring.Case):
    def viewer(self):
        """Files that stand for ReplayWeb.page's."""
        for name, text in VIEWER.items():
            path = self.dir / "viewer" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return self.dir / "viewer"

    def serve(self, directory, *more):
        """The command, and where it serves."""
        command = [ring.BINARY, "replay", directory, "--viewer", self.viewer(), "--json", *more]
        (self.dir / "tmp").mkdir(exist_ok=True)
        process = self.keep(ring.Process(command, self.dir, "replay", {"TMPDIR": str(self.dir / "tmp")}))
        ring.wait_until("it serves", lambda: process.out.strip() or not process.running())
        self.assertTrue(process.running(), process.err)
        return process, json.loads(process.out)

    @staticmethod
    def ask(url, **fields):
        """Status, fields and body."""
        request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in fields.items()})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers, refused.read()

    def test_packages_are_served_without_a_copy(self):
        web = self.web(hosts=40, pages=160)
        self.crawl(web, "--peers", 2)
        process, told = self.serve(self.dir / "crawl", "--title", "A web")
        self.assertEqual(told["packages"], 2)
        base = told["url"]
        status, fields, page = self.ask(base)
        self.assertEqual((status, fields["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(b"replay-app-main", page)
        self.assertEqual(self.ask(base + "ui.js")[2], b"// ui")
        joined = json.loads(self.ask(base + "ring.json")[2])
        self.assertEqual((joined["profile"], joined["title"]), ("multi-wacz-package", "A web"))
        captures = 0
        for resource in joined["resources"]:
            _, fields, package = self.ask(base + resource["path"])
            self.assertEqual(fields["Content-Type"], "application/wacz")
            self.assertEqual(resource["hash"], "sha256:" + hashlib.sha256(package).hexdigest())
            with zipfile.ZipFile(io.BytesIO(package)) as file:
                self.assertIsNone(file.testzip())
                captures += len([name for name in file.namelist() if name.startswith("archive/")])
            at = len(package) // 2
            status, fields, part = self.ask(base + resource["path"], Range=f"bytes={at}-{at + 999}")
            self.assertEqual((status, part), (206, package[at:at + 1000]))
            self.assertEqual(fields["Content-Range"], f"bytes {at}-{at + 999}/{len(package)}")
            self.assertEqual(self.ask(base + resource["path"], Range="bytes=-22")[2], package[-22:])
            self.assertEqual(self.ask(base + resource["path"], Range=f"bytes={len(package)}-")[0], 416)
            # No validator of its answers can match.
            self.assertEqual(self.ask(base + resource["path"], Range="bytes=0-9", If_Range='"x"')[0], 200)
        self.assertEqual(captures, len(list((self.dir / "crawl").rglob("*.warc.gz"))))
        self.assertEqual(self.ask(base + "peer.log")[0], 404)
        self.assertEqual(self.ask(base + "../crawl.json")[0], 404)
        # A page of another site, whose name leads here by its own DNS server, gets nothing.
        self.assertEqual(self.ask(base, Host="evil.example")[0], 421)
        self.assertEqual(self.ask(base, Host="127.0.0.1.evil.example")[0], 421)
        self.assertEqual(self.ask(base, Host="localhost:1")[0], 200)
        process.signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 0)
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])

    def test_a_peer_that_runs_is_shown_as_far_as_it_is(self):
        web = self.web(hosts=3, pages=3000)
        settings = ("--archive", "gzip", "--scope", "any", "--stop-when-done", "no", "--delay", "100ms", *web.reach)
        node = self.node("peer", *settings, *web.seeds)
        ring.wait_until("it crawls", lambda: web.total() > 60)
        _, told = self.serve(node.directory)
        self.assertGreater(told["pages"], 20)
        [resource] = json.loads(self.ask(told["url"] + "ring.json")[2])["resources"]
        ring.wait_until("it goes on", lambda: web.total() > 200)
        _, _, package = self.ask(told["url"] + resource["path"])
        self.assertEqual(resource["hash"], "sha256:" + hashlib.sha256(package).hexdigest())
        with zipfile.ZipFile(io.BytesIO(package)) as file:
            self.assertIsNone(file.testzip())

    def test_says_what_is_missing(self):
        self.refused(ring.INVALID_INPUT, ["nothing"], "replay", self.dir / "nothing", "--viewer", self.viewer())
        web = self.web(hosts=1, pages=5)
        self.crawl(web)
        self.refused(ring.INVALID_INPUT, ["ui.js", "deploy/replay-viewer"], "replay", self.dir / "crawl", "--viewer",
                     self.dir / "empty")  # fmt: skip
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.refused(ring.IN_USE, [str(port)], "replay", self.dir / "crawl", "--viewer", self.viewer(), "--listen",
                         f"127.0.0.1:{port}")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
