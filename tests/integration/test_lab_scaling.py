"""`orbweaver lab scaling`, small: real peers against the sample web, two peers against one, hosts evenly."""

import json
import pathlib

import ring


class Scaling(ring.Case):
    @ring.about(70)
    def test_the_four_experiments(self):
        out = self.ok("lab", "scaling", "--seconds", 4, "--fetches", "8,20", "--latency", "400ms", "--dir", self.dir,
                      "--plot", self.dir / "scaling.svg", "--json", seconds=200)
        report = json.loads(out)
        self.assertEqual(report["experiment"], "scaling")
        fetches, peers, hosts, time = (table["rows"] for table in report["tables"])
        self.assertEqual([row["fetches"] for row in fetches], [8, 20])
        self.assertEqual([row["peers"] for row in peers], [1, 2, 3])
        self.assertEqual(len(time), 2)
        # Loosely, and at a pace that a busy machine keeps; the figures are in docs/inside/lab-scaling.md.
        self.assertGreater(fetches[1]["against the first"], 2)
        self.assertGreater(peers[1]["against one"], 1.4)
        self.assertGreater(time[1]["against the first"], 1.4)
        for row in hosts[:2]:
            self.assertEqual(row["most at once at a host"], 1)
            self.assertGreater(row["least over most"], 0.7)
        self.assertIn("<svg", pathlib.Path(self.dir / "scaling.svg").read_text(encoding="utf-8"))
        self.assertEqual([p.name for p in self.dir.glob("orbweaver-lab-*")], [], "what it made is gone")

    def test_what_cannot_be_run_is_refused(self):
        self.refused(ring.INVALID_INPUT, ["--latency"], "lab", "scaling", "--latency", "0s")
        self.refused(ring.INVALID_SETTING, ["--seconds"], "lab", "scaling", "--seconds", 1)
        self.refused(ring.INVALID_SETTING, ["--fetches"], "lab", "scaling", "--fetches", 0)
        self.refused(ring.INVALID_SETTING, ["--dir"], "lab", "scaling", "--dir", self.dir / "none")
