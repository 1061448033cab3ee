"""`orbweaver support-bundle`: one file for a helper, without secrets."""

import json
import stat
import tarfile

import ring

SECRETS = ("hunter2-7f3a", "pass-91c", "hook-5d20")


class SupportBundle(ring.Case):
    def bundle(self, *arguments):
        """{name in the archive: text}"""
        out = self.dir / "bundle.tar.gz"
        out.unlink(missing_ok=True)
        self.assertEqual(self.ok("support-bundle", "--file", out, *arguments).strip(), str(out))
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o600)
        files = {}
        with tarfile.open(out) as archive:
            for member in archive.getmembers():
                if member.isfile():
                    name = member.name.removeprefix("orbweaver-support/")
                    files[name] = archive.extractfile(member).read().decode()
        return files

    def test_of_a_running_ring_has_all_but_the_secrets(self):
        key = self.dir / "ring.key"
        self.ok("ring-key", key)
        secrets = ["--site-headers", f"private.example Authorization: Bearer {SECRETS[0]}",
                   f"--proxy=http://me:{SECRETS[1]}@127.0.0.1:9", "--contact", "https://example.org/bot",
                   "--notify-url", f"http://127.0.0.1:9/{SECRETS[2]}", "--notify-command", f"/bin/true {SECRETS[2]}"]
        first = self.node("a", *secrets, key_file=key)
        second = self.node("b", "--join", first.address, *secrets, key_file=key)
        self.wait_for_members([first, second], 2)
        files = self.bundle("--dir", first.directory)
        self.assertEqual(
            set(files), {"about.json", "status.json", "settings.json", "doctor.json", "peers/a/peer.json", "peers/a/peer.log"}
        )
        for name, text in files.items():
            for secret in (*SECRETS, key.read_text(encoding="utf-8").strip()):
                self.assertNotIn(secret, text, name)
        self.assertEqual(len(json.loads(files["status.json"])["peers"]), 2)
        self.assertEqual(len(json.loads(files["settings.json"])["peers"]), 2)
        self.assertIn("ring.health", files["doctor.json"])
        self.assertIn("peer started", files["peers/a/peer.log"])
        about = json.loads(files["about.json"])
        self.assertEqual(about["missing"], {})
        self.assertTrue(any(name.startswith("librocksdb") for name in about["libraries"]), about)
        self.assertNotIn("peers/a/peer.log", self.bundle("--no-logs", "--dir", first.directory))

    def test_of_a_stopped_crawl(self):
        self.crawl(self.web(hosts=2, pages=10), "--peers", 2)
        files = self.bundle("--dir", self.dir / "crawl")
        self.assertEqual(len(json.loads(files["status.json"])["read_from"]), 2)
        self.assertIn("peers/peer-2/peer.log", files)
        self.assertTrue(json.loads(files["summary.json"])["finished"])

    def test_where_there_is_nothing_it_says_so_in_the_file(self):
        files = self.bundle("--dir", self.dir / "none")
        self.assertEqual(set(files), {"about.json", "doctor.json"})
        self.assertEqual(set(json.loads(files["about.json"])["missing"]), {"status.json", "settings.json"})

    def test_a_file_that_is_there_is_kept(self):
        out = self.dir / "mine"
        out.write_text("mine", encoding="utf-8")
        self.refused(2, ["mine exists"], "support-bundle", "--file", out, "--dir", self.dir / "none")
        self.assertEqual(out.read_text(encoding="utf-8"), "mine")
