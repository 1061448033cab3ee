"""The web that the chaos tests crawl: hosts with pages made from a seed, served by real nginx in namespaces.

From one seed page everything can be reached. A page with an odd number has one link to it in the whole web, half of
them on another host: a URL that is lost anywhere is a page that is never asked for. Some pages are behind redirects,
some links are dead, some are forbidden by robots.txt, some hosts ask for a second between requests, some are slow to
answer.
"""

import collections
import dataclasses
import json
import pathlib
import random
import socket
import shutil

import netns
import ring

HOSTS = 16
SERVERS = 2  # nginx processes, each in a namespace of its own, with half of the hosts' addresses each
PAGES = 46  # of a host
CRAWL_DELAY = 1.0  # seconds, of PATIENT hosts
PATIENT = (13, 14, 15)  # hosts whose robots.txt asks for CRAWL_DELAY; they have fewer pages
PAGES_OF_FEW = 14
# Hosts whose pages take a second, so that something is under way at any moment: nginx sends the first second's share at
# once, and the rest a second later. They have fewer pages, too.
SLOW = (1, 4, 7, 10)
SLOW_RATE = 8 * 1024  # bytes a second
SLOW_BYTES = 10600  # of a page there
SLOW_SECONDS = 1.0
FORBIDDEN = "/private/"


@dataclasses.dataclass(frozen=True)
class Request:
    """One line of the servers' logs."""

    at: float  # when it came, seconds since 1970 by the server's clock
    source: str  # the address it came from
    host: str
    path: str
    status: int

    @property
    def url(self):
        return f"http://{self.host}{self.path}"

    @property
    def is_robots(self):
        return self.path == "/robots.txt"


def host_name(number):
    return f"host-{number:02}.chaos.test"


class Site:
    """Which page links to which: a pure function of the seed."""

    def __init__(self, seed):
        self.seed = seed
        self.hosts = [host_name(i) for i in range(HOSTS)]
        self.links = collections.defaultdict(list)  # page's URL -> URLs; only pages that are files
        self.redirects = {}  # URL -> URL
        self.start = self.page(0, 0)
        draw = random.Random(seed)
        for host in range(HOSTS):
            if host > 0:
                self.links[self.page((host - 1) // 2, 0)].append(self.page(host, 0))
        for host in range(HOSTS):
            for number in range(1, self.count(host)):
                self._add(draw, host, number)
        self.expected = self._reachable()

    @staticmethod
    def count(host):
        return PAGES_OF_FEW if host in PATIENT or host in SLOW else PAGES

    def page(self, host, number):
        return f"http://{self.hosts[host]}/" + (f"p/{number}.html" if number else "")

    def _add(self, draw, host, number):
        """One page: the one link to it, from a page with a lesser number, and its own links that lead nowhere new."""
        parent_host = host if draw.random() < 0.5 else draw.randrange(HOSTS)
        parent = min(draw.randrange(number // 3, number), self.count(parent_host) - 1)
        target = self.page(host, number)
        if number % 11 == 5:
            moved = f"http://{self.hosts[host]}/moved/{number}.html"
            self.redirects[moved] = target
            target = moved
        self.links[self.page(parent_host, parent)].append(target)
        own = self.links[self.page(host, number)]
        for _ in range(2):  # pages that others link too
            other = draw.randrange(HOSTS)
            own.append(self.page(other, draw.randrange(self.count(other)) // 2 * 2))
        if number % 13 == 7:
            own.append(f"http://{self.hosts[draw.randrange(HOSTS)]}/gone/{number}.html")
        if number % 9 == 4:
            own.append(f"http://{self.hosts[draw.randrange(HOSTS // 2) * 2]}{FORBIDDEN}{number}.html")

    def robots_txt(self, host):
        """None: this host has none."""
        if host in PATIENT:
            return f"User-agent: *\nCrawl-delay: {CRAWL_DELAY:.0f}\nDisallow: {FORBIDDEN}\n"
        return f"User-agent: *\nDisallow: {FORBIDDEN}\n" if host % 2 == 0 else None

    def allowed(self, url):
        return FORBIDDEN not in url

    def seconds_of_an_answer(self, host):
        return SLOW_SECONDS if self.hosts.index(host) in SLOW else 0.0

    def crawl_delays(self):
        return {self.hosts[host]: CRAWL_DELAY for host in PATIENT}

    def _reachable(self):
        """The URLs that a right crawler asks for, each once: by breadth-first search from the seed page."""
        found = {self.start}
        waiting = collections.deque(found)
        while waiting:
            url = waiting.popleft()
            links = [self.redirects[url]] if url in self.redirects else self.links.get(url, [])
            for link in links:
                if link not in found and self.allowed(link):
                    found.add(link)
                    waiting.append(link)
        pages = {self.page(host, number) for host in range(HOSTS) for number in range(self.count(host))}
        if not pages <= found:
            raise AssertionError(f"the web of seed {self.seed} has {len(pages - found)} pages that no link leads to")
        return found

    def write(self, root):
        """The files of all hosts, one directory each."""
        filler = "<p>" + "Nothing in this sentence matters to anybody who reads it. " * 8 + "</p>\n"
        for host, name in enumerate(self.hosts):
            for number in range(self.count(host)):
                path = root / name / (f"p/{number}.html" if number else "index.html")
                path.parent.mkdir(parents=True, exist_ok=True)
                links = "".join(f'<p><a href="{link}">{link}</a></p>\n' for link in self.links[self.page(host, number)])
                text = f"<!DOCTYPE html>\n<title>{name} {number}</title>\n<body>\n{links}{filler * (number % 4 + 1)}"
                if host in SLOW:
                    text += "<p>" + "." * max(0, SLOW_BYTES - len(text)) + "</p>\n"
                path.write_text(text + "</body>\n", encoding="utf-8")
            robots = self.robots_txt(host)
            if robots:
                (root / name / "robots.txt").write_text(robots, encoding="utf-8")


class Web:
    """The site on running servers, one log each."""

    def __init__(self, site, net, directory):
        self.site = site
        self.directory = pathlib.Path(directory) / "web"
        self.directory.mkdir()
        self.address = {name: f"{netns.WEB_SUBNET}.1.{i + 1}" for i, name in enumerate(site.hosts)}
        self.logs = []
        self.servers = []
        self.lines = {}  # log -> (bytes read, lines in them)
        site.write(self.directory / "files")
        for server in range(SERVERS):
            names = [name for i, name in enumerate(site.hosts) if i % SERVERS == server]
            self._serve(net, server, names)

    def _serve(self, net, server, names):
        nginx = shutil.which("nginx", path="/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin")
        place = self.directory / f"nginx{server}"
        place.mkdir()
        log = place / "access.log"
        log.touch()
        config = place / "nginx.conf"
        config.write_text(self._config(place, log, names), encoding="utf-8")
        space = net.add_web(server, [self.address[name] for name in names])
        command = [nginx, "-e", place / "error.log", "-p", place, "-c", config]
        process = ring.Process(netns.command_in(space, *command), place, "nginx")
        self.servers.append(process)
        self.logs.append(log)

        def answers():
            with netns.inside(space):
                with socket.socket() as probe:
                    return not process.running() or probe.connect_ex((self.address[names[0]], 80)) == 0

        ring.wait_until("nginx answers", answers, 20)
        if not process.running():
            raise netns.NetError("nginx ended: " + process.err + (place / "error.log").read_text(encoding="utf-8"))

    def _config(self, place, log, names):
        """One process, which ends with its parent. A line a request, written at once; its time is when it was begun."""
        slow = {self.site.hosts[i] for i in SLOW}
        servers = "".join(
            f"  server {{ listen {self.address[name]}:80; server_name {name}; root {self.directory}/files/{name};\n"
            f"    location /moved/ {{ rewrite ^/moved/(.*)$ /p/$1 redirect; }}\n"
            f"    {f'limit_rate {SLOW_RATE};' if name in slow else ''} }}\n"
            for name in names
        )
        temporary = "".join(
            f"  {kind}_temp_path {place}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        return f"""daemon off;
master_process off;
pid {place}/nginx.pid;
error_log {place}/error.log warn;
events {{ worker_connections 512; }}
http {{
{temporary}  default_type text/html;
  types {{ text/html html; text/plain txt; }}
  log_format chaos escape=json '{{"ended":$msec,"took":$request_time,"from":"$remote_addr","host":"$host",'
    '"path":"$request_uri","status":$status}}';
  access_log {log} chaos;
  tcp_nodelay on; keepalive_timeout 60; keepalive_requests 100000;
{servers}}}
"""

    def requests(self):
        """All requests so far, in the order in which they came. Times are whole milliseconds."""
        found = []
        for log in self.logs:
            for line in log.read_text(encoding="utf-8").splitlines():
                told = json.loads(line)
                at = round(told["ended"] - told["took"], 3)
                found.append(Request(at, told["from"], told["host"], told["path"], told["status"]))
        return sorted(found, key=lambda request: request.at)

    def count(self):
        """How many requests ended so far: cheap."""
        for log in self.logs:
            done, lines = self.lines.get(log, (0, 0))
            with open(log, "rb") as file:
                file.seek(done)
                text = file.read()
            self.lines[log] = (done + len(text), lines + text.count(b"\n"))
        return sum(lines for _, lines in self.lines.values())

    def stop(self):
        for server in self.servers:
            server.kill()
