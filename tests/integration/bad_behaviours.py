"""The behaviours of badserver.py, one function each (or one for several variants), under the path that names them."""

import functools
import gzip
import random
import socket
import struct
import zlib

BEHAVIOURS = {}  # path -> (function, outcome, link, what)
MEBIBYTE = 1 << 20
BOMB_BYTES = 1 << 26  # what a bomb would expand to


def behaviour(name, outcome, *variants):
    """Registers a function for /NAME, or for /NAME/VARIANT for each variant. It is called as f(connection, variant)."""

    def register(function):
        for variant in variants or ("",):
            path = f"/{name}/{variant}" if variant else f"/{name}"
            link = None if outcome == "fail" else "/ok/" + path[1:].replace("/", "-")
            BEHAVIOURS[path] = (function, outcome, link, (function.__doc__ or "").strip())
        return function

    return register


def page(link, title="A page", fill=0):
    text = f"<!DOCTYPE html><html><head><title>{title}</title></head><body><p><a href=\"{link}\">on</a></p>"
    return (text + "<p>filler</p>" * (fill // 13) + "</body></html>\n").encode()


# --- Connecting, slowness ------------------------------------------------------------------------------------------


@behaviour("B02", "fail")
def reset(c, _):
    """accepts, reads the request, resets"""
    c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    c.keep = False


@behaviour("B03", "fail")
def nothing(c, _):
    """closes with no byte sent"""
    c.keep = False


@behaviour("B04", "fail")
def silence(c, _):
    """never answers"""
    c.hang()


@behaviour("B05", "fail", "head", "half-body")
def head_then_silence(c, variant):
    """sends the head (and half the body), then nothing"""
    c.head("Content-Length: 2000")
    if variant == "half-body":
        c.send(page("/fake/B05", fill=1000)[:1000])
    c.hang()


@behaviour("B06", "fail")
def slow_head(c, _):
    """a head at one byte a second"""
    c.keep = False
    c.trickle(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Filler: " + b"a" * 5000)


@behaviour("B07", "fail")
def slow_body(c, _):
    """a body of 1 MiB at one byte a second"""
    c.head(f"Content-Length: {MEBIBYTE}")
    c.trickle(page("/fake/B07", fill=MEBIBYTE))


@behaviour("B08", "ok", "short", "long")
def stutter(c, variant):
    """a chunk each 50 ms: 20 (short) or 1,000 (long) of them"""
    c.head("Transfer-Encoding: chunked")
    c.chunk(page(c.link()))
    for _ in range(20 if variant == "short" else 1000):
        c.pause(0.05)
        c.chunk(b"<p>more</p>")
    c.send("0\r\n\r\n")


# --- Lengths -------------------------------------------------------------------------------------------------------


@behaviour("B09", "either")
def length_too_large(c, _):
    """says more than it sends, then closes"""
    body = page(c.link())
    c.head(f"Content-Length: {len(body) + 500}")
    c.send(body)


@behaviour("B10", "ok")
def length_too_small(c, _):
    """sends more than it says, and keeps the connection"""
    body = page(c.link())
    c.head(f"Content-Length: {len(body)}", close=False)
    c.send(body + b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n<a href='/fake/B10'>extra</a> ")
    c.pause(0.2)
    c.keep = False


@behaviour("B11", "either")
def length_negative(c, _):
    """Content-Length: -1"""
    c.head("Content-Length: -1")
    c.send(page(c.link()))


@behaviour("B12", "either", "letters", "digits-letters", "empty", "plus")
def length_rubbish(c, variant):
    """a Content-Length that is no number"""
    c.head("Content-Length: " + {"letters": "many", "digits-letters": "120abc", "empty": "", "plus": "+120"}[variant])
    c.send(page(c.link()))


@behaviour("B13", "either")
def length_huge(c, _):
    """a Content-Length beyond 64 bits"""
    c.head("Content-Length: 36893488147419103232")
    c.send(page(c.link()))


@behaviour("B14", "ok")
def length_twice_equal(c, _):
    """the same Content-Length twice"""
    body = page(c.link())
    c.head(f"Content-Length: {len(body)}", f"Content-Length: {len(body)}")
    c.send(body)


@behaviour("B15", "either", "two", "list")
def length_twice_different(c, variant):
    """two Content-Lengths that differ"""
    body = page(c.link())
    if variant == "two":
        c.head(f"Content-Length: {len(body)}", f"Content-Length: {len(body) + 7}")
    else:
        c.head(f"Content-Length: {len(body)}, {len(body) + 7}")
    c.send(body)


# --- Chunks --------------------------------------------------------------------------------------------------------


@behaviour("B16", "ok")
def chunked_and_length(c, _):
    """Transfer-Encoding: chunked and a Content-Length: chunked wins"""
    c.head("Transfer-Encoding: chunked", "Content-Length: 5")
    c.chunk(page(c.link()))
    c.send("0\r\n\r\n")


@behaviour("B17", "either")
def chunk_size_rubbish(c, _):
    """a chunk size that is not hexadecimal"""
    c.head("Transfer-Encoding: chunked")
    c.chunk(page(c.link()))
    c.send("zz\r\n<a href='/fake/B17'>x</a>\r\n0\r\n\r\n")


@behaviour("B18", "fail")
def chunk_size_overflow(c, _):
    """a chunk size of more than 64 bits"""
    c.head("Transfer-Encoding: chunked")
    c.send("1" + "0" * 20 + "\r\n<a href='/fake/B18'>x</a>\r\n0\r\n\r\n")


@behaviour("B19", "either")
def chunks_cut(c, _):
    """closed before the last chunk"""
    c.head("Transfer-Encoding: chunked")
    c.chunk(page(c.link()))


@behaviour("B20", "ok", "trailers")
@behaviour("B20", "either", "trailers-without-cr")
def chunk_trailers(c, variant):
    """header fields after the last chunk"""
    c.head("Transfer-Encoding: chunked", "Trailer: X-One")
    c.chunk(page(c.link()))
    end = "\n" if variant == "trailers-without-cr" else "\r\n"
    c.send(f"0\r\nX-One: <a href='/fake/B20'>x</a>{end}X-Two: 2{end}{end}")


@behaviour("B21", "ok", "zeros", "extensions")
def chunk_oddities(c, variant):
    """binary zeros in chunks; chunk extensions"""
    c.head("Transfer-Encoding: chunked")
    body = page(c.link())
    if variant == "zeros":
        c.chunk(body + b"\0" * 100)
        c.chunk(b"\0" * 100)
    else:
        c.chunk(body[:20], ";name=value")
        c.chunk(body[20:], ";quoted=\"a b\"")
    c.send("0\r\n\r\n")


@behaviour("B22", "either", "chunked-identity", "gzip-chunked", "chunked-twice", "unknown")
def transfer_encodings(c, variant):
    """transfer encodings that few servers use"""
    body = page(c.link())
    if variant == "unknown":
        c.head("Transfer-Encoding: rot13")
        return c.send(body)
    if variant == "chunked-twice":
        inner = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        c.head("Transfer-Encoding: chunked, chunked")
        c.chunk(inner)
    elif variant == "gzip-chunked":
        c.head("Transfer-Encoding: gzip, chunked")
        c.chunk(gzip.compress(body))
    else:
        c.head("Transfer-Encoding: chunked, identity")
        c.chunk(body)
    return c.send("0\r\n\r\n")


# --- Content codings -----------------------------------------------------------------------------------------------


def raw_deflate(data):
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def stored_brotli(data):
    """RFC 7932: window bits 16, one uncompressed meta-block of at most 65,536 bytes, an empty last one."""
    bits = (len(data) - 1) << 4 | 1 << 20
    return bits.to_bytes(3, "little") + data + b"\x03"


def stored_zstd(data):
    """RFC 8878: a frame with a 4-byte content size, single segment, one raw block that is the last."""
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data)) + (len(data) << 3 | 1).to_bytes(3, "little") + data


@behaviour("B23", "ok", "gzip", "deflate", "raw-deflate", "br", "zstd", "x-gzip")
def codings(c, variant):
    """each content coding"""
    body = page(c.link())
    pack = {
        "gzip": gzip.compress,
        "x-gzip": gzip.compress,
        "deflate": zlib.compress,
        "raw-deflate": raw_deflate,
        "br": stored_brotli,
        "zstd": stored_zstd,
    }[variant]
    c.whole(pack(body), "Content-Encoding: " + variant.replace("raw-", ""))


@behaviour("B24", "either")
def codings_nested(c, _):
    """gzip in deflate in gzip"""
    c.whole(gzip.compress(zlib.compress(gzip.compress(page(c.link())))), "Content-Encoding: gzip, deflate, gzip")


@behaviour("B25", "either", "gzip", "deflate", "br", "zstd")
def coding_lie(c, variant):
    """a coding is named and the body is plain"""
    c.whole(page(c.link()), "Content-Encoding: " + variant)


@behaviour("B26", "either", "truncated", "crc", "early-end")
def coding_broken(c, variant):
    """gzip cut off, with a wrong check sum, or closed early"""
    body = page(c.link(), fill=20000)
    packed = gzip.compress(body)
    if variant == "truncated":
        c.whole(packed[: len(packed) - 20], "Content-Encoding: gzip")
    elif variant == "crc":
        c.whole(packed[:-8] + b"\1\2\3\4" + packed[-4:], "Content-Encoding: gzip")
    else:
        c.head(f"Content-Length: {len(packed)}", "Content-Encoding: gzip")
        c.send(packed[: len(packed) // 2])


def zstd_bomb_blocks(total):
    """RLE blocks: four bytes for each 128 KiB."""
    block = (128 * 1024 << 3 | 1 << 1).to_bytes(3, "little") + b" "
    return block * (total // (128 * 1024))


@behaviour("B27", "either", "gzip", "deflate", "zstd", "gzip-in-gzip")
def bomb(c, variant):
    """a small body that expands to 64 MiB"""
    first = page(c.link())
    if variant == "zstd":
        raw = (len(first) << 3).to_bytes(3, "little") + first
        c.head("Content-Encoding: zstd")
        # No content size, a window of 1 MiB (exponent 10): descriptor 0x00, window descriptor 0x50.
        return c.send(b"\x28\xb5\x2f\xfd\x00\x50" + raw + zstd_bomb_blocks(BOMB_BYTES) + b"\x01\0\0")
    packed = bomb_bytes(variant, first)  # seconds of work, which are no part of the answer
    c.head("Content-Encoding: " + {"gzip": "gzip", "deflate": "deflate", "gzip-in-gzip": "gzip, gzip"}[variant])
    return c.send(packed)


@functools.cache
def bomb_bytes(variant, first):
    packer = zlib.compressobj(1, zlib.DEFLATED, 15 if variant == "deflate" else 31)
    outer = zlib.compressobj(1, zlib.DEFLATED, 31) if variant == "gzip-in-gzip" else None
    packed = b"".join([packer.compress(first), *(packer.compress(b" " * MEBIBYTE) for _ in range(BOMB_BYTES // MEBIBYTE)),
                       packer.flush()])  # fmt: skip
    return outer.compress(packed) + outer.flush() if outer else packed


@behaviour("B28", "ok", "extra", "members")
def gzip_oddities(c, variant):
    """a large extra field, name and comment; several members"""
    body = page(c.link())
    if variant == "members":
        packed = gzip.compress(body[:30]) + gzip.compress(body[30:])
    else:
        flags = 4 | 8 | 16  # FEXTRA, FNAME, FCOMMENT (RFC 1952)
        packed = (
            b"\x1f\x8b\x08"
            + bytes([flags])
            + b"\0\0\0\0\0\xff"
            + struct.pack("<H", 60000)
            + b"e" * 60000
            + b"n" * 5000
            + b"\0"
            + b"c" * 50000
            + b"\0"
            + raw_deflate(body)
            + struct.pack("<II", zlib.crc32(body), len(body))
        )
    c.whole(packed, "Content-Encoding: gzip")


@behaviour("B29", "ok", "none", "identity", "unknown")
def coding_unknown(c, variant):
    """Content-Encoding: none, or one that nobody knows, over a plain body"""
    c.whole(page(c.link()), "Content-Encoding: " + {"unknown": "rot13"}.get(variant, variant))


# --- Headers -------------------------------------------------------------------------------------------------------


@behaviour("B30", "either", "one-large", "many", "accumulated")
@behaviour("B30", "fail", "endless")
def large_head(c, variant):
    """a head of 100 KB in one field; of 6,000 fields; of 400 KB; without end"""
    if variant == "one-large":
        return c.whole(page(c.link()), "X-Large: " + "a" * 100_000)
    if variant == "many":
        return c.whole(page(c.link()), *[f"X-Field-{i}: {i}" for i in range(6000)])
    if variant == "accumulated":
        return c.whole(page(c.link()), *[f"X-Field-{i}: " + "a" * 4000 for i in range(100)])
    c.keep = False
    c.send("HTTP/1.1 200 OK\r\n")
    while True:
        c.send("X-Again: and again\r\n" * 500)


@behaviour("B31", "either", "nul", "no-colon", "leading-space", "8-bit", "bare-cr")
def strange_fields(c, variant):
    """header fields that break the grammar"""
    odd = {
        "nul": "X-Nul: a\0b",
        "no-colon": "this line has no colon",
        "8-bit": "X-\xe4: \xff\xfe",
        "bare-cr": "X-A: a\rX-B: b",
    }
    body = page(c.link())
    if variant == "leading-space":
        c.keep = False
        c.send(f"HTTP/1.1 200 OK\r\n X-First: a\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n")
        return c.send(body)
    return c.whole(body, odd[variant])


@behaviour("B32", "ok", "type", "location")
def folded(c, variant):
    """a header field folded over two lines (obs-fold, RFC 9112 5.2)"""
    if variant == "location":
        return c.whole(b"moved", "Location:\r\n  " + c.link(), status="302 Found")
    return c.whole(page(c.link()), "Content-Type: text/html;\r\n\tcharset=utf-8", type_="")


@behaviour("B33", "either")
def version_nine(c, _):
    """a body without any head (HTTP/0.9)"""
    c.keep = False
    c.send(page(c.link()))


STATUS_LINES = {
    "999": "HTTP/1.1 999 Denied",
    "digits": "HTTP/1.1 " + "2" * 100 + " OK",
    "negative": "HTTP/1.1 -200 OK",
    "version": "HTTP/1.2 200 OK",
    "version-9": "HTTP/9.9 200 OK",
    "no-reason": "HTTP/1.1 200",
    "rubbish": "SSH-2.0-OpenSSH_9.2",
    "zero": "HTTP/1.1 000 OK",
    "long-reason": "HTTP/1.1 200 " + "O" * 50_000,
}


@behaviour("B34", "either", *STATUS_LINES)
def status_lines(c, variant):
    """status lines that are wrong or rare"""
    c.keep = False
    body = page(c.link())
    c.send(f"{STATUS_LINES[variant]}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n")
    c.send(body)


@behaviour("B35", "ok", "continue", "early-hints", "several")
@behaviour("B35", "fail", "endless")
def informational(c, variant):
    """1xx answers before the answer; for ever"""
    hints = "HTTP/1.1 103 Early Hints\r\nLink: </fake/B35>; rel=preload\r\n\r\n"
    if variant == "endless":
        c.keep = False
        while True:
            c.send("HTTP/1.1 100 Continue\r\n\r\n" * 200)
            c.pause(0.01)
    c.send({"continue": "HTTP/1.1 100 Continue\r\n\r\n", "early-hints": hints, "several": hints * 5}[variant])
    return c.whole(page(c.link()))


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0:~\x9bU"


@behaviour("B36", "either", "none", "empty", "html-as-text", "image-as-html")
def wrong_types(c, variant):
    """no Content-Type, an empty one, a wrong one"""
    if variant == "image-as-html":
        return c.whole(PNG)
    if variant == "none":
        return c.whole(page(c.link()), type_="")
    return c.whole(page(c.link()), type_={"empty": " ", "html-as-text": "text/plain"}[variant])


@behaviour("B37", "ok")
def type_twice(c, _):
    """Content-Type twice, with different charsets"""
    c.whole(page(c.link()), "Content-Type: text/html; charset=iso-8859-1", type_="text/html; charset=utf-8")


# --- Redirects -----------------------------------------------------------------------------------------------------


@behaviour("B38", "ok", "relative", "scheme-relative", "dots", "query", "fragment", "space", "utf-8")
def redirect_forms(c, variant):
    """each way to write a Location"""
    link = c.link()
    name = link.rsplit("/", 1)[1]
    target = {
        "relative": "../ok/" + name,
        "scheme-relative": f"//{c.server.name}{link}",
        "dots": "../../x/../ok/" + name,
        "query": link + "?a=b",
        "fragment": link + "#part",
        "space": link + " with space",
        "utf-8": link + "-\xc3\xa4",
    }[variant]
    c.whole(b"moved", "Location: " + target, status="302 Found")


@behaviour("B39", "fail", "blank", "none", "two")
def redirect_nowhere(c, variant):
    """a redirect without a usable Location"""
    lines = {"blank": ["Location: "], "none": [], "two": ["Location: /fake/B39-a", "Location: /fake/B39-b"]}[variant]
    c.whole(b"moved", *lines, status="302 Found")


@behaviour("B40", "fail", "self", "pair", "chain", "growing")
def redirect_loops(c, variant):
    """to itself; in a pair; a chain of 25; a path that grows by a segment each time"""
    target = {
        "self": "/B40/self",
        "pair": "/B40-more/pair",
        "chain": "/B40-more/chain/25",
        "growing": "/B40-more/growing/a",
    }
    c.whole(b"moved", "Location: " + target[variant], status="302 Found")


def redirect_more(c):
    """The further hops of B40."""
    step = c.path[len("/B40-more/") :]
    if step == "pair":
        target = "/B40/pair"
    elif step.startswith("chain/"):
        left = int(step[6:] or 0) if step[6:].isdigit() else 0
        target = f"/B40-more/chain/{left - 1}" if left > 0 else "/ok/B40-chain"
    else:
        target = (c.path + "/a")[:4000]
    c.whole(b"moved", "Location: " + target, status="301 Moved Permanently")


@behaviour("B41", "fail", "file", "ftp", "javascript", "data", "gopher", "smb", "mailto")
def redirect_schemes(c, variant):
    """a redirect to a scheme that is not http or https"""
    target = {
        "file": "file:///etc/passwd",
        "ftp": "ftp://127.0.0.1/x",
        "javascript": "javascript:alert(1)",
        "data": "data:text/html,<a href=/fake/B41>x</a>",
        "gopher": "gopher://127.0.0.1:70/1",
        "smb": "smb://127.0.0.1/x",
        "mailto": "mailto:nobody@bad.test",
    }[variant]
    c.whole(b"moved", "Location: " + target, status="302 Found")


# --- Keep-alive, bodies --------------------------------------------------------------------------------------------


@behaviour("B45", "either", "204", "205", "304")
def no_body_status(c, variant):
    """a body after a status that has none, and the connection kept"""
    body = b"<a href='/fake/B45'>x</a>"
    reason = {"204": "No Content", "205": "Reset Content", "304": "Not Modified"}[variant]
    c.head(f"Content-Length: {len(body)}", status=f"{variant} {reason}", close=False)
    c.send(body)
    c.pause(0.2)
    c.keep = False


@behaviour("B46", "ok", "a", "b", "c")
def idle_closed(c, _):
    """answers the first request of a connection only: closes when the next one comes"""
    if c.served > 0:
        c.keep = False
        return
    c.whole(page(c.link()), close=False)


@behaviour("B47", "ok", "bytes", "response")
def unsolicited(c, variant):
    """an answer followed by bytes, or by an answer, that nobody asked for"""
    # In one write with the answer: bytes that come after the next request was sent cannot be told from its answer.
    body = page(c.link())
    extra = page("/fake/B47")
    c.head(f"Content-Length: {len(body)}", close=False)
    c.send(
        (body if isinstance(body, bytes) else body.encode("latin-1"))
        + (
            b"rubbish\r\n" * 20
            if variant == "bytes"
            else b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(extra), extra)
        )
    )
    c.pause(0.2)


@behaviour("B48", "ok", "close-ignored", "max-one")
def keep_alive_words(c, variant):
    """says Connection: close and stays open; says Keep-Alive: max=1 and closes"""
    if variant == "close-ignored":
        c.whole(page(c.link()), "Connection: close", close=False)
        return c.hang()
    c.whole(page(c.link()), "Keep-Alive: timeout=1, max=1", "Connection: keep-alive", close=False)
    c.keep = False
    return None


@behaviour("B57", "either", "repeating", "random", "chunked", "one-line")
def endless_body(c, variant):
    """a body that does not end"""
    c.head(*(["Transfer-Encoding: chunked"] if variant == "chunked" else []))
    first = page(c.link())
    c.chunk(first) if variant == "chunked" else c.send(first)
    block = {"repeating": b"<p>again</p>\n" * 5000, "one-line": b"a" * 65536, "chunked": b"<p>more</p>\n" * 5000}.get(
        variant
    )
    while True:
        data = block or random.randbytes(65536)
        c.chunk(data) if variant == "chunked" else c.send(data)


@behaviour("B58", "either", "head-body", "empty")
def body_oddities(c, variant):
    """HEAD answered with a body; GET answered 200 with none"""
    if variant == "empty":
        return c.whole(b"", close=False)
    c.whole(page(c.link()), close=False)  # to HEAD too
    return None
