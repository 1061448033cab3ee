"""Servers whose TLS is at fault, and one that speaks HTTP/2 and breaks it: a behaviour for each host name.

The certificates are made at run time by the openssl command, in the test's directory. Which behaviour is meant comes
from the name that the client asks for (SNI), so no request needs to be decoded. HTTP/2 frames are made by hand (RFC
9113): what is sent is wrong on purpose, which no library would let through.
"""

import contextlib
import pathlib
import socket
import ssl
import struct
import subprocess
import threading

PAGE = b"<!DOCTYPE html><html><head><title>A page</title></head><body><p>secure</p></body></html>\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(PAGE), PAGE)


def openssl(directory, *arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], cwd=directory, capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"openssl {arguments[0]}: {done.stderr.decode()}")


class Authority:
    """A root, an authority under it, and the certificates they give out."""

    def __init__(self, directory):
        self.dir = pathlib.Path(directory) / "certificates"
        self.dir.mkdir()
        (self.dir / "ca.cnf").write_text("basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n")
        self.key("root")
        self.self_signed("root", "Test root", ca=True)
        self.key("other")
        self.self_signed("other", "Other root", ca=True)
        self.key("middle")
        self.issue("middle", "root", "Middle authority", extensions="ca.cnf")
        self.file = self.dir / "root.pem"

    def key(self, name):
        openssl(self.dir, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{name}.key")

    def self_signed(self, name, common, ca=False):
        more = ["-addext", "basicConstraints=critical,CA:TRUE"] if ca else ["-addext", f"subjectAltName=DNS:{common}"]
        openssl(
            self.dir, "req", "-x509", "-new", "-key", f"{name}.key", "-days", "30", "-subj", f"/CN={common}",
            "-out", f"{name}.pem", *more,
        )  # fmt: skip

    def issue(self, name, by, common, extensions=None, days=30, digest="sha256"):
        if extensions is None:
            extensions = f"{name}.cnf"
            (self.dir / extensions).write_text(f"subjectAltName=DNS:{common}\n")
        openssl(self.dir, "req", "-new", "-key", f"{name}.key", "-subj", f"/CN={common}", "-out", f"{name}.csr")
        openssl(
            self.dir, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{by}.pem", "-CAkey", f"{by}.key", "-CAcreateserial",
            "-days", str(days), "-extfile", extensions, f"-{digest}", "-out", f"{name}.pem",
        )  # fmt: skip

    def context(self, name, chain=()):
        """A server's, with `name`'s certificate and those of `chain` behind it."""
        whole = self.dir / f"{name}.chain.pem"
        whole.write_text("".join((self.dir / f"{n}.pem").read_text() for n in (name, *chain)))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(whole, self.dir / f"{name}.key")
        return context

    def good(self, host, name=None, **options):
        name = name or host.split(".")[0]
        self.key(name)
        self.issue(name, "root", host, **options)
        return self.context(name)


class TlsServer:
    """Accepts on one port; the behaviour is that of the host asked for. `contexts`: {host: (context, serve)}."""

    def __init__(self, case, contexts, fallback):
        self.contexts = contexts
        self.asked = []  # hosts whose handshake was begun
        self.served = []  # hosts that got as far as a request
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.fallback = fallback
        fallback.sni_callback = self._choose
        self.over = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()
        case.addCleanup(self.close)

    def _choose(self, sock, name, _context):
        name = name or ""
        self.asked.append(name)
        sock.chosen = name
        if name == "no-sni.tls.test":
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        if name in self.contexts:
            sock.context = self.contexts[name][0]
        return None

    def _run(self):
        while not self.over.is_set():
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, raw):
        raw.settimeout(20)
        try:
            with self.fallback.wrap_socket(raw, server_side=True) as sock:
                host = getattr(sock, "chosen", "")
                serve = self.contexts.get(host, (None, whole))[1]
                serve(self, sock, host)
        except (OSError, ValueError):
            pass
        finally:
            with contextlib.suppress(OSError):
                raw.close()

    def close(self):
        self.over.set()
        self.listener.close()

    def url(self, host, path="/"):
        return f"https://{host}:{self.port}{path}"

    @property
    def reach(self):
        return ["--resolve", f"*:{self.port}:127.0.0.1", "--allow-private", "127.0.0.1/32"]


def read_head(sock):
    head = b""
    while b"\r\n\r\n" not in head:
        got = sock.recv(4096)
        if not got:
            return b""
        head += got
    return head


def whole(server, sock, host):
    """Answers each request of a connection."""
    while read_head(sock):
        server.served.append(host)
        sock.sendall(ANSWER)


def cut_off(framed):
    """Ends the connection without TLS's own end, after an answer that tells its length, or not."""

    def serve(server, sock, host):
        read_head(sock)
        server.served.append(host)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
        sock.sendall(head + (b"Content-Length: %d\r\n" % len(PAGE) if framed else b"") + b"\r\n" + PAGE)
        socket.socket(fileno=sock.detach()).close()

    return serve


# --- HTTP/2 ---------------------------------------------------------------------------------------------------------

DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """HPACK: a literal header field without indexing, plain strings (RFC 7541, 6.2.2); short ones only."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


STATUS_200 = b"\x88"  # HPACK's static table
STATUS_405 = b"\x08\x03405"
HTML = literal(b"content-type", b"text/html")


class PlainServer:
    """The same behaviours without TLS."""

    def __init__(self, case, serve):
        self.served = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.reach = ["--allow-private", "127.0.0.0/8", "--resolve", f"*:{self.port}:127.0.0.1"]
        self.serve = serve
        threading.Thread(target=self._run, daemon=True).start()
        case.addCleanup(self.listener.close)

    def _run(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        sock.settimeout(20)
        with sock:
            try:
                self.serve(self, sock, "plain")
            except (OSError, ValueError):
                pass  # the client went


def h2(behave):
    """Reads frames up to the request's headers, then behaves; goes on until the client goes."""

    def serve(server, sock, host):
        preface = b""
        while len(preface) < 24:
            got = sock.recv(24 - len(preface))
            if not got:
                return
            preface += got
        if not preface.startswith(b"PRI * HTTP/2.0"):
            read_head(sock)
            server.served.append(host + " by HTTP/1")
            sock.sendall(ANSWER)
            return
        if behave is refuse_preface:
            sock.sendall(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
            server.served.append(host)
            return
        sock.sendall(frame(SETTINGS, 0, 0))
        while True:
            kind, stream = read_frame(sock)
            if kind is None:
                return
            if kind == SETTINGS:
                sock.sendall(frame(SETTINGS, ACK, 0))
            if kind == HEADERS:
                server.served.append(host)
                if behave(sock, stream) == "end":
                    return

    return serve


def read_frame(sock):
    head = b""
    while len(head) < 9:
        got = sock.recv(9 - len(head))
        if not got:
            return None, 0
        head += got
    length = int.from_bytes(head[:3], "big")
    body = b""
    while len(body) < length:
        got = sock.recv(length - len(body))
        if not got:
            return None, 0
        body += got
    ack = head[3] == SETTINGS and head[4] & ACK
    return (-1 if ack else head[3]), int.from_bytes(head[5:9], "big") & 0x7FFFFFFF


def h2_page(sock, stream):
    sock.sendall(frame(HEADERS, END_HEADERS, stream, STATUS_200 + HTML) + frame(DATA, END_STREAM, stream, PAGE))


def h2_goaway(sock, stream):
    """Half a body, then GOAWAY for all streams, and the end."""
    half = frame(HEADERS, END_HEADERS, stream, STATUS_200 + HTML) + frame(DATA, 0, stream, PAGE[:20])
    sock.sendall(half + frame(GOAWAY, 0, 0, struct.pack(">II", 0, 2)))
    return "end"


def h2_goaway_after(sock, stream):
    """A whole answer, and GOAWAY: nothing is lost."""
    sock.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", stream, 0)))
    h2_page(sock, stream)


def h2_reset(sock, stream):
    half = frame(HEADERS, END_HEADERS, stream, STATUS_200 + HTML) + frame(DATA, 0, stream, PAGE[:20])
    sock.sendall(half + frame(RST_STREAM, 0, stream, struct.pack(">I", 2)))


def h2_reset_at_once(sock, stream):
    sock.sendall(frame(RST_STREAM, 0, stream, struct.pack(">I", 2)))


def h2_push(sock, stream):
    """Promises a page that nobody asked for, though pushes are off (a connection error), then answers."""
    promise = struct.pack(">I", 2) + b"\x82\x84\x87" + literal(b":authority", b"push.h2.test")
    sock.sendall(frame(PUSH_PROMISE, END_HEADERS, stream, promise))
    h2_page(sock, stream)


def h2_bad_frame(sock, stream):
    sock.sendall(frame(HEADERS, END_HEADERS, stream, b"\xff\xff\xff\xff\xff"))


def h2_huge_frame(sock, stream):
    sock.sendall(frame(HEADERS, END_HEADERS, stream, STATUS_200 + HTML) + b"\xff\xff\xff\x00\x00" + struct.pack(">I", stream))


def h2_endless_headers(sock, stream):
    """CONTINUATION for ever."""
    sock.sendall(frame(HEADERS, 0, stream, STATUS_200))
    field = literal(b"x-again", b"and again" * 10) * 100
    while True:
        sock.sendall(frame(CONTINUATION, 0, stream, field))


def h2_pings(sock, stream):
    """Thousands of PINGs before the answer."""
    for _ in range(20):
        sock.sendall(frame(PING, 0, 0, b"12345678") * 500)
    h2_page(sock, stream)


def refuse_preface(_sock, _stream):
    """What a server does that agreed to HTTP/2 and does not speak it."""


H2 = {
    "fine": h2_page,
    "goaway": h2_goaway,
    "goaway-after": h2_goaway_after,
    "reset": h2_reset,
    "reset-at-once": h2_reset_at_once,
    "push": h2_push,
    "hpack": h2_bad_frame,
    "huge": h2_huge_frame,
    "endless": h2_endless_headers,
    "pings": h2_pings,
    "preface": refuse_preface,
}
