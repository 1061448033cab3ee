"""Cookies that sites set (cookies = crawl): a session that a site has begun is the crawl's, whatever becomes of the peer
that began it. Judged by the server, which counts the sessions that it had to begin."""

import signal

import misbehave
import ring

HOSTS = [f"h{i}.test" for i in range(16)]
PEER = ["--suspicion-time", "1s", "--probe-every", "200ms", "--probe-timeout", "100ms", "--wait-for-peers", "1"]


class Sessions(ring.Case):
    def setUp(self):
        super().setUp()
        self.sessions = {}  # by host: how often a request came without the cookie
        self.server = misbehave.SmallServer(self, self.answer)

    def answer(self, handler, host, path):
        name = host.split(":")[0]
        known = f"session={name}" in handler.headers.get("Cookie", "")
        fields = {}
        if not known:
            with handler.server.lock:
                self.sessions[name] = self.sessions.get(name, 0) + 1
            fields["Set_Cookie"] = f"session={name}; Path=/"
        handler.whole(b"<!DOCTYPE html><p>" + path.encode(), **fields)

    def visit(self, nodes, path):
        """Asks each host for this path."""
        self.ok("seed", "--peer", nodes[-1].address, *[self.server.url(host, path) for host in HOSTS])
        ring.wait_until("all were asked", lambda: sum(key.endswith(path) for key in self.server.requests()) == len(HOSTS))
        self.wait_for_rest(nodes)

    def peer(self, name, *more):
        return self.node(name, "--robots", "no", "--cookies", "crawl", *PEER, *self.server.reach, *more)

    def first(self, *more):
        return self.peer("a", *ring.QUICK, "--scope", "any", *more)

    def check_one_session_each(self):
        self.assertEqual(self.sessions, {host: 1 for host in HOSTS})

    @ring.about(6)
    def test_a_session_survives_a_restart_a_kill_and_the_ways_of_partitions(self):
        a = self.first()
        self.visit([a], "/1")
        self.check_one_session_each()
        a.signal(signal.SIGINT)
        self.assertEqual(a.wait(), 0)
        a = self.first()
        self.visit([a], "/2")
        a.signal(signal.SIGKILL)
        a.wait()
        a = self.first()
        self.visit([a], "/3")
        b = self.peer("b", "--join", a.address)
        self.wait_for_members([a, b], 2)
        self.visit([a, b], "/4")
        a.signal(signal.SIGTERM)  # it leaves: all of it goes to the other
        self.assertEqual(a.wait(), 0)
        self.visit([b], "/5")
        self.check_one_session_each()

    @ring.about(6)
    def test_the_copies_of_a_dead_peers_sites_have_their_cookies(self):
        a = self.first("--replicas", "2")
        b = self.peer("b", "--join", a.address)
        self.wait_for_members([a, b], 2)
        self.visit([a, b], "/1")
        ring.wait_until("all copies are made", lambda: self.own_status(a)["counts"]["copies_waiting"] == 0)
        b.signal(signal.SIGKILL)
        b.wait()
        self.visit([a], "/2")
        self.check_one_session_each()

    def test_no_cookie_is_told(self):
        a = self.first("--log-level", "debug")
        self.visit([a], "/1")
        told = self.ok("status", "--json", "--peer", a.address) + self.ok("explain", "--json", "--peer", a.address, self.server.url(HOSTS[0], "/1"))  # fmt: skip
        for text in (told, a.log(), a.err):
            self.assertNotIn("session=", text)
