"""Orders of crawling by real peers, `graph rank` and `lab order`."""

import json
import xml.etree.ElementTree

import ring

ORDERS = {
    "breadth": (),
    "depth": ("--order", "depth"),
    "topic": ("--order", "best", "--topic", "lantern harbour^2"),
    "opic": ("--order", "best", "--best-by", "opic"),
    "inlinks": ("--order", "best", "--best-by", "inlinks"),
}


class Orders(ring.Case):
    def test_every_order_fetches_the_whole_web_and_nothing_twice(self):
        web = self.web(calm=False, hosts=10, pages=120)
        for name, flags in ORDERS.items():
            with self.subTest(order=name):
                summary = self.crawl(web, "--peers", 2, "--archive", "off", *flags, out=name)
                self.assertTrue(summary["finished"], summary)
                self.check_whole(web)
                web.reset()

    def test_a_peer_that_joins_takes_the_rings_order(self):
        web = self.web(hosts=4, pages=30)
        first = self.node("a", *ring.QUICK, *web.reach, *ORDERS["topic"])
        second = self.node("b", *ring.QUICK, *web.reach, "--join", first.address)
        self.wait_for_members([first, second], 2)
        self.refused(
            ring.MISMATCH, ["order"], "node", "--dir", self.dir / "c", "--join", first.address, "--order", "depth"
        )

    def test_explain_tells_the_score(self):
        web = self.web(hosts=4, pages=30)
        node = self.node("a", *web.seeds, "--scope", "domain", *ring.QUICK, *web.reach, *ORDERS["inlinks"])
        self.wait_for_rest([node])
        self.assertGreater(self.explain(node, web.url(1))["score"], 0)

    def test_bad_input(self):
        seed = "http://host.test/"
        out = self.dir / "never"
        empty = self.dir / "empty.txt"
        empty.write_text("the of and\n", encoding="utf-8")
        for words, flags in (
            (["topic"], ["--order", "best"]),
            (["no words"], ["--order", "best", "--topic", "the of"]),
            (["order"], ["--topic", "lantern"]),
            (["breadth, depth, best"], ["--order", "worst"]),
            ([str(empty), "no words"], ["--order", "best", "--topic-file", str(empty)]),
            ([str(self.dir / "none")], ["--order", "best", "--topic-file", str(self.dir / "none")]),
        ):
            code, _, err = self.run_it("crawl", seed, "--out", out, *flags)
            self.assertIn(code, (ring.INVALID_INPUT, ring.IO, ring.INVALID_SETTING), err)
            for word in words:
                self.assertIn(word, err)
            self.assertFalse(out.exists(), "a directory was made")


class GraphRank(ring.Case):
    def edges(self, text, name="edges.tsv"):
        path = self.dir / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_page_rank_and_hits_of_a_small_graph(self):
        path = self.edges("http://a/\thttp://c/\nhttp://b/\thttp://c/\nhttp://c/\thttp://a/\nhttp://a/\thttp://c/\n")
        lines = [line.split("\t") for line in self.ok("graph", "rank", path).splitlines()]
        self.assertEqual([line[0] for line in lines], ["http://c/", "http://a/", "http://b/"])
        self.assertAlmostEqual(sum(float(line[1]) for line in lines), 1)
        self.assertAlmostEqual(float(lines[2][1]), 0.05, places=6)  # nothing links it: (1 - 0.85) / 3
        told = json.loads(self.ok("graph", "rank", path, "--json", "--top", 1))
        self.assertEqual((told["nodes"], told["edges"], told["repeated_edges"]), (3, 3, 1))
        self.assertEqual([entry["node"] for entry in told["ranks"]], ["http://c/"])
        lines = [line.split("\t") for line in self.ok("graph", "rank", path, "--algorithm", "hits").splitlines()]
        self.assertEqual(lines[0][0], "http://c/")
        self.assertEqual(len(lines[0]), 3)

    @ring.about(10)
    def test_a_graph_in_less_memory_than_it_takes(self):
        """150,000 nodes and 150,000 edges: some 20 MB of records, sorted in 1 MiB."""
        state, lines = 7, []
        for _ in range(150_000):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            lines.append(f"{(state >> 33) % 150_000}\t{((state >> 20) % 150_000) ** 2 // 150_000}\n")
        path = self.edges("".join(lines))
        little = self.ok("graph", "rank", path, "--memory", "1MiB", "--top", 50)
        self.assertEqual(little, self.ok("graph", "rank", path, "--memory", "512MiB", "--top", 50))
        self.assertEqual(len(little.splitlines()), 50)

    def test_bad_input(self):
        bad = self.edges("http://a/\thttp://b/\nhttp://a/ http://b/ http://c/\n")
        self.refused(ring.INVALID_INPUT, [str(bad), "line 2"], "graph", "rank", bad)
        self.refused(ring.INVALID_INPUT, ["no edge"], "graph", "rank", self.edges("", "empty"))
        self.refused(ring.IO, ["absent"], "graph", "rank", self.dir / "absent")
        good = self.edges("1\t2\n2\t1\n", "good")
        self.refused(ring.INVALID_SETTING, ["--memory"], "graph", "rank", good, "--memory", "0B")
        self.refused(ring.INVALID_SETTING, ["this machine"], "graph", "rank", good, "--memory", "1024TiB")
        self.refused(ring.INVALID_SETTING, ["--damping"], "graph", "rank", good, "--damping", "1.5")
        self.refused(ring.INVALID_SETTING, ["--algorithm"], "graph", "rank", good, "--algorithm", "salsa")
        self.refused(ring.IO, ["absent"], "graph", "rank", good, "--directory", self.dir / "absent")


class LabOrder(ring.Case):
    @ring.about(20)
    def test_every_order_is_measured_and_drawn(self):
        plot = self.dir / "order.svg"
        told = json.loads(self.ok("lab", "order", "--pages", 150, "--hosts", 8, "--topics", 3, "--json", "--plot", plot))
        rows = told["tables"][0]["rows"]
        self.assertEqual(len(rows), 6, rows)
        self.assertEqual(told["facts"]["pages"], 150)
        self.assertTrue(all("150" in str(row) for row in rows), "each crawl fetched every page once")
        xml.etree.ElementTree.parse(plot)
        self.refused(ring.INVALID_SETTING, ["--orders"], "lab", "order", "--orders", "random")
        self.refused(ring.INVALID_SETTING, ["--topic-words"], "lab", "order", "--topic-words", "0")

