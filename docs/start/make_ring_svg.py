#!/usr/bin/env python3
"""Draws docs/start/ring.svg, the README's picture: five peers on a hash ring of 64 partitions, and the way of one link
from the peer that found it to the peer that owns it, and to its replica. Owners are computed, not drawn by hand.

    docs/start/make_ring_svg.py            writes ring.svg beside itself
    docs/start/make_ring_svg.py --check    exit code 1 when ring.svg is not what it would write
"""
import hashlib
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PARTITIONS = 64
POINTS = 40  # per peer
PEERS = ["A", "B", "C", "D", "E"]
COLOURS = {"A": "#4477aa", "B": "#66a61e", "C": "#d95f02", "D": "#7570b3", "E": "#e6ab02"}
FINDER = "A"
HOSTS = ["example.org", "wiki.example", "news.example", "shop.example", "docs.example"]

WIDTH, HEIGHT = 900, 430
CENTRE = (215, 215)
OUTER, INNER = 150, 118
PEER_RADIUS = 185
FONT = 'font-family="Helvetica, Arial, sans-serif"'


def digest(text):
    return int.from_bytes(hashlib.md5(text.encode()).digest()[:8], "big")


POINTS_ON_RING = sorted((digest(f"{peer}/{number}"), peer) for peer in PEERS for number in range(POINTS))


def owners(partition):
    """The peers of a partition, owner first, by the points that follow its place on the ring."""
    place = partition * 2**64 // PARTITIONS
    after = [peer for at, peer in POINTS_ON_RING if at >= place] + [peer for _, peer in POINTS_ON_RING]
    return list(dict.fromkeys(after))


def partition_of(host):
    return digest(host) * PARTITIONS >> 64


def at(angle, radius):
    """A point on a circle, 0 at the top, clockwise."""
    return CENTRE[0] + radius * math.sin(angle), CENTRE[1] - radius * math.cos(angle)


def sector(partition):
    first, last = (2 * math.pi * (partition + edge) / PARTITIONS for edge in (0.06, 0.94))
    corners = [at(first, OUTER), at(last, OUTER), at(last, INNER), at(first, INNER)]
    (a, b, c, d) = [f"{x:.1f} {y:.1f}" for x, y in corners]
    return f"M{a} A{OUTER} {OUTER} 0 0 1 {b} L{c} A{INNER} {INNER} 0 0 0 {d} Z"


def text(x, y, words, size=14, weight="normal", anchor="start", fill="#222222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" {FONT} font-size="{size}" font-weight="{weight}" '
            f'text-anchor="{anchor}" fill="{fill}">{words}</text>')


def disc(x, y, peer, radius=17):
    return [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{COLOURS[peer]}"/>',
            text(x, y + 5, peer, 15, "bold", "middle", "#ffffff")]


def arrow(x1, y1, x2, y2, dashed=False):
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#222222" stroke-width="1.6"'
            f'{dash} marker-end="url(#tip)"/>')


def picture():
    host = next(host for host in HOSTS if FINDER not in owners(partition_of(host))[:2])
    mine = partition_of(host)
    owner, replica = owners(mine)[:2]
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img" aria-label="A ring of five peers: a link travels from the peer that found it to its owner">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 Z" fill="#222222"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#ffffff"/>',
    ]
    for partition in range(PARTITIONS):
        chosen = ' stroke="#222222" stroke-width="3"' if partition == mine else ""
        out.append(f'<path d="{sector(partition)}" fill="{COLOURS[owners(partition)[0]]}"{chosen}/>')
    places = {peer: at(2 * math.pi * (number + 0.5) / len(PEERS), PEER_RADIUS) for number, peer in enumerate(PEERS)}
    for peer, (x, y) in places.items():
        out += disc(x, y, peer)
    angle = 2 * math.pi * (mine + 0.5) / PARTITIONS
    tip = at(angle, INNER - 4)
    out += [text(CENTRE[0], CENTRE[1] - 14, f"MD5({host})", 13, "bold", "middle"),
            text(CENTRE[0], CENTRE[1] + 6, f"partition {mine} of {PARTITIONS}", 13, "normal", "middle"),
            arrow(*at(angle, 84), *tip)]
    x, y = 455, 62
    out.append(text(x, y, "The way of a link", 18, "bold"))
    steps = [
        (FINDER, f"{FINDER} fetches a page that links to {host},", "and commits page and link to its disk at once."),
        (owner, f"{owner} owns the partition of {host}.", "The link travels there in a batch."),
        (replica, f"{replica} keeps the second copy.", f"Then {owner} acknowledges, and {FINDER} forgets the link."),
        (owner, f"Only {owner} asks {host}, one request at a time.", "No peer is a master; any of them may die."),
    ]
    for number, (peer, first, second) in enumerate(steps):
        top = y + 48 + number * 80
        out += disc(x + 18, top, peer)
        if number < len(steps) - 1:
            out.append(arrow(x + 18, top + 21, x + 18, top + 59, dashed=number == 1))
        out += [text(x + 50, top - 3, first), text(x + 50, top + 16, second)]
    out.append(text(x, HEIGHT - 22, "Colours: the owner of each partition. Real rings have 1,024.", 12, fill="#666666"))
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    target = HERE / "ring.svg"
    made = picture()
    if sys.argv[1:] == ["--check"]:
        if not target.is_file() or target.read_text(encoding="utf-8") != made:
            print("docs/start/ring.svg is not what its script makes; fix: docs/start/make_ring_svg.py")
            return 1
        return 0
    if sys.argv[1:]:
        print(__doc__)
        return 2
    target.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
