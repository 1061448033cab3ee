#!/usr/bin/env python3
"""Every command of README.md runs as it stands there, and its sessions show what is printed.

    tests/docs/readme.py [--list]     run them, from the root of the tree; 1 when one fails. --list prints them
    tests/docs/readme.py --self-test  a wrong command and a wrong session are noticed

A block ```sh is commands, one per line. A block ```console is a session: "$ command", then lines of what it prints, of
which each must be there (any number is as good as another; "..." stands for lines left out). All run in one bash, in
order, with HOME elsewhere. What they leave in the tree is removed; a file that they would overwrite is an error before
anything runs. example.org is served by this script, over TLS, behind a proxy on loopback: no request leaves the machine.
Needs build/release to be built (deploy/quickstart and deploy/build then take seconds), and openssl.
"""
import argparse
import http.server
import os
import pathlib
import re
import shutil
import signal
import socketserver
import ssl
import subprocess
import sys
import tempfile
import textwrap
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS_MAX = 600
MARK = "@@readme@@"
OUTPUTS = ("my-crawl", "crawl-quickstart", "crawl-example.org", "ring.key", "peer-a", "peer-b")


def commands_of(markdown):
    """(line, command, lines of output that are shown) of each command."""
    found = []
    for block in re.finditer(r"^ *```(sh|console)\n(.*?)^ *```$", markdown, re.DOTALL | re.MULTILINE):
        first = markdown.count("\n", 0, block.start(2)) + 1
        for at, line in enumerate(textwrap.dedent(block.group(2)).split("\n")[:-1]):
            if found and found[-1][1].endswith("\\"):
                found[-1][1] = found[-1][1][:-1] + line.strip()
            elif block.group(1) == "console" and not line.startswith("$ "):
                if found and line.strip() and line.strip() != "...":
                    found[-1][2].append(line)
            elif line.strip() and not line.startswith("#"):
                found.append([first + at, line.removeprefix("$ ").strip(), []])
    return found


def shape(line):
    """A line without its numbers, its paths' beginnings and its spaces."""
    return re.sub(r"\s+", " ", re.sub(r"[0-9][0-9,.]*(?:e-?[0-9]+)?", "N", line)).strip()


class Page(http.server.BaseHTTPRequestHandler):
    """A proxy, and the web behind it: the same pages for each host."""
    protocol_version = "HTTP/1.1"
    context = None

    def do_CONNECT(self):
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        try:
            inner = self.context.wrap_socket(self.request, server_side=True)
            handler = type("Inner", (Page,), {"context": None})
            handler(inner, self.client_address, self.server)
        except (ssl.SSLError, OSError):
            pass

    def do_GET(self):
        path = re.sub(r"^https?://[^/]+", "", self.path)
        pages = {"/": '<title>Start</title><a href="/a">a</a> <a href="/b">b</a> <a href="/gone">gone</a>',
                 "/a": '<title>A</title><a href="/">start</a>', "/b": '<title>B</title><a href="/a">a</a>'}
        body = pages.get(path, "not here").encode()
        self.send_response(200 if path in pages else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that went away


def serve(directory):
    key, cert = directory / "key.pem", directory / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=example.org", "-addext", "subjectAltName=DNS:example.org",
                    "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    Page.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    Page.context.load_cert_chain(cert, key)
    server = Server(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, {
        "ORBWEAVER_PROXY": f"http://127.0.0.1:{server.server_address[1]}",
        "ORBWEAVER_ALLOW_PRIVATE": "127.0.0.0/8",
        "ORBWEAVER_CA_FILE": str(cert),
        "ORBWEAVER_DELAY": "0s",
        "ORBWEAVER_RETRY_DELAY": "100ms",
    }


def script_of(commands, web):
    """One bash script; a mark after each command says which it was and how it ended."""
    out = ["exec 2>&1"]
    for number, (_, command, _) in enumerate(commands):
        # quickstart's own sample web is not behind the proxy
        own_web = command == "deploy/quickstart"
        for name, value in web.items():
            out.append(f"unset {name}" if own_web else f"export {name}='{value}'")
        out += [command, f'echo "{MARK} {number} $?"', f"[ $? = 0 ] || exit 1"]
    return "\n".join(out) + "\n"


def run(commands, web, home):
    """(exit code, output) of each command that was begun."""
    ccache = os.environ.get("CCACHE_DIR", os.path.expanduser("~/.cache/ccache"))
    process = subprocess.Popen(["bash", "-c", script_of(commands, web)], cwd=ROOT, text=True, errors="replace",
                               env=dict(os.environ, HOME=str(home), CCACHE_DIR=ccache),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    timer = threading.Timer(SECONDS_MAX, lambda: os.killpg(process.pid, signal.SIGKILL))
    timer.start()
    results, lines = [], []
    try:
        for line in process.stdout:
            mark = re.search(MARK + r" (\d+) (\d+)$", line.rstrip("\n"))
            if not mark:
                lines.append(line.rstrip("\n"))
                continue
            results.append((int(mark.group(2)), lines))
            lines = []
            if int(mark.group(2)) != 0 or len(results) == len(commands):
                break
    finally:
        timer.cancel()
        try:
            os.killpg(process.pid, signal.SIGTERM)  # what runs in the background still
            process.wait(20)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.stdout.close()
        process.wait()
    if len(results) < len(commands) and (not results or results[-1][0] == 0):
        results.append((-1, lines))
    return results


def faults(commands, results):
    found = []
    for (line, command, shown), (code, output) in zip(commands, results):
        if code != 0:
            end = "\n".join("    | " + text for text in output[-15:])
            found.append(f"README.md:{line}: {command}: exit code {code}\n{end}")
            continue
        shapes = {shape(text) for text in output}
        for text in shown:
            if shape(text) not in shapes:
                near = "\n".join("    | " + each for each in output[-25:])
                found.append(f"README.md:{line}: {command}: does not print '{text.strip()}'\n{near}")
                break
    if len(results) < len(commands):
        found.append(f"{len(commands) - len(results)} commands after it were not tried")
    return found


def self_test():
    samples = [
        ("```sh\ntrue\n```\n", 0), ("```sh\ntrue\nfalse\ntrue\n```\n", 2), ("```\nfalse\n```\n", 0),
        ("```console\n$ echo 3 pages of 1,024\n7 pages of 12\n```\n", 0),
        ("```console\n$ echo 3 pages\n3 files\n```\n", 1),
        ("```console\n$ echo a; echo b\n...\nb\n```\n", 0), ("```sh\nexport X=1\ntest \\\n  $X = 1\n```\n", 0),
        ("```sh\nsleep 60 &\n```\n", 0), ("```sh\nexit 0\n```\n", 1), ("1. a\n\n   ```sh\n   false\n   ```\n", 1),
    ]
    wrong = 0
    with tempfile.TemporaryDirectory() as home:
        for text, expected in samples:
            commands = commands_of(text)
            found = faults(commands, run(commands, {}, home) if commands else [])
            if len(found) != expected:
                wrong += 1
                print(f"{text!r}: expected {expected} faults, found {found}")
    print(f"readme, self-test: {len(samples) - wrong} of {len(samples)} samples right")
    return wrong == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return 0 if self_test() else 1
    commands = commands_of((ROOT / "README.md").read_text(encoding="utf-8"))
    if arguments.list:
        print("\n".join(f"{line}: {command}" for line, command, _ in commands))
        return 0
    if not commands:
        sys.exit("README.md has no commands")
    before = {path.name for path in ROOT.iterdir()}
    there = sorted(before & set(OUTPUTS))
    if there:
        sys.exit(f"error: {', '.join(there)} in {ROOT} would be overwritten: move it away")
    with tempfile.TemporaryDirectory() as scratch:
        home = pathlib.Path(scratch) / "home"
        home.mkdir()
        server, web = serve(pathlib.Path(scratch))
        try:
            found = faults(commands, run(commands, web, home))
        finally:
            server.shutdown()
            left = {path.name for path in ROOT.iterdir()} - before
            for name in left & set(OUTPUTS):
                path = ROOT / name
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    found += [f"{name} is left in the tree: add it to OUTPUTS" for name in sorted(left - set(OUTPUTS))]
    for fault in found:
        print(fault)
    print(f"readme: {len(commands)} commands, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
