"""`orbweaver dashboard`, the control API with its token, and `orbweaver events`, at real peers."""

import json
import signal
import stat
import unittest
import urllib.error
import urllib.request

import ring


class ControlApi(ring.Case):
    def ask(self, told, route, body=None, token=None):
        """(status, JSON) of a request with the token that `told`, what `dashboard --json` said, has."""
        request = urllib.request.Request(told["address"] + "api/v1/" + route, data=body and json.dumps(body).encode())
        request.add_header("Authorization", "Bearer " + (told["token"] if token is None else token))
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def told(self, node):
        return json.loads(self.ok("dashboard", "--dir", node.directory, "--json"))

    @ring.about(8)
    def test_an_order_by_http_is_the_order_of_a_command(self):
        web = self.web(hosts=3, pages=300)
        a = self.node("a", "--scope", "domain", "--delay", "2s", *web.reach)
        b = self.node("b", "--join", a.address, *web.reach)
        self.wait_for_members([a, b], 2)
        self.ok("seed", "--peer", a.address, *web.seeds)
        told = self.told(a)
        self.assertEqual(told["address"], f"http://{a.status_address}/")
        code, answer = self.ask(told, "orders", {"kind": "pause", "host": "host-001.sample.test", "value": "yes"})
        self.assertEqual((code, len(answer["peers"]), answer["unreachable"]), (200, 2, []))
        listed = json.loads(self.ok("orders", "--peer", b.address, "--json"))
        self.assertEqual([(row["name"], row["value"]) for row in listed], [("pause host-001.sample.test", "yes")])
        self.ok("resume", "--peer", b.address, "--host", "host-001.sample.test")
        self.assertEqual(self.ask(told, "orders")[1]["orders"][0]["value"], "")
        code, refused = self.ask(told, "orders", {"kind": "dance"})
        self.assertEqual(code, 400)
        self.assertIn("dance", refused["error"])

    @ring.about(6)
    def test_one_peer_lets_another_leave(self):
        a = self.node("a")
        b = self.node("b", "--join", a.address)
        self.wait_for_members([a, b], 2)
        code, answer = self.ask(self.told(a), "leave", {"peer": b.id[:12]})
        self.assertEqual((code, answer), (200, {"leaving": b.id}))
        self.assertEqual(b.wait(), 0)
        code, refused = self.ask(self.told(a), "leave", {"peer": "zz"})
        self.assertEqual(code, 400)
        self.assertIn("0 members", refused["error"])

    @ring.about(4)
    def test_each_start_has_a_token_of_its_own(self):
        a = self.node("a")
        before = self.told(a)
        file = a.directory / "control-token"
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertEqual(file.read_text(encoding="utf-8").strip(), before["token"])
        self.assertEqual(self.ask(before, "peer")[0], 200)
        self.assertEqual(self.ask(before, "peer", token="")[0], 401)
        a.signal(signal.SIGINT)
        self.assertEqual(a.wait(), 0)
        self.refused(ring.UNREACHABLE, ["no peer runs"], "dashboard", "--dir", a.directory)
        a = self.node("a")
        self.assertEqual(self.ask({**self.told(a), "token": before["token"]}, "peer")[0], 401)

    @ring.about(3)
    def test_a_peer_without_the_port_says_so(self):
        a = self.node("a", "--status-listen", "off")
        self.refused(ring.UNREACHABLE, ["status_listen is off"], "dashboard", "--dir", a.directory)

    @ring.about(8)
    def test_events_tell_who_came_and_went(self):
        a = self.node("a", "--suspicion-time", "1s")
        b = self.node("b", "--join", a.address)
        self.wait_for_members([a, b], 2)
        events = [json.loads(line) for line in self.ok("events", "--dir", a.directory, "--json").splitlines()]
        self.assertTrue([e for e in events if e["event"] == "joined" and e["peer"] == b.id], events)
        follower = self.keep(ring.Process([ring.BINARY, "events", "--follow", "--peer", a.address], self.dir, "follower"))
        b.signal(signal.SIGKILL)
        b.wait()
        ring.wait_until("it is told", lambda: f"peer={b.id}" in follower.out and "state=down" in follower.out)


if __name__ == "__main__":
    unittest.main()
