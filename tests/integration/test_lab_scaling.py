"""`orbweaver lab scaling`, small: real peers against the sample web, two peers against one, hosts evenly."""

import json
import pathlib

import ring


class Scaling(ring.Case):
    TRIES = 3  # a machine that is busy with other things is slow; it is not so for ever

    def run_experiments(self):
        out = self.ok("lab", "scaling", "--seconds", 4, "--fetches", "8,20", "--latency", "400ms", "--dir", self.dir,
                      "--plot", self.dir / "scaling.svg", "--json", seconds=200)
        report = json.loads(out)
        self.assertEqual(report["experiment"], "scaling")
        return [table["rows"] for table in report["tables"]]

    def check_report(self, fetches, peers, hosts, time):
        """What holds on any machine."""
        self.assertEqual([row["fetches"] for row in fetches], [8, 20])
        self.assertEqual([row["peers"] for row in peers], [1, 2, 3])
        self.assertEqual(len(time), 2)
        for row in fetches:
            self.assertGreater(row["pages"], 0)
            self.assertLess(row["of what waiting allows"], 1.1)
        for table, ratio in ((fetches, "against the first"), (peers, "against one")):
            for row in table:
                self.assertAlmostEqual(row[ratio], row["pages a second"] / table[0]["pages a second"], delta=0.1)
        self.assertAlmostEqual(time[1]["against the first"], time[1]["pages"] / time[0]["pages"], delta=0.1)
        for row in hosts[:2]:
            self.assertEqual(row["most at once at a host"], 1)
            self.assertAlmostEqual(row["least over most"], row["least of a host"] / row["most of a host"], delta=0.01)

    @ring.about(70)
    def test_the_four_experiments(self):
        """More fetches and more peers bring more pages, and hosts get equal shares: on one of some tries."""
        tried = []
        for _ in range(self.TRIES):
            fetches, peers, hosts, time = self.run_experiments()
            self.check_report(fetches, peers, hosts, time)
            # Loosely; the figures are in docs/inside/lab-scaling.md.
            tried.append((fetches[1]["against the first"] > 2, peers[1]["against one"] > 1.4,
                          time[1]["against the first"] > 1.4, all(row["least over most"] > 0.7 for row in hosts[:2])))
            if all(tried[-1]):
                break
        self.assertTrue(all(tried[-1]), f"fetches, peers, time, hosts: {tried}")
        self.assertIn("<svg", pathlib.Path(self.dir / "scaling.svg").read_text(encoding="utf-8"))
        self.assertEqual([p.name for p in self.dir.glob("orbweaver-lab-*")], [], "what it made is gone")

    def test_what_cannot_be_run_is_refused(self):
        self.refused(ring.INVALID_INPUT, ["--latency"], "lab", "scaling", "--latency", "0s")
        self.refused(ring.INVALID_SETTING, ["--seconds"], "lab", "scaling", "--seconds", 1)
        self.refused(ring.INVALID_SETTING, ["--fetches"], "lab", "scaling", "--fetches", 0)
        self.refused(ring.INVALID_SETTING, ["--dir"], "lab", "scaling", "--dir", self.dir / "none")
