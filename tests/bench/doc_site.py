#!/usr/bin/env python3
"""Debian's HTML documentation, served by nginx as several hosts on several loopback addresses: the real input of tests
and benches.

As a module: `with DocSite("full") as site:`. As a program: doc_site.py [--set full|quick] [--links] serves until it
is stopped, and prints one JSON line with seeds and the flags for `orbweaver crawl`.

Everything but the installed packages lies in one temporary directory, which is removed at the end, as is nginx (its
own, with its own configuration and log; a system-wide nginx is left alone).
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# host: (package, directory). The first address is 127.0.0.2.
SETS = {
    # About 40,000 pages on ten hosts. The packages are unpacked under build/, not installed.
    "large": {
        "libreoffice.docs.test": ("libreoffice-dev-doc", "/usr/share/doc/libreoffice/sdk"),
        "java.docs.test": ("openjdk-17-doc", "/usr/share/doc/openjdk-17-jre-headless/api"),
        "boost.docs.test": ("libboost1.81-doc", "/usr/share/doc/libboost1.81-doc/doc/html"),
        "wx.docs.test": ("wx3.2-doc", "/usr/share/doc/wx3.2-doc/html"),
        "linux.docs.test": ("linux-doc-6.1", "/usr/share/doc/linux-doc-6.1/html"),
        "postgresql.docs.test": ("postgresql-doc-15", "/usr/share/doc/postgresql-doc-15/html"),
        "llvm.docs.test": ("llvm-14-doc", "/usr/share/doc/llvm-14-doc/html"),
        "sqlite.docs.test": ("sqlite3-doc", "/usr/share/doc/sqlite3"),
        "python.docs.test": ("python3.11-doc", "/usr/share/doc/python3.11/html"),
        "git.docs.test": ("git-doc", "/usr/share/doc/git/html"),
    },
    "full": {
        "python.docs.test": ("python3.11-doc", "/usr/share/doc/python3.11/html"),
        "postgresql.docs.test": ("postgresql-doc-15", "/usr/share/doc/postgresql-doc-15/html"),
        "git.docs.test": ("git-doc", "/usr/share/doc/git/html"),
        "sqlite.docs.test": ("sqlite3-doc", "/usr/share/doc/sqlite3"),
    },
    # About 1,450 pages of 22 KB without a broken link, on four hosts.
    "bench": {
        "postgresql.docs.test": ("postgresql-doc-15", "/usr/share/doc/postgresql-doc-15/html"),
        "git.docs.test": ("git-doc", "/usr/share/doc/git/html"),
        "policy.docs.test": ("debian-policy", "/usr/share/doc/debian-policy/policy.html"),
        "reference.docs.test": ("developers-reference", "/usr/share/developers-reference"),
    },
    # Pages with styles, scripts and pictures.
    "pictures": {
        "sqlite.docs.test": ("sqlite3-doc", "/usr/share/doc/sqlite3"),
        "postgresql.docs.test": ("postgresql-doc-15", "/usr/share/doc/postgresql-doc-15/html"),
        "policy.docs.test": ("debian-policy", "/usr/share/doc/debian-policy/policy.html"),
    },
    "quick": {
        "git.docs.test": ("git-doc", "/usr/share/doc/git/html"),
        "policy.docs.test": ("debian-policy", "/usr/share/doc/debian-policy/policy.html"),
        "reference.docs.test": ("developers-reference", "/usr/share/developers-reference"),
    },
}
UNPACKED = ("large",)
START = "start.docs.test"  # the page that links every host
LOG = (
    'log_format requests escape=json \'{"host":"$host","port":$server_port,"uri":"$request_uri","status":$status,'
    '"time":$msec,"bytes":$bytes_sent,"agent":"$http_user_agent"}\';'
)


class SiteError(Exception):
    pass


def installed(package):
    query = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True, check=False
    )
    return query.stdout == "install ok installed"


def install(packages):
    """Installs what is missing; says which command does it when this user may not."""
    missing = [package for package in packages if not installed(package)]
    if not missing:
        return
    command = ["apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0:
        command = ["sudo", "-n", *command]
    print(f"==> installing {' '.join(missing)}", file=sys.stderr)
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:  # the package lists may be old or absent
            update = command[: command.index("-o")] + ["update"]
            subprocess.run(update, env=environment, capture_output=True, check=False)
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise SiteError(f"cannot install {' '.join(missing)}: {error.filename} is not there") from error
    if done.returncode != 0:
        raise SiteError(
            f"cannot install {' '.join(missing)}:\n{done.stderr.strip()}\nfix: sudo apt-get install -y "
            f"{' '.join(missing)}"
        )


def unpack(package):
    """The root of the package's files under build/; Debian's archive is asked for it once."""
    directory = os.path.join(ROOT, "build", "documentation", package)
    done = os.path.join(directory, "unpacked")
    if os.path.exists(done):
        return directory
    os.makedirs(directory, exist_ok=True)
    print(f"==> unpacking {package} under build/", file=sys.stderr)
    got = subprocess.run(["apt-get", "download", package], cwd=directory, capture_output=True, text=True, check=False)
    if got.returncode != 0:
        raise SiteError(f"cannot download {package}:\n{got.stderr.strip()}\nfix: sudo apt-get update")
    for file in os.listdir(directory):
        if file.endswith(".deb"):
            subprocess.run(["dpkg-deb", "-x", file, "."], cwd=directory, check=True)
            os.remove(os.path.join(directory, file))
    with open(done, "w", encoding="ascii"):
        return directory


def free_port(addresses):
    """A port that is free on all of them."""
    for _ in range(100):
        with socket.socket() as probe:
            probe.bind((addresses[0], 0))
            port = probe.getsockname()[1]
        try:
            for address in addresses:
                with socket.socket() as other:
                    other.bind((address, port))
        except OSError:
            continue
        return port
    raise SiteError("no port is free on all of " + ", ".join(addresses))


class DocSite:
    """A running nginx with the documentation of one set.

    links: each page's foot gets links to the other hosts, so that there are as many ways from host to host as pages.
    gzip: nginx compresses HTML for clients that take it.
    by_address: the hosts are called by their addresses, for tools that cannot be told where a name leads.
    """

    def __init__(self, which="full", links=False, gzip=False, by_address=False):
        self.address = {host: f"127.0.0.{2 + i}" for i, host in enumerate([*SETS[which], START])}
        self.start_host = START
        self.hosts = SETS[which]
        self.unpacked = which in UNPACKED
        if by_address:
            self.start_host = self.address[START]
            self.hosts = {self.address[host]: source for host, source in SETS[which].items()}
            self.address = {address: address for address in self.address.values()}
        self.links = links
        self.gzip = gzip
        self.process = None
        self.directory = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        install(
            (["nginx-light"] if not shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin") else [])
            + ([] if self.unpacked else [package for package, _ in self.hosts.values()])
        )
        if self.unpacked:
            self.hosts = {host: (package, unpack(package) + directory) for host, (package, directory) in self.hosts.items()}
        for host, (package, directory) in self.hosts.items():
            if not os.path.isdir(directory):
                raise SiteError(f"{package} is installed but has no {directory}, which {host} should serve")
        self.directory = tempfile.mkdtemp(prefix="orbweaver-docs-")
        os.chmod(self.directory, 0o755)  # nginx's workers are another user when root starts it
        self.port = free_port(sorted(set(self.address.values())))
        self.log_path = os.path.join(self.directory, "access.log")
        self.write_files()
        nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
        config = os.path.join(self.directory, "nginx.conf")
        errors = os.path.join(self.directory, "error.log")
        # Its own process group: a Ctrl-C for the script must not stop nginx before the crawls are.
        self.process = subprocess.Popen(
            [nginx, "-e", errors, "-p", self.directory, "-c", config],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.wait_until_it_answers(errors)

    def wait_until_it_answers(self, errors):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if self.process.poll() is not None:
                with open(errors, encoding="utf-8", errors="replace") as lines:
                    raise SiteError(
                        "nginx does not start: " + (lines.read().strip() or self.process.stderr.read().decode())
                    )
            try:
                socket.create_connection((self.address[self.start_host], self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SiteError("nginx does not answer within 10 s")

    def root_url(self, host):
        return f"http://{host}:{self.port}/"

    def temporary_paths(self):
        """Lines for nginx.conf: nothing is written outside the site's directory."""
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        return "".join(f"  {kind}_temp_path {self.directory}/{kind};\n" for kind in kinds)

    def write_files(self):
        start = os.path.join(self.directory, "start")
        os.mkdir(start)
        links = "".join(f'<li><a href="{self.root_url(host)}">{host}</a></li>\n' for host in self.hosts)
        with open(os.path.join(start, "index.html"), "w", encoding="utf-8") as out:
            out.write(
                f"<!DOCTYPE html>\n<title>Documentation</title><ul>\n{links}</ul>\n"
            )
        servers = [self.server(self.start_host, start, "")]
        for host, (_, directory) in self.hosts.items():
            others = "".join(
                f'<a href="{self.root_url(other)}">{other}</a> ' for other in self.address if other != host
            )
            foot = f"sub_filter '</body>' '<p>{others}</p></body>'; sub_filter_once on;" if self.links else ""
            servers.append(self.server(host, directory, foot))
        compress = "gzip on; gzip_comp_level 1; gzip_min_length 500;" if self.gzip else "gzip off;"
        with open(os.path.join(self.directory, "nginx.conf"), "w", encoding="utf-8") as out:
            out.write(f"""daemon off;
worker_processes 1;
pid {self.directory}/nginx.pid;
error_log {self.directory}/error.log warn;
events {{ worker_connections 2048; }}
http {{
{self.temporary_paths()}  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  {LOG}
  access_log {self.log_path} requests;
  sendfile on; tcp_nodelay on; keepalive_timeout 30; keepalive_requests 100000;
  server_names_hash_bucket_size 128;
  {compress}
{"".join(servers)}}}
""")

    def server(self, host, directory, more):
        return (
            f"  server {{ listen {self.address[host]}:{self.port}; server_name {host}; root {directory}; "
            f"index index.html; {more} }}\n"
        )

    def seeds(self):
        """The start page, and every host's root: with the scope `host` each host must be a seed's."""
        return [self.root_url(host) for host in [self.start_host, *self.hosts]]

    def crawl_flags(self):
        flags = ["--allow-private", "127.0.0.0/8"]
        for host, address in self.address.items():
            if host != address:
                flags += ["--resolve", f"{host}:{self.port}:{address}"]
        return flags

    def log_size(self):
        return os.path.getsize(self.log_path)

    def requests(self, since=0):
        """What was asked since the log had that size: dicts with host, uri, status, time (s), bytes, agent."""
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            log.seek(since)
            return [json.loads(line) for line in log]

    def url_of(self, request):
        return f"http://{request['host']}:{request['port']}{request['uri']}"

    def keep_to(self, processors):
        """nginx runs on these processors from now on."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as listed:
            for pid in [self.process.pid, *map(int, listed.read().split())]:
                os.sched_setaffinity(pid, set(processors))

    def nginx_cpu_seconds(self):
        """User and system time of nginx's processes so far."""
        ticks = 0
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(children, encoding="ascii") as listed:
            pids = [str(self.process.pid), *listed.read().split()]
        for pid in pids:
            with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process:
            self.process.stderr.close()
        self.process = None
        if self.directory:
            shutil.rmtree(self.directory, ignore_errors=True)
        self.directory = None


def stop_on_signals():
    """SIGTERM and SIGHUP end a script as Ctrl-C does, so that `with` blocks clean up."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--set", choices=sorted(SETS), default="full")
    parser.add_argument("--links", action="store_true", help="each page links the other hosts")
    parser.add_argument("--gzip", action="store_true", help="compress for clients that take it")
    options = parser.parse_args()
    stop_on_signals()
    try:
        with DocSite(options.set, options.links, options.gzip) as site:
            print(
                json.dumps(
                    {
                        "ready": True,
                        "port": site.port,
                        "seeds": site.seeds(),
                        "flags": site.crawl_flags(),
                        "log": site.log_path,
                    }
                ),
                flush=True,
            )
            site.process.wait()
    except SiteError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
