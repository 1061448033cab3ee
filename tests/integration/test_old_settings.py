"""Settings under the names of the release before: taken from file, environment and flags, each with one warning."""

import json
import subprocess

import ring

END = "release 0.2.0 will not accept the old name"


class OldSettings(ring.Case):
    def test_a_crawl_takes_old_names_from_all_three_places_and_warns_once_of_each(self):
        web = self.web(hosts=2, pages=20)
        config = self.dir / "old.toml"
        config.write_text("fetches_max = 8\nendings_deny = [\"pdf\"]\n", encoding="utf-8")
        arguments = self.crawl_arguments(web, "--config", config, "--redirects-max", 7, "--sitemaps", "usual", "--peers", 2)
        code, out, err = self.run_it(*arguments, environment={"ORBWEAVER_GONE_AFTER": "9m"})
        self.assertEqual(code, 0, err)
        self.assertGreater(json.loads(out)["totals"]["fetched"], 0)
        warnings = [line for line in err.splitlines() if END in line]
        for text in (
            f"{config}:1: fetches_max is now called max_fetches",
            f"{config}:2: endings_deny is now called extensions_deny",
            "ORBWEAVER_GONE_AFTER: gone_after is now called presume_dead_after",
            "flag --redirects-max: redirects_max is now called max_redirects",
            "flag --sitemaps: sitemaps = usual is now called well_known",
        ):
            self.assertEqual(sum(text in line for line in warnings), 1, err)
        self.assertEqual(len(warnings), 5, err)

    def test_a_ring_compares_old_and_new_names_as_one(self):
        first = self.node("first", "--redirects-max", 7, *ring.QUICK)
        self.assertIn("redirects_max is now called max_redirects", first.err)
        self.refused(
            ring.MISMATCH, ["'max_redirects' is 7 in the ring and 8"], "node", "--dir", self.dir / "other",
            "--join", first.address, "--max-redirects", 8,
        )
        self.refused(
            ring.MISMATCH, ["'max_redirects' is 7 in the ring and 9"], "node", "--dir", self.dir / "old",
            "--join", first.address, "--redirects-max", 9,
        )
        second = self.node("second", "--join", first.address, "--max-redirects", 7)
        self.wait_for_members([first, second], 2)
        second.signal(15)
        second.wait()
        self.refused(
            ring.MISMATCH, ["'max_redirects' is 7 in this directory's crawl"], "node", "--dir", second.directory,
            "--redirects-max", 8,
        )

    def test_help_and_the_list_of_settings_have_the_new_names_only(self):
        for arguments in (("settings",), ("crawl", "--help"), ("node", "--help")):
            out = self.ok(*arguments).replace("-", "_")
            self.assertIn("max_redirects", out)
            self.assertNotIn("redirects_max", out)
        page = subprocess.run([ring.BINARY, "settings", "--markdown"], capture_output=True, text=True, check=True)
        self.assertIn("| `redirects_max` | `max_redirects` |", page.stdout)
        self.assertIn("| `sitemaps = usual` | `sitemaps = well_known` |", page.stdout)
        self.refused(ring.INVALID_SETTING, ["max_redirects: "], "node", "--dir", self.dir / "n", "--redirects-max", "101")
