"""Prometheus, alert rules and the dashboard (deploy/monitoring): Debian's Prometheus scrapes a ring of three."""

import json
import pathlib
import re
import signal
import subprocess
import urllib.parse
import urllib.request

import ring

MONITORING = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "monitoring"
RUNBOOK = MONITORING.parents[1] / "docs" / "runbook.md"


def promtool(*arguments, text=None):
    done = subprocess.run(["promtool", *map(str, arguments)], input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def metrics_in(expression):
    return set(re.findall(r"\borbweaver_[a-z_]+", expression))


def expressions():
    """(where, PromQL) of all panels of the dashboard."""
    dashboard = json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))
    return [(panel["title"], target["expr"]) for panel in dashboard["panels"] for target in panel.get("targets", [])]


def alerts():
    """(name, PromQL) of all rules, as promtool's own format has them."""
    text = (MONITORING / "alerts.yaml").read_text(encoding="utf-8")
    return [(name, text.split(f"alert: {name}\n")[1].split("labels:")[0])
            for name in re.findall(r"alert: (\w+)", text)]  # fmt: skip


class Monitoring(ring.Case):
    def prometheus(self, nodes):
        """Debian's Prometheus, on a free port, scraping these: its address."""
        port = ring.free_port()
        targets = json.dumps([node.file()["status_address"] for node in nodes])
        config = self.dir / "prometheus.yaml"
        config.write_text(
            f"global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: ['{MONITORING}/alerts.yaml']\n"
            f"scrape_configs:\n  - job_name: orbweaver\n    static_configs:\n"
            f"      - {{targets: {targets}, labels: {{ring: tested}}}}\n",
            encoding="utf-8",
        )
        self.keep(ring.Process(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.dir}/tsdb",
             f"--web.listen-address=127.0.0.1:{port}"], self.dir, "prometheus"))  # fmt: skip
        self.api = f"http://127.0.0.1:{port}/api/v1/"
        ring.wait_until("Prometheus is up", lambda: self.ask("query", query="up") is not None)

    def ask(self, what, **arguments):
        try:
            with urllib.request.urlopen(self.api + what + "?" + urllib.parse.urlencode(arguments), timeout=10) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def values(self, expression):
        return [float(row["value"][1]) for row in self.ask("query", query=expression)["result"]]

    def rules_that_are(self, state):
        return {rule["name"] for rule in self.ask("rules")["groups"][0]["rules"] if rule["state"] == state}

    @ring.about(25)
    def test_prometheus_reads_a_ring_and_its_rules_see_a_peer_go(self):
        web = self.web(hosts=20, pages=4000)
        settings = ["--scope", "domain", "--delay", "200ms", "--suspicion-time", "1s", *web.reach]
        nodes = [self.node("a", *settings)]
        nodes += [self.node(name, "--join", nodes[0].address, *web.reach) for name in "bc"]
        self.wait_for_members(nodes, 3)
        self.ok("seed", "--peer", nodes[0].address, *web.seeds)
        self.prometheus(nodes)
        ring.wait_until("all are scraped", lambda: sum(self.values('up{job="orbweaver"}')) == 3)
        ring.wait_until("pages are counted", lambda: sum(self.values("orbweaver_pages_fetched_total")) > 100)
        ring.wait_until("rates are known", lambda: self.values("rate(orbweaver_pages_fetched_total[5m])"))

        with urllib.request.urlopen(f"http://{nodes[0].file()['status_address']}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        self.assertEqual(promtool("check", "metrics", text=text), (0, ""))
        given = metrics_in(text)
        for where, expression in expressions() + alerts():
            self.assertLessEqual(metrics_in(expression), given, f"{where} asks for a metric that no peer has")
        for where, expression in expressions():
            found = self.ask("query", query=expression.replace("$ring", ".*"))
            self.assertIsNotNone(found, f"{where}: {expression}")
            self.assertTrue(found["result"], f"{where} shows nothing: {expression}")
        rules = self.ask("rules")["groups"][0]["rules"]
        self.assertEqual({rule["health"] for rule in rules}, {"ok"}, rules)
        # A rule may wait for a moment (the disk fills in the first seconds that are known); none may fire.
        self.assertEqual(self.rules_that_are("firing"), set())
        of_a_peer = {"OrbweaverPeerDoesNotAnswer", "OrbweaverPeerDown"}
        ring.wait_until("no peer is missed", lambda: not of_a_peer & self.rules_that_are("pending"))

        nodes[2].signal(signal.SIGKILL)
        nodes[2].wait()
        ring.wait_until("the alerts see it", lambda: of_a_peer <= self.rules_that_are("pending"))

    def test_each_rule_has_its_test_and_its_section_in_the_runbook(self):
        code, said = promtool("test", "rules", MONITORING / "alerts_test.yaml")
        self.assertEqual(code, 0, said)
        self.assertEqual(promtool("check", "config", MONITORING / "prometheus.yaml")[0], 0)
        runbook = RUNBOOK.read_text(encoding="utf-8")
        tests = (MONITORING / "alerts_test.yaml").read_text(encoding="utf-8")
        rules = (MONITORING / "alerts.yaml").read_text(encoding="utf-8")
        self.assertGreaterEqual(len(alerts()), 12)
        for name, _ in alerts():
            self.assertIn(f"\n## {name}\n", runbook)
            self.assertIn(f"runbook: docs/runbook.md#{name.lower()}\n", rules)
            fires = re.search(rf"alertname: {name}\n *exp_alerts:\n *- exp_labels", tests)
            stays = f"alertname: {name}, exp_alerts: []" in tests
            self.assertTrue(fires and stays, f"{name}: no test in which it fires, and one in which it does not")
