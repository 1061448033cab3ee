"""`orbweaver export wacz`: packages as WACZ 1.1.1 wants them, of a crawl that has ended and of one that runs."""

import base64
import gzip
import hashlib
import json
import subprocess
import zipfile

import ring
import warcs


class Wacz(ring.Case):
    def read(self, path):
        """A package, checked against its own description: its index's captures by URL, and its page lists."""
        with zipfile.ZipFile(path) as package:
            self.assertIsNone(package.testzip())
            names = package.namelist()
            self.assertEqual(names[-1], "datapackage.json")
            told = json.loads(package.read("datapackage.json"))
            digest = json.loads(package.read("datapackage-digest.json"))
            files = {name: package.read(name) for name in names if not name.startswith("datapackage")}
            for name in names:
                stored = name.startswith("archive/") or name.endswith(".cdx.gz")
                method = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
                self.assertEqual(package.getinfo(name).compress_type, method, name)
            raw = package.read("datapackage.json")
        self.assertEqual(digest["hash"], "sha256:" + hashlib.sha256(raw).hexdigest())
        self.assertEqual((told["profile"], told["wacz_version"]), ("data-package", "1.1.1"))
        self.assertEqual({resource["path"] for resource in told["resources"]}, set(files))
        self.assertEqual(len({resource["name"] for resource in told["resources"]}), len(files))
        for resource in told["resources"]:
            self.assertEqual(resource["name"], resource["path"].rsplit("/", 1)[1].lower())
            self.assertEqual(resource["bytes"], len(files[resource["path"]]))
            self.assertEqual(resource["hash"], "sha256:" + hashlib.sha256(files[resource["path"]]).hexdigest())
        found = {}
        summary = files["indexes/index.idx"].decode().splitlines()
        self.assertTrue(summary[0].startswith("!meta 0 {"), summary[0])
        lines = []
        for line in summary[1:]:
            place = json.loads(line.split(" ", 2)[2])
            block = files["indexes/index.cdx.gz"][place["offset"] : place["offset"] + place["length"]]
            self.assertEqual(place["digest"], "sha256:" + hashlib.sha256(block).hexdigest())
            inside = gzip.decompress(block).decode().splitlines()
            self.assertTrue(inside[0].startswith(line[: line.index("{")]))
            lines += inside
        self.assertEqual(lines, sorted(lines))
        for line in lines:
            entry = json.loads(line.split(" ", 2)[2])
            begin = int(entry["offset"])
            record = gzip.decompress(files["archive/" + entry["filename"]][begin : begin + int(entry["length"])])
            self.assertIn(f"WARC-Target-URI: {entry['url']}\r\n".encode(), record)
            found[entry["url"]] = found.get(entry["url"], 0) + 1
        pages = {}
        for name in ("pages", "extraPages"):
            rows = files.get(f"pages/{name}.jsonl", b"").decode().splitlines()
            if rows:
                self.assertEqual(json.loads(rows[0])["format"], "json-pages-1.0")
            pages[name] = [json.loads(row) for row in rows[1:]]
            self.assertTrue(all(page["title"] and page["url"] in found for page in pages[name]))
        return found, pages, told, digest

    def test_a_package_a_peer_and_one_file_for_the_ring(self):
        web = self.web(hosts=40, pages=160)  # so many that each peer has some
        self.crawl(web, "--peers", 2)
        key, out = self.dir / "key.pem", self.dir / "packages"
        export = ("export", "wacz", "--dir", self.dir / "crawl", "--out", out, "--sign", key, "--title", "A web")
        told = [json.loads(line) for line in self.ok(*export, "--json").splitlines()]
        self.assertEqual(len(told), 2)
        found, seeds, keys = {}, [], set()
        for entry in told:
            captures, pages, package, digest = self.read(entry["package"])
            self.assertEqual(package["title"], "A web")
            self.assertEqual(entry["captures"], sum(captures.values()))
            self.assertEqual(entry["pages"], len(pages["pages"]) + len(pages["extraPages"]))
            for url, count in captures.items():
                found[url] = found.get(url, 0) + count
            seeds += [page["url"] for page in pages["pages"]]
            signed = digest["signedData"]
            self.assertEqual((signed["hash"], signed["created"]), (digest["hash"], package["created"]))
            self.check_signature(signed)
            keys.add(signed["publicKey"])
        self.assertEqual(found, warcs.read_all(self.dir / "crawl"))
        self.assertEqual(sorted(seeds), sorted(web.seeds))
        self.assertEqual(len(keys), 1)
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        joined = json.loads((out / "ring.json").read_text(encoding="utf-8"))
        self.assertEqual(joined["profile"], "multi-wacz-package")
        self.assertEqual({resource["hash"] for resource in joined["resources"]},
                         {"sha256:" + entry["sha256"] for entry in told})  # fmt: skip
        self.assertEqual(sorted(path.name for path in out.iterdir()),
                         sorted([*(resource["path"] for resource in joined["resources"]), "ring.json"]))  # fmt: skip

    def check_signature(self, signed):
        """By openssl, which takes a signature as DER."""
        raw = base64.b64decode(signed["signature"])
        self.assertEqual(len(raw), 96)
        numbers = b""
        for part in (raw[:48], raw[48:]):
            part = part.lstrip(b"\0")
            part = b"\0" + part if part[0] & 0x80 else part
            numbers += bytes([2, len(part)]) + part
        (self.dir / "signature").write_bytes(bytes([0x30, len(numbers)]) + numbers)
        (self.dir / "key.der").write_bytes(base64.b64decode(signed["publicKey"]))
        (self.dir / "text").write_text(signed["hash"], encoding="utf-8")
        subprocess.run(
            ["openssl", "dgst", "-sha256", "-verify", self.dir / "key.der", "-keyform", "DER",
             "-signature", self.dir / "signature", self.dir / "text"],
            check=True, capture_output=True,
        )  # fmt: skip

    def test_a_running_peer_and_packages_of_several_machines(self):
        web = self.web(hosts=3, pages=3000)
        settings = ("--archive", "gzip", "--scope", "any", "--stop-when-done", "no", "--delay", "100ms", *web.reach)
        node = self.node("peer", *settings, *web.seeds)
        ring.wait_until("it crawls", lambda: web.total() > 60)
        out = self.dir / "packages"
        [line] = self.ok("export", "wacz", "--dir", node.directory, "--out", out, "--json").splitlines()
        captures, pages, _, digest = self.read(json.loads(line)["package"])
        self.assertGreater(len(captures), 20)
        self.assertGreater(len(pages["extraPages"]), 10)
        self.assertNotIn("signedData", digest)
        self.assertTrue(node.running())
        (out / "ring.json").unlink()
        self.assertIn("opens 1 package", self.ok("export", "wacz", "--join", "--out", out))
        self.assertTrue((out / "ring.json").exists())

    def test_says_what_is_missing(self):
        self.refused(ring.INVALID_INPUT, ["nothing"], "export", "wacz", "--dir", self.dir / "nothing")
        (self.dir / "empty").mkdir()
        self.refused(ring.INVALID_INPUT, ["no *.wacz"], "export", "wacz", "--join", "--out", self.dir / "empty")
        web = self.web(hosts=1, pages=5)
        self.crawl(web)
        (self.dir / "bad.pem").write_text("no key", encoding="utf-8")
        self.refused(ring.INVALID_INPUT, ["bad.pem", "P-384"], "export", "wacz", "--dir", self.dir / "crawl", "--sign",
                     self.dir / "bad.pem")  # fmt: skip
