#!/usr/bin/env python3
"""Draws what orbweaver-sim-scale measured, as an SVG with a panel for each question.

    build/release/tests/orbweaver-sim-scale --json scale.json
    tests/sim/plot_scale.py scale.json docs/inside/scale.svg
"""
import html
import json
import math
import sys

PANEL_WIDTH, PANEL_HEIGHT = 420, 250
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 56, 44
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7a5195"]
FONT = "font-family='sans-serif'"


def ticks(low, high, logarithmic):
    """Values worth a line, at least two."""
    if logarithmic:
        return [10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    step = 10.0 ** math.floor(math.log10(high - low))
    for part in (5, 2, 1):
        if (high - low) / (step / part) <= 6:
            step /= part
            break
    return [step * n for n in range(math.floor(low / step), math.ceil(high / step) + 1)]


def label(value):
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{suffix}"
    return f"{value:g}"


def panel(x, y, title, unit, series, logarithmic):
    """series: (name, [(peers, value)]); the x axis is the number of peers, logarithmic."""
    out = [f"<g transform='translate({x},{y})'>",
           f"<text x='{LEFT}' y='18' {FONT} font-size='14' font-weight='bold'>{html.escape(title)}</text>",
           f"<text x='{LEFT}' y='34' {FONT} font-size='11' fill='#555'>{html.escape(unit)}</text>"]
    xs = sorted({peers for _, points in series for peers, _ in points})
    values = [value for _, points in series for _, value in points]
    low, high = (min(values), max(values)) if logarithmic else (0.0, max(values) or 1.0)
    marks = ticks(low, high if high > low else low + 1, logarithmic)
    low, high = marks[0], marks[-1]
    if low == high:
        high = low * 10 if logarithmic else low + 1

    def at_x(peers):
        if len(xs) == 1:
            return LEFT + (PANEL_WIDTH - LEFT - RIGHT) / 2
        part = (math.log10(peers) - math.log10(xs[0])) / (math.log10(xs[-1]) - math.log10(xs[0]))
        return LEFT + 12 + part * (PANEL_WIDTH - LEFT - RIGHT - 24)

    def at_y(value):
        part = (math.log10(value / low) / math.log10(high / low)) if logarithmic else (value - low) / (high - low)
        return PANEL_HEIGHT - BOTTOM - part * (PANEL_HEIGHT - TOP - BOTTOM)

    for mark in marks:
        out.append(f"<line x1='{LEFT}' x2='{PANEL_WIDTH - RIGHT}' y1='{at_y(mark):.1f}' y2='{at_y(mark):.1f}' "
                   "stroke='#ddd'/>")
        out.append(f"<text x='{LEFT - 6}' y='{at_y(mark) + 4:.1f}' {FONT} font-size='11' text-anchor='end'>"
                   f"{label(mark)}</text>")
    for peers in xs:
        out.append(f"<text x='{at_x(peers):.1f}' y='{PANEL_HEIGHT - BOTTOM + 18}' {FONT} font-size='11' "
                   f"text-anchor='middle'>{peers:,}</text>")
    out.append(f"<text x='{(LEFT + PANEL_WIDTH - RIGHT) / 2}' y='{PANEL_HEIGHT - 8}' {FONT} font-size='11' "
               "fill='#555' text-anchor='middle'>peers</text>")
    across = LEFT
    for (name, points), colour in zip(series, COLOURS):
        line = " ".join(f"{at_x(peers):.1f},{at_y(value):.1f}" for peers, value in sorted(points))
        out.append(f"<polyline points='{line}' fill='none' stroke='{colour}' stroke-width='2'/>")
        for peers, value in points:
            out.append(f"<circle cx='{at_x(peers):.1f}' cy='{at_y(value):.1f}' r='3.5' fill='{colour}'/>")
        if len(series) > 1:
            out.append(f"<text x='{across}' y='49' {FONT} font-size='11' fill='{colour}'>{html.escape(name)}</text>")
            across += 8 * len(name) + 14
    out.append("</g>")
    return out


def column(rows, name):
    def value(row):
        found = row
        for part in name.split("."):
            found = found[part]
        return found
    return [(row["peers"], value(row)) for row in rows]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        measured = json.load(file)
    ring, owners, crawl = measured["ring"], measured["owners"], measured["crawl"] or []
    by_partitions = sorted({row["partitions"] for row in owners})
    panels = [
        ("Quiet ring", "gossip, bytes a second for a peer", True,
         [("bytes", column(ring, "gossip_bytes_a_second"))]),
        ("Until every peer knows", "seconds, mean of the trials", False,
         [("join", column(ring, "join_seconds.mean")), ("leave", column(ring, "leave_seconds.mean")),
          ("crash: first", column(ring, "first_down_seconds.mean")), ("crash: all", column(ring, "crash_seconds.mean"))]),
        ("A join", "bytes that all peers send for it", True, [("bytes", column(ring, "join_bytes"))]),
        ("Partitions of the peer that has most", "over its fair share, by number of partitions", False,
         [(f"{count:,}", column([row for row in owners if row["partitions"] == count], "largest_over_fair"))
          for count in by_partitions]),
    ]
    if crawl:
        panels += [
            ("Forwarding", "messages for a URL", False, [("messages", column(crawl, "forward_messages_a_url"))]),
            ("Forwarding", "bytes for a URL", False, [("bytes", column(crawl, "forward_bytes_a_url"))]),
        ]
    rows = math.ceil(len(panels) / 2)
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{2 * PANEL_WIDTH}' height='{rows * PANEL_HEIGHT}' "
           f"viewBox='0 0 {2 * PANEL_WIDTH} {rows * PANEL_HEIGHT}'>",
           "<rect width='100%' height='100%' fill='white'/>"]
    for number, (title, unit, logarithmic, series) in enumerate(panels):
        out += panel(number % 2 * PANEL_WIDTH, number // 2 * PANEL_HEIGHT, title, unit, series, logarithmic)
    out.append("</svg>")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
