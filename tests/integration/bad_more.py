"""More behaviours of badserver.py: redirects that lead elsewhere, statuses, traps, cookies, ranges."""

import time
from email.utils import formatdate

from bad_behaviours import BEHAVIOURS, behaviour, page

# Hosts of the same server: one that welcomes crawlers, one whose robots.txt does not.
OPEN_HOST, CLOSED_HOST = "b42-open.bad.test", "b42-closed.bad.test"
ENDLESS = "/B55-more/"  # everything below it is a page that links deeper


@behaviour("B42", "ok", "cross-host")
@behaviour("B42", "fail", "robots")
def redirect_elsewhere(c, variant):
    """a redirect to another host; to a host that allows no crawler"""
    if variant == "robots":
        target = f"http://{CLOSED_HOST}:{c.server.port}/fake/B42"
    else:
        target = f"http://{OPEN_HOST}:{c.server.port}{c.link()}"
    c.whole(b"moved", "Location: " + target, status="302 Found")


@behaviour("B43", "ok", "301", "302", "303", "307", "308", "300", "meta-refresh", "refresh-header")
def redirect_kinds(c, variant):
    """each way to send a client on"""
    if variant == "meta-refresh":
        text = f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={c.link()}"><p>Moved.'
        return c.whole(text.encode())
    if variant == "refresh-header":
        return c.whole(b"<!DOCTYPE html><p>Moved.", "Refresh: 0; url=" + c.link())
    return c.whole(b"moved", "Location: " + c.link(), status=f"{variant} Moved")


STATUSES = ["401", "403", "404", "410", "429", "429-date", "451", "500", "502", "503", "503-date", "520"]


@behaviour("B44", "fail", *STATUSES)
def statuses(c, variant):
    """an error status, some with Retry-After in seconds or as a date"""
    lines = []
    if variant in ("429", "503"):
        lines = ["Retry-After: 2"]
    elif variant.endswith("-date"):
        lines = ["Retry-After: " + formatdate(time.time() + 3, usegmt=True)]
    c.whole(b"<!DOCTYPE html><a href='/fake/B44'>x</a>", *lines, status=variant[:3] + " Sorry")


@behaviour("B55", "ok", "one-line", "tags", "links")
def large_pages(c, variant):
    """10 MB in one line; 50,000 nested tags; a million links"""
    link = f'<!DOCTYPE html><a href="{c.link()}">on</a>'.encode()
    if variant == "one-line":
        return c.whole(link + b"word " * 2_000_000)
    if variant == "tags":
        return c.whole(link + b"<div><b>" * 25_000)
    block = b"".join(b'<a href="http://elsewhere.test/%d">x</a>' % i for i in range(10_000))
    c.head("Transfer-Encoding: chunked")
    c.chunk(link)
    for _ in range(100):
        c.chunk(block)
    return c.send("0\r\n\r\n")


@behaviour("B55", "either", "calendar", "session", "path", "pages")
def endless_site(c, variant):
    """pages without end: a calendar, session ids, paths that grow, page numbers"""
    c.whole(page(ENDLESS + {"calendar": "calendar/1", "session": "session/s1/", "path": "a/", "pages": "list?page=1"}[variant]))


def endless_more(c):
    """The further pages of B55 and B56."""
    rest = c.path[len(ENDLESS) :]
    if rest.startswith("calendar/"):
        target = f"{ENDLESS}calendar/{int(rest[9:] or 0) + 1}"
    elif rest.startswith("session/s"):
        target = f"{ENDLESS}session/s{int(rest[9:].split('/')[0] or 0) + 1}/"
    elif rest.startswith("list?page="):
        target = f"{ENDLESS}list?page={int(rest[10:] or 0) + 1}"
    else:
        target = c.path + "a/"
    c.whole(page(target), close=False)


@behaviour("B59", "ok", "thousand", "large")
@behaviour("B59", "either", "wall")
def cookies(c, variant):
    """1,000 Set-Cookie fields; a cookie of 8 KB; a redirect to itself until the cookie comes back"""
    if variant == "thousand":
        return c.whole(page(c.link()), *[f"Set-Cookie: name-{i}=value-{i}; Path=/" for i in range(1000)])
    if variant == "large":
        return c.whole(page(c.link()), "Set-Cookie: large=" + "a" * 8192)
    if "seen=yes" in c.cookie:
        return c.whole(page(c.link()))
    return c.whole(b"moved", "Set-Cookie: seen=yes", "Location: /B59/wall?again", status="302 Found")


@behaviour("B62", "ok", "206")
@behaviour("B62", "fail", "416")
def ranges(c, variant):
    """206 or 416 to a request that names no range"""
    if variant == "416":
        return c.whole(b"no", "Content-Range: bytes */100", status="416 Range Not Satisfiable")
    body = page(c.link())
    return c.whole(body, f"Content-Range: bytes 0-{len(body) - 1}/{len(body)}", status="206 Partial Content")


__all__ = ["BEHAVIOURS", "CLOSED_HOST", "ENDLESS", "endless_more"]
