#!/usr/bin/env python3
"""Every path and name that comments and pages mention exists.

    tests/docs/names.py [--root DIR]   check the tree; one line for each fault, exit code 1 when there is one
    tests/docs/names.py --self-test    a tree with each fault once

Checked in the pages (README, CONTRIBUTING, SECURITY, docs/):
  - links to files of the tree, and the headings that they name
  - between backquotes: paths (`node/scope/scope.h`, `tests/fuzz/`, with * as a pattern), names of files, of types and
    functions (`Peer::step`, `UrlRecord`, `merge()`), snake_case names (settings, metrics, fields), flags
    (`--max-pages`), commands (`orbweaver status`)
Checked in the comments of code and scripts:
  - paths and names of files
  - qualified names (`Membership::merge`, merge()) of which the tree knows the first part
A name exists when the code (not its comments) has it as a word. Where a name is another project's, it is in FOREIGN.
"""
import argparse
import pathlib
import re
import sys
import tempfile

ROOMS = ("node", "ring", "storage", "tests", "deploy", "docs", ".ci")
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md"]
CODE = (".cc", ".h", ".py", ".inc", ".mjs", ".txt", "")  # "": scripts
SKIPPED = ("node_modules", ".git", "__pycache__")
EXTENSIONS = r"(?:cc|h|py|md|svg|inc|mjs|sh|tsv)"

PATH = re.compile(r"(?<![\w./~:<>-])((?:node|ring|storage|tests|deploy|docs|\.ci)/[\w.*+-]+(?:/[\w.*+-]+)*/?)")
FILE = re.compile(r"(?<![\w./*~-])([a-z][a-z0-9_-]*\." + EXTENSIONS + r")(?![\w/(-])")
QUALIFIED = re.compile(r"\b([A-Z]\w+)::(~?\w+)")
CALL = re.compile(r"(?<![\w:.>-])([a-z]\w*)\(\)")
TYPE = re.compile(r"^[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+$")
SNAKE = re.compile(r"^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$")
FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*[a-z0-9])")

# Names that belong to others: files that a crawl or a system makes, libraries, tools, standards.
FOREIGN_PATHS = {"tests/test_linkextractors.py"}
FOREIGN_FILES = {
    "crawl.json", "peer.json", "ended.json", "index.html", "robots.txt", "seeds.txt", "sitemap.xml", "networks.txt",
    "resolv.conf", "fetch_outcomes.tsv", "idna2008.txt", "indexes.json", "reader.py", "index.cdxj", "corpus.jsonl",
    "test.py", "x.md",
}
FOREIGN_CALLS = {
    # of the system, of C++ and of libraries, as words in comments
    "assert", "clone", "execve", "fork", "fsync", "image", "main", "malloc", "printf", "puts", "setsid", "src",
    "system", "url", "vfork", "wait4", "import", "cat", "image_set", "tidyRelease",
}
FOREIGN_TYPES = {"WebFountain", "PageRank", "RocksDB", "ZeroMQ", "OpenSSL", "DynamicUser", "NoNewPrivileges"}
FOREIGN_FLAGS = {"help"}
# Of decision 24: parts that are being carved out of Peer. Those that exist by now are named at the end: take them out.
PLANNED = set()


def read(path):
    try:
        return path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return ""


def split(text, suffix):
    """(code, comments with the line of each), roughly: strings belong to the code."""
    comments = []
    if suffix in (".cc", ".h", ".inc", ".mjs"):
        token = re.compile(r'(?P<c>//[^\n]*|/\*.*?\*/)|R"(?P<d>[^()\s]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"'
                           r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)
    else:
        token = re.compile(r'(?P<c>(?<![\w"\'$\\{&])#[^\n]*|^\s*"""(?P<d>).*?""")'
                           r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL | re.MULTILINE)

    def keep(match):
        if match.group("c") is None:
            return match.group()
        comments.append((text.count("\n", 0, match.start()) + 1, match.group("c")))
        return re.sub(r"[^\n]", " ", match.group())

    return token.sub(keep, text), comments


class Tree:
    def __init__(self, root):
        self.root = root
        self.files = sorted(
            p for top in sorted(root.iterdir()) if top.name not in ("build", *SKIPPED)
            for p in ([top] if top.is_file() else top.rglob("*"))
            if p.is_file() and not any(part in SKIPPED for part in p.relative_to(root).parts))
        self.paths = {p.relative_to(root).as_posix() for p in self.files}
        self.folders = {parent.as_posix() for path in self.paths for parent in pathlib.PurePosixPath(path).parents}
        self.names = {p.name for p in self.files}
        self.words = set()
        self.flags = set(FOREIGN_FLAGS)  # as code and scripts write them, and those of settings
        self.comments = []  # (path, line, text)
        self.headings = {}
        for file in self.files:
            path = file.relative_to(root).as_posix()
            if (file.suffix == ".md" or file.suffix not in CODE or path.startswith("tests/fuzz/corpus/")
                    or path.split("/")[0] not in (*ROOMS, "CMakeLists.txt")):
                continue
            code, comments = split(read(file), file.suffix)
            if not path.startswith("tests/docs/"):  # whose words are samples
                self.words.update(re.findall(r"[A-Za-z_]\w*", code))
                self.words.update(re.findall(r"[A-Za-z_][\w-]*[\w]", " ".join(re.findall(r'"[^"\n]*"', code))))
                self.flags.update(FLAG.findall(code))
                self.flags.update(name.replace("_", "-") for name in re.findall(r'\{"([a-z][a-z0-9_]*)",', code))
            if path != "tests/house_rules.py":  # likewise
                self.comments += [(path, line, comment) for line, comment in comments]

    def has_path(self, path):
        path = path.replace("NAME", "*")
        if "*" in path:
            return any(pathlib.PurePosixPath(known).match(path) for known in self.paths)
        if path in self.paths or path in self.folders:
            return True
        # "storage/record", "ring/membership": a header and its source
        return any(path + suffix in self.paths for suffix in (".h", ".cc", ".md"))

    def has_file(self, name):
        return name in self.names or name in FOREIGN_FILES

    def has_word(self, word):
        return word in self.words

    def anchors(self, path):
        if path not in self.headings:
            found = set()
            for heading in re.findall(r"^#+ +(.*)$", re.sub(r"```.*?```", "", read(self.root / path), flags=re.DOTALL),
                                      re.MULTILINE):
                text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
                found.add(re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-"))
            self.headings[path] = found
        return self.headings[path]


def faults_of_paths(tree, text):
    for match in PATH.finditer(text):
        path = match.group(1).rstrip("/.")
        if not tree.has_path(path) and path not in FOREIGN_PATHS:
            yield match.start(), f"{path}: there is no such path"
    without = PATH.sub(lambda m: " " * len(m.group()), text)
    for match in FILE.finditer(without):
        if not tree.has_file(match.group(1)):
            yield match.start(), f"{match.group(1)}: there is no such file"


def faults_of_page(tree, path, text):
    folder = pathlib.PurePosixPath(path).parent
    prose = re.sub(r"```.*?```", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.DOTALL)
    for match in re.finditer(r"\]\(([^)\s]+)\)", prose):
        target, _, anchor = match.group(1).partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        parts = []
        for part in (folder / target).parts if target else pathlib.PurePosixPath(path).parts:
            if part == ".." and parts:
                parts.pop()
            elif part != ".":
                parts.append(part)
        real = "/".join(parts)
        if real not in tree.paths and real not in tree.folders:
            yield match.start(), f"{match.group(1)}: the link leads nowhere"
        elif anchor and anchor not in tree.anchors(real):
            yield match.start(), f"{match.group(1)}: there is no such heading"
    for match in re.finditer(r"(`+)(.+?)\1", prose):
        code = match.group(2)
        for at, fault in faults_of_paths(tree, code):
            yield match.start() + at, fault
        for name in QUALIFIED.finditer(code):
            if not (tree.has_word(name.group(1)) and tree.has_word(name.group(2).lstrip("~"))):
                yield match.start(), f"{name.group()}: there is no such name"
        for name in CALL.finditer(code):
            if not tree.has_word(name.group(1)) and name.group(1) not in FOREIGN_CALLS:
                yield match.start(), f"{name.group()}: there is no such function"
        if TYPE.match(code) and code not in FOREIGN_TYPES | PLANNED and not tree.has_word(code):
            yield match.start(), f"{code}: there is no such type"
        bare = re.sub(r"^orbweaver_", "", code)
        if SNAKE.match(code) and not (tree.has_word(code) or tree.has_word(bare)):
            yield match.start(), f"{code}: there is no such name"
        if re.match(r"(orbweaver|deploy/|tests/|--)", code):
            for flag in FLAG.finditer(code):
                if flag.group(1) not in tree.flags:
                    yield match.start(), f"{flag.group()}: there is no such flag"
        command = re.match(r"orbweaver ([a-z][a-z-]+)\b", code)
        if command and not tree.has_word(command.group(1)):
            yield match.start(), f"{command.group()}: there is no such command"


def faults_of_comment(tree, text):
    yield from faults_of_paths(tree, text)
    for name in QUALIFIED.finditer(text):
        if tree.has_word(name.group(1)) and not tree.has_word(name.group(2).lstrip("~")):
            yield name.start(), f"{name.group()}: there is no such name"
    for name in CALL.finditer(text):
        if not tree.has_word(name.group(1)) and name.group(1) not in FOREIGN_CALLS:
            yield name.start(), f"{name.group()}: there is no such function"


def check(root):
    tree = Tree(root)
    faults = []
    pages = sorted({p for pattern in PAGES for p in root.glob(pattern)})
    for page in pages:
        path, text = page.relative_to(root).as_posix(), read(page)
        for at, fault in faults_of_page(tree, path, text):
            faults.append(f"{path}:{text.count(chr(10), 0, at) + 1}: {fault}")
    for path, line, comment in tree.comments:
        for at, fault in faults_of_comment(tree, comment):
            faults.append(f"{path}:{line + comment.count(chr(10), 0, at)}: {fault}")
    for name in sorted(PLANNED & tree.words):
        print(f"note: {name} is no longer planned, it exists: take it out of tests/docs/names.py")
    return faults, len(pages), len(tree.comments)


GOOD = {
    "node/scope/scope.h": "// See docs/a.md and scope.cc, Scope::place and place().\n"
                        "struct Scope { int place(); int max_pages; };\n",
    "node/scope/scope.cc": '#include "node/scope/scope.h"\nauto a = add("status", "--ledger");  // tests/unit/*_test.cc\n',
    "tests/unit/scope_test.cc": "// it's a url() of CSS\nint a = 0;\n",
    "deploy/check": "#!/bin/bash\n# See node/scope/scope.h\necho\n",
    "docs/a.md": "# A page\n\n[b](b.md#two-words) `node/scope/` `Scope::place` `max_pages` `orbweaver status --ledger` "
                 "`orbweaver_max_pages` `scope.h` `place()`\n```\nno/such.md tests/none\n```\n",
    "docs/b.md": "## Two words\n\n[a](a.md) [c](https://x.example/none.md) `https://docs.example/none.md`\n",
}
BAD = [
    ("node/url/x.h", "// See node/url/none.h.\n", "node/url/none.h: there is no such path"),
    ("node/url/x.h", "// See none.h.\n", "none.h: there is no such file"),
    ("node/url/x.h", "// As Scope::none does.\n", "Scope::none: there is no such name"),
    ("node/url/x.h", "// As none() does.\n", "none(): there is no such function"),
    ("node/url/x.h", "/* As\n   docs/none.md says. */\n", "x.h:2: docs/none.md: there is no such path"),
    ("tests/x.py", "#!/usr/bin/env python3\n\"\"\"See tests/none.\"\"\"\n", "tests/none: there is no such path"),
    ("deploy/x", "#!/bin/bash\n# See deploy/none\n", "deploy/none: there is no such path"),
    ("docs/x.md", "[a](none.md)\n", "none.md: the link leads nowhere"),
    ("docs/x.md", "[a](b.md#none)\n", "b.md#none: there is no such heading"),
    ("docs/x.md", "`tests/unit/*_none.cc`\n", "there is no such path"),
    ("docs/x.md", "`NoSuchType`\n", "NoSuchType: there is no such type"),
    ("docs/x.md", "`no_such_setting`\n", "no_such_setting: there is no such name"),
    ("docs/x.md", "`Scope::none`\n", "Scope::none: there is no such name"),
    ("docs/x.md", "`orbweaver status --none`\n", "--none: there is no such flag"),
    ("docs/x.md", "`orbweaver nothing`\n", "orbweaver nothing: there is no such command"),
]


def self_test():
    failures = 0
    for name, text, expected in [("", "", None), *BAD]:
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for path, content in {**GOOD, **({name: text} if name else {})}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content, encoding="utf-8")
            faults, _, _ = check(root)
        right = not faults if expected is None else len(faults) == 1 and expected in faults[0]
        if not right:
            failures += 1
            print(f"{name or 'the good tree'}, {text!r}: expected {expected!r}, found {faults}")
    print(f"names, self-test: {len(BAD) + 1 - failures} of {len(BAD) + 1} trees right")
    return failures == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return 0 if self_test() else 1
    faults, pages, comments = check(arguments.root)
    for fault in faults:
        print(fault)
    print(f"names: {pages} pages, {comments} comments, {len(faults)} faults")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
