"""Whether the judges find what is wrong: logs made for that, each with one fault, or with something that is allowed.

A judge that calls a bad log good, or a good one bad, fails here; needs neither root nor a crawl. The outside judge's
cases are its own (outside/doctored.py).
"""

import pathlib
import sys

import judge
import website
from judge import Cause, Cut, Promise

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "outside"))
import doctored  # noqa: E402

HOST = "host-00.chaos.test"
OTHER = "host-13.chaos.test"  # asks for 1 s
A, B, C = "10.99.0.1", "10.99.0.2", "10.99.0.3"
T = 1_800_000_000.0  # all times count from here


def log(*lines):
    """Lines: (seconds, source, path, host)."""
    return [website.Request(T + at, source, host[0] if host else HOST, path, 200) for at, source, path, *host in lines]


def good():
    return [
        (0.0, A, "/robots.txt"),
        (0.5, A, "/"),
        (1.0, A, "/p/1.html"),
        (1.5, A, "/p/2.html"),
        (0.0, B, "/robots.txt", OTHER),
        (0.6, B, "/", OTHER),
        (1.7, B, "/p/1.html", OTHER),
    ]


REFERENCE = {f"http://{HOST}{p}" for p in ("/", "/p/1.html", "/p/2.html")} | {
    f"http://{OTHER}{p}" for p in ("/", "/p/1.html")
}


def promise(**more):
    more = {k: [shift(x) for x in v] if k in ("causes", "cuts") else v for k, v in more.items()}
    return Promise(0.5, {OTHER: 1.0}, **more)


def shift(span):
    """A cut or a cause, whose times count from T."""
    if isinstance(span, Cut):
        return Cut(T + span.begin, T + span.end, span.sides)
    return Cause(span.source, T + span.begin, T + span.end)


def without(path):
    return [line for line in good() if line[2] != path]


def halves(begin, end):
    return [Cut(begin, end, {A: 0, B: 1, C: 1})]


AGAIN = (3.0, B, "/p/2.html")

# (what, lines, promise, words of the problems: one for each that there must be)
CASES = [
    ("a good log", good(), promise(), []),
    ("a URL that nobody asked for", without("/p/2.html"), promise(), ["never asked for"]),
    ("a URL that the calm run did not ask for", [*good(), (3.0, A, "/private/1.html")], promise(), ["calm run"]),
    ("a page asked for twice by one peer", [*good(), (3.0, A, "/p/2.html")], promise(), ["the ring had asked for"]),
    ("a page asked for twice by two peers", [*good(), AGAIN], promise(), ["the ring had asked for"]),
    ("a page asked for three times is wrong twice", [*good(), AGAIN, (4.0, A, "/p/2.html")], promise(), ["2 requests"]),
    ("under way at a killed peer", [*good(), AGAIN], promise(max_twice=1, causes=[Cause(A, 1.4, 1.6)]), []),
    (
        "asked for by the killed peer long before",
        [*good(), AGAIN],
        promise(max_twice=1, causes=[Cause(A, 2.0, 2.5)]),
        ["the ring had asked for"],
    ),
    (
        "the cause is another peer's",
        [*good(), AGAIN],
        promise(max_twice=1, causes=[Cause(B, 1.4, 1.6)]),
        ["the ring had asked for"],
    ),
    (
        "more twice than can have been under way",
        [*good(), AGAIN, (3.5, B, "/p/1.html")],
        promise(max_twice=1, causes=[Cause(A, 0.9, 1.6)]),
        ["at most 1"],
    ),
    ("both sides of a cut", [*good(), AGAIN], promise(cuts=halves(2.0, 5.0)), []),
    (
        "both sides, and one of them twice",
        [*good(), AGAIN, (4.0, C, "/p/2.html")],
        promise(cuts=halves(2.0, 5.0)),
        ["the ring had asked for"],
    ),
    (
        "twice by one side, first before the cut",
        [*good(), (3.0, A, "/p/2.html")],
        promise(cuts=halves(2.0, 5.0)),
        ["the ring had asked for"],
    ),
    ("by the other side before the cut", [*good(), AGAIN], promise(cuts=halves(3.5, 5.0)), ["the ring had asked for"]),
    ("by the other side after the cut", [*good(), AGAIN], promise(cuts=halves(2.0, 2.5)), ["the ring had asked for"]),
    (
        "a gap under the delay",
        [*without("/p/2.html"), (1.49, A, "/p/2.html")],
        promise(),
        ["1 gaps under the delay"],
    ),
    ("a gap that only rounding makes small", [*without("/p/2.html"), (1.496, A, "/p/2.html")], promise(), []),
    (
        "a gap between two peers",
        [*without("/p/2.html"), (1.3, B, "/p/2.html")],
        promise(),
        ["1 gaps under the delay"],
    ),
    (
        "a gap after robots.txt",
        [(0.4, A, "/robots.txt") if line == (0.0, A, "/robots.txt") else line for line in good()],
        promise(),
        ["1 gaps under the delay"],
    ),
    (
        "a gap under the crawl delay that robots.txt asks for",
        [line for line in good() if line[0] != 1.7] + [(1.5, B, "/p/1.html", OTHER)],
        promise(),
        ["1 gaps under the delay"],
    ),
    ("sides that do not hear of each other", [*good(), (1.6, B, "/p/1.html")], promise(cuts=halves(1.2, 5.0)), []),
    (
        "a gap within one side of a cut",
        [*good(), (1.6, B, "/p/1.html"), (1.9, C, "/p/2.html")],
        promise(cuts=halves(1.2, 5.0)),
        ["1 gaps under the delay"],
    ),
    (
        "a gap between the sides after the cut",
        [*good(), (1.6, B, "/p/1.html")],
        promise(max_twice=9, cuts=halves(1.2, 1.55), causes=[Cause(A, 0.0, 9.0)]),
        ["1 gaps under the delay"],
    ),
    ("robots.txt once too often", [*good(), (3.0, B, "/robots.txt")], promise(), ["robots.txt was asked for 2 times"]),
    ("robots.txt as often as allowed", [*good(), (3.0, B, "/robots.txt")], promise(max_robots=2), []),
]


def _judged():
    for what, lines, promised, words in CASES:
        requests = sorted(log(*lines), key=lambda request: request.at)
        problems = judge.judge(requests, REFERENCE, promised).problems
        right = len(problems) == len(words) and all(word in problem for word, problem in zip(words, problems))
        yield what, right, f"said {problems}, and should have said {words}"


def _measured():
    requests = sorted(log(*good(), (4.0, B, "/p/3.html")), key=lambda request: request.at)
    yield "pages a second", judge.pages_per_second(requests, T + 0.4, T + 2.4) == 2.5, "5 pages in 2 s"
    over = judge.taken_over(requests, A, T + 2.0, T + 9.0)
    yield "a host is taken over", [round(s, 3) for s in over] == [2.0], str(over)
    yield "not by the peer itself", judge.taken_over(requests, B, T + 1.8, T + 9.0) == [], "its host was left"


def _site():
    one, same, other = website.Site(1), website.Site(1), website.Site(2)
    yield "a site is a function of its seed", one.expected == same.expected and one.links == same.links, ""
    yield "another seed gives another site", one.links != other.links, ""
    yield "nothing that is forbidden is expected", all(one.allowed(url) for url in one.expected), ""
    linked = [link for links in one.links.values() for link in links]
    odd = [url for url in one.expected if url.endswith(".html") and "/p/" in url and int(url[:-5].split("/")[-1]) % 2]
    moved = set(one.redirects.values())
    alone = all(linked.count(url) == (0 if url in moved else 1) for url in odd)
    yield "a page with an odd number has one link", alone and len(odd) > 200, ""


def main(quiet=False):
    """quiet: says something only when the judge is wrong."""
    passed = failed = 0
    for what, right, said in [*_judged(), *_measured(), *_site(), *doctored.results()]:
        passed += right
        failed += not right
        if not right or not quiet:
            print(f"{'ok  ' if right else 'FAIL'}  {what}" + ("" if right else f": {said}"))
    if failed or not quiet:
        print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
