#!/usr/bin/env python3
"""Writes the C++ file that holds the files of the dashboard's page: embed.py OUT FILE…"""

import pathlib
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


def literal(data):
    """The bytes as string literals that the compiler joins."""
    lines = []
    for start in range(0, len(data), 64):
        text = "".join(f"\\{byte:03o}" if byte < 32 or byte > 126 or chr(byte) in '"\\?' else chr(byte)
                       for byte in data[start : start + 64])  # fmt: skip
        lines.append(f'    "{text}"')
    return "\n".join(lines)


def main():
    out, *files = map(pathlib.Path, sys.argv[1:])
    parts = ['#include "node/control/assets.h"\n\n#include <algorithm>\n#include <array>\n\nnamespace orbweaver {\n\nnamespace {\n']
    rows = []
    for number, path in enumerate(sorted(files)):
        data = path.read_bytes()
        parts.append(f"constexpr std::string_view file_{number}(\n{literal(data)},\n    {len(data)});\n")
        served = "/" if path.name == "index.html" else f"/{path.name}"
        rows.append(f'    Asset{{"{served}", "{TYPES[path.suffix]}", file_{number}}},')
    parts.append("constexpr std::array assets = {\n" + "\n".join(rows) + "\n};\n\n}  // namespace\n")
    parts.append(
        "const Asset* find_asset(std::string_view path) {\n"
        "  const auto* const at = std::find_if(assets.begin(), assets.end(),\n"
        "                                      [&](const Asset& asset) { return asset.path == path; });\n"
        "  return at == assets.end() ? nullptr : at;\n}\n\n}  // namespace orbweaver\n")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(parts), encoding="utf-8")


main()
