"""The text output as a corpus: language, date, digest, boilerplate, repeats; and what `orbweaver corpus` makes of the
outputs of several peers."""

import hashlib
import json
import pathlib

import ring

GERMAN = (
    "Der Fluss floss langsam durch das weite Tal, und am Ufer standen alte Weiden, unter denen im Sommer die Kinder "
    "spielten, bis die Glocke im Dorf den Abend einläutete und alle nach Hause gingen. "
)
ENGLISH = (
    "The river ran slowly through the wide valley, and on its banks stood old willows, under which the children used to "
    "play in summer, until the bell in the village rang the evening in and everyone went home. "
)
# Words that make a text long enough for a change to be a small one.
FILLER = " ".join(f"{a} {b} {c}" for a in ("stone", "river", "lantern", "valley", "winter", "harbour", "garden")
                  for b in ("under", "beside", "beyond", "across") for c in ("quiet", "golden", "narrow", "ancient", "bright"))


def page(title, text, more="", links=("/",)):
    menu = "".join(f'<li><a href="{link}">menu entry {link}</a>' for link in links)
    return (
        f'<!DOCTYPE html><html lang="xx"><head><meta charset="utf-8"><title>{title}</title>{more}</head><body>'
        f"<ul>{menu}</ul><p>{text}</p><footer>Copyright, imprint and terms of the site, in so many words.</footer>"
    )


class Corpus(ring.Case):
    def setUp(self):
        super().setUp()
        names = ["de", "en", "copy", "near", "short", "empty"]
        pages = {
            "de": page("Fluss", GERMAN * 2, '<meta property="article:published_time" content="2020-02-03T04:05:06Z">'),
            "en": page("River", ENGLISH + FILLER),
            "copy": page("Another title", ENGLISH + FILLER),
            "near": page("River", ENGLISH.replace("old willows", "old poplars") + FILLER),
            "short": page("Short", "Too short."),
            "empty": page("Empty", ""),
        }
        self.trees = []
        for name in names:  # a host each: they are with different peers
            root = self.dir / name
            root.mkdir()
            (root / "index.html").write_text(pages[name], encoding="utf-8")
            self.trees.append((f"{name}.test", root))
        self.served = self.web(hosts=0, pages=0, trees=self.trees)

    def crawl_text(self, *more, **options):
        seeds = [self.served.url(host) for host, _ in self.trees]
        self.crawl(self.served, "--text", *more, seeds=seeds, scope="host", **options)

    def lines(self, out="crawl"):
        found = {}
        for path in sorted((self.dir / out).rglob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                found[entry["url"].split("//")[1].split(".")[0]] = entry
        return found

    def test_a_line_tells_what_the_page_says_in_which_language_and_when(self):
        self.crawl_text()
        lines = self.lines()
        self.assertEqual(set(lines), {host.removesuffix(".test") for host, _ in self.trees})
        german = lines["de"]
        self.assertEqual(german["text"], " ".join((GERMAN * 2).split()), "the menu and the footer are left out")
        self.assertEqual((german["language"], german["language_sure"], german["language_declared"]), ("de", True, "xx"))
        self.assertEqual((german["title"], german["status"]), ("Fluss", 200))
        self.assertTrue(german["date"].startswith("2020-02-03T04:05:06"), german)
        self.assertEqual(german["date_from"], "article:published_time")
        self.assertEqual(german["digest"], "md5:" + hashlib.md5(german["text"].encode()).hexdigest())
        self.assertRegex(german["fetched"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d")
        self.assertEqual(german["words"], len(GERMAN.split()) * 2)
        self.assertEqual(lines["en"]["language"], "en")
        self.assertEqual(lines["empty"]["text"], "")

    def test_repeats_are_marked_with_what_they_repeat(self):
        self.crawl_text("--max-fetches", 1)  # one after the other: which comes first is the seeds' order or not
        marked = {name: line["repeats"] for name, line in self.lines().items() if "repeats" in line}
        self.assertEqual(len(marked), 2, marked)
        kinds = {}
        for name, repeats in marked.items():
            self.assertIn(name, ("en", "copy", "near"))
            self.assertIn(repeats["url"].split("//")[1].split(".")[0], {"en", "copy", "near"} - set(marked))
            self.assertLessEqual(repeats["bits"], 3)
            kinds[name] = repeats["kind"]
        first = ({"en", "copy", "near"} - set(kinds)).pop()
        self.assertEqual(sorted(kinds.values()), ["near", "near"] if first == "near" else ["exact", "near"])

    def test_boilerplate_can_be_kept_and_fingerprints_left_out(self):
        self.crawl_text("--boilerplate", "keep", "--max-text-fingerprints", 0)
        lines = self.lines()
        self.assertIn("menu entry", lines["de"]["text"])
        self.assertIn("Copyright", lines["de"]["text"])
        self.assertFalse(any("repeats" in line for line in lines.values()))

    @ring.about(5)
    def test_corpus_marks_what_repeats_across_peers(self):
        for ring_of in range(8):  # which peer gets a page is the ring's to say: one ring in some hundred gives all to one
            out = self.dir / f"ring-{ring_of}"
            self.crawl_text("--peers", 3, out=out.name)
            peers = {path.parent.parent.name for path in out.rglob("*.jsonl") if path.stat().st_size}
            if len(peers) > 1:
                break
        self.assertGreater(len(peers), 1, "all pages are with one peer: the test would show nothing")
        counts = json.loads(self.ok("corpus", out, "--out", self.dir / "corpus.jsonl", "--json"))
        self.assertEqual((counts["pages"], counts["again"], counts["torn"], counts["forgotten"]), (6, 0, 0, 0))
        self.assertEqual(counts["exact"] + counts["near"], 2)
        self.assertEqual(counts["languages"].get("de"), 1)
        whole = [json.loads(line) for line in (self.dir / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
        self.assertEqual(len(whole), 6)
        self.assertEqual(sum("repeats" in line for line in whole), 2)
        dropped = json.loads(
            self.ok("corpus", out, "--out", self.dir / "alone.jsonl", "--drop-repeats", "--json")
        )
        self.assertEqual(dropped, counts)
        self.assertEqual(len((self.dir / "alone.jsonl").read_text(encoding="utf-8").splitlines()), 4)
        # The same corpus again: every page is there again, and nothing else changes.
        both = json.loads(self.ok("corpus", self.dir / "corpus.jsonl", self.dir / "alone.jsonl", "--json"))
        self.assertEqual(both["pages"], 10)
        self.assertEqual(both["again"], 2)  # the other two have no text left

    def test_a_texts_max_that_is_too_small_is_said(self):
        self.crawl_text()
        counts = json.loads(self.ok("corpus", self.dir / "crawl", "--max-texts", 1, "--json"))
        self.assertGreater(counts["forgotten"], 0)

    def test_result_pages_are_no_part_of_the_corpus(self):
        self.crawl_text("--result-pages", "^http://de[.]test")
        self.assertNotIn("de", self.lines())


class BadCorpus(ring.Case):
    def check(self, text, *words):
        path = self.dir / "bad.jsonl"
        path.write_text(text, encoding="utf-8")
        self.refused(ring.INVALID_INPUT, [str(path), *words], "corpus", path)

    def test_a_bad_line_is_named(self):
        good = json.dumps({"url": "http://a/", "digest": "md5:" + "0" * 32, "simhash": "0" * 16, "words": 1}) + "\n"
        self.check(good + "{\n", ":2:", "JSON")
        self.check(good * 2 + "[]\n", ":3:", "JSON")
        self.check("{}\n", ":1:", "url")
        self.check('{"url": "http://a/"}\n', ":1:", "digest")
        self.check(good.replace("0" * 16 + '"', '0"'), ":1:")
        self.check(good.replace(', "words": 1', ""), ":1:", "words")

    def test_what_is_no_corpus_is_refused(self):
        (self.dir / "none").mkdir()
        self.refused(ring.INVALID_INPUT, ["none", "--text"], "corpus", self.dir / "none")
        self.refused(ring.INVALID_INPUT, ["missing"], "corpus", self.dir / "missing")
        path = self.dir / "a.jsonl"
        path.write_text("", encoding="utf-8")
        self.refused(ring.INVALID_INPUT, ["files that are read"], "corpus", path, "--out", path)
        self.refused(ring.IO, ["no-such-dir"], "corpus", path, "--out", self.dir / "no-such-dir" / "x")
        self.refused(ring.INVALID_SETTING, ["--max-texts"], "corpus", path, "--max-texts", 0)
        self.refused(ring.INVALID_SETTING, ["inputs"], "corpus")

    def test_a_last_line_without_an_end_is_left_out(self):
        path = pathlib.Path(self.dir / "torn.jsonl")
        path.write_text('{"url": "http://a/", "dig', encoding="utf-8")
        self.assertEqual(json.loads(self.ok("corpus", path, "--json"))["torn"], 1)
