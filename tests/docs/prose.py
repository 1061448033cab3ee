#!/usr/bin/env python3
"""Plain English, counted: no file of prose has more than one sentence in ten of over 30 words, nor have all together;
and words that the glossary replaced do not come back.

    tests/docs/prose.py [--list] [FILE…]   check the tree, or these files; --list shows every long sentence. 1: it fails
    tests/docs/prose.py --self-test        texts with known counts, and each way to hide a long sentence

What is read: README, CONTRIBUTING, SECURITY, all of docs/ (the generated pages bring the sentences of settings and
metrics), and the texts in the code of node/: help and messages.

What counts as a sentence:
  - It ends with . ! or ? before a space and a capital, a digit, a quote or code; with a paragraph, a list item, a table
    cell, a heading. A semicolon, a colon, a dash or a line break ends none: joined sentences are one long one.
  - A list that hangs on a text ending in a colon: each item is counted by itself.
  - Code blocks and link targets are not prose. Code between backquotes is one word.
  - Fewer than four words (table cells with a number or a name, headings) are not counted, so that they do not lower
    the share. Nor is a table cell most of whose words are code or have digits: a list of names or fields.
"""
import argparse
import pathlib
import re
import sys

WORDS_MAX = 30      # a longer sentence is long
SHARE_MAX = 0.10    # of the sentences of a file, and of all
WORDS_MIN = 4       # fewer words are no sentence
FEW = 10            # a file with so few sentences may have one long one

PROSE = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md"]
CODE = ["node/**/*.cc"]

# (what is wrong, what to write, and where the word is right nevertheless)
WORDS = [
    (r"\banew\b", "again, from scratch"),
    (r"\bof late\b", "recently"),
    (r"\bmend(?:s|ed|ing)?\b", "fix, repair"),
    (r"\bunder way\b", "in flight, in progress"),
    (r"\bfor ever\b", "forever"),
    (r"\bseldom\b", "rarely"),
    (r"\bbesides?\b", "next to, apart from"),
    (r"\ball the same\b", "anyway"),
    (r"\bdear(?:er)?\b", "expensive"),
    (r"\boctets\b", "bytes"),
    (r"\b(?:nobody|somebody)\b", "no peer, any peer, no one"),
    (r"\bwhoever\b", "the peer that, the user who"),
    (r"\brefused by name\b", "refused, naming the setting"),
    (r"\b(?:knows|hears|heard|hear) of\b", "receives, learns"),
    (r"\bis no(?:ne)? (?:of|URL|HTTP|page|seed)\b", "is not a, is not one of"),
    (r"\b(?:comes|came|come) of\b", "results in, the outcome of"),
    (r"\btak(?:es|en|e|ing) (?:it |them |a page |a URL )?for (?!the |an hour|granted)", "treated as"),
    (r"\b(?:held|holds) (?:back|up)\b", "delayed, suppressed"),
    (r"\b(?:stands?|stood|lies) (?:in|with|there)\b", "is in, is listed in"),
    (r"\b(?:CPU|bytes|requests|messages|ms|us|µs|MB|KB) an? "
     r"(?:page|URL|link|record|peer|second|line|letter|transfer|message)\b", "per page, per URL"),
    (r"\bso (?:long|many|much) (?!as\b|that\b)", "this long, N, up to N"),
    (r"\bsome (?:\d|a dozen|fifty|hundred|thousand)", "about"),
]

ABBREVIATIONS = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|ca|No|no|Fig|Sec|St|Dr|approx|resp)|\b[A-Z])\.$")
END = re.compile(r"""[.!?]['")\]*_]*(?=\s+['"(\[*_]*(?:[A-Z0-9`ÀÖØ-Þ]|\x00)|\s*$)""")
CODE_MARK = "\x00"


def words_of(text):
    return [word for word in re.split(r"\s+", text) if re.search(r"[A-Za-z0-9À-ſ\x00]", word)]


def sentences_of(text):
    """The sentences of one unit of text (a paragraph, an item, a cell)."""
    text = re.sub(r"\s+", " ", text).strip()
    start = 0
    for match in END.finditer(text):
        piece = text[start:match.end()]
        if match.end() < len(text) and ABBREVIATIONS.search(piece.rstrip("'\")]*_")):
            continue
        yield piece.strip()
        start = match.end()
    if text[start:].strip():
        yield text[start:].strip()


def plain(text):
    """Markdown's marks away: links are their texts, code is one word."""
    text = re.sub(r"(`+)(.+?)\1", CODE_MARK, text)
    text = re.sub(r"!\[([^\]]*)\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<!--.*?-->", " ", text, flags=re.DOTALL)
    text = re.sub(r"https?://\S+", CODE_MARK, text)
    return re.sub(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)", "", text)


def is_enumeration(cell):
    """A table cell that lists names, numbers and code: a format's fields, a row of values."""
    words = words_of(cell)
    if not words:
        return True
    names = sum(1 for word in words if CODE_MARK in word or re.search(r"\d", word))
    return names * 2 > len(words)


def units_of(markdown):
    """(line, kind, text) of each paragraph, item, cell and heading; code blocks left out. Front to back."""
    lines = markdown.split("\n")
    at, paragraph, began, after_blank = 0, [], 0, True

    def flush():
        nonlocal paragraph
        if paragraph:
            yield began, "text", " ".join(paragraph)
        paragraph = []

    in_list = False
    while at < len(lines):
        line = lines[at]
        stripped = line.strip()
        fence = re.match(r"\s*(```+|~~~+)", line)
        if fence:
            yield from flush()
            close = fence.group(1)
            at += 1
            while at < len(lines) and not lines[at].strip().startswith(close):
                at += 1
        elif not stripped:
            yield from flush()
        elif after_blank and re.match(r"(?: {4}|\t)", line) and not in_list:
            yield from flush()
            while at + 1 < len(lines) and (not lines[at + 1].strip() or re.match(r"(?: {4}|\t)", lines[at + 1])):
                at += 1
        elif stripped.startswith("#") and re.match(r"#{1,6} ", stripped):
            yield from flush()
            yield at + 1, "heading", stripped.lstrip("# ")
            in_list = False
        elif stripped.startswith("|"):
            yield from flush()
            if not re.fullmatch(r"[|\s:-]+", stripped):
                whole = re.sub(r"(`+)(.+?)\1", lambda m: m.group().replace("|", "\x01"), stripped)
                cells = re.split(r"(?<!\\)\|", whole)
                for cell in cells:
                    if cell.strip():
                        yield at + 1, "cell", cell.strip().replace("\x01", "|")
        elif re.match(r"\s*(?:[-*+]|\d+[.)]) ", line):
            yield from flush()
            paragraph, began = [re.sub(r"^\s*(?:[-*+]|\d+[.)]) +", "", line)], at + 1
            in_list = True
        else:
            if not paragraph:
                began = at + 1
                in_list = in_list and line.startswith(" ")
            paragraph.append(stripped)
        after_blank = not lines[at].strip() if at < len(lines) else True
        at += 1
    yield from flush()


def sentences_of_markdown(text):
    text = re.sub(r"<!--.*?-->", lambda m: "\n" * m.group().count("\n"), text, flags=re.DOTALL)
    for line, kind, unit in units_of(text):
        unit = plain(unit)
        if kind == "cell" and is_enumeration(unit):
            continue
        for sentence in sentences_of(unit):
            yield line, sentence


LITERALS = re.compile(r'(?:"(?:\\.|[^"\\\n])*"\s*)+')
RAW = re.compile(r'R"(?P<d>[^()\s]{0,16})\((?P<text>.*?)\)(?P=d)"', re.DOTALL)


def sentences_of_code(text):
    """Of the texts in a source file: literals that are joined are one text."""
    text = re.sub(r"(?m)^\s*#include.*$", "", text)
    text = re.sub(r"//[^\n]*(?=\n)", lambda m: m.group() if m.group().count('"') % 2 else "", text)
    for match in RAW.finditer(text):
        for line, sentence in sentences_of_markdown(match.group("text")):
            yield text.count("\n", 0, match.start()) + line, sentence
    text = RAW.sub(lambda m: '""' + "\n" * m.group().count("\n"), text)
    for match in LITERALS.finditer(text):
        joined = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match.group()))
        joined = joined.replace("\\n", "\n\n").replace('\\"', '"').replace("\\t", " ")
        for paragraph in joined.split("\n\n"):
            for sentence in sentences_of(plain(paragraph)):
                yield text.count("\n", 0, match.start()) + 1, sentence


def read(path, text):
    return list(sentences_of_markdown(text) if path.endswith(".md") else sentences_of_code(text))


def judge(path, text):
    """(sentences counted, long ones [(line, words, text)], words to avoid [(line, text, better)])."""
    counted, long, avoided = 0, [], []
    for line, sentence in read(path, text):
        count = len(words_of(sentence))
        for pattern, better in WORDS:
            found = re.search(pattern, sentence, re.IGNORECASE)
            if found:
                avoided.append((line, found.group().strip(), better))
        if count < WORDS_MIN:
            continue
        counted += 1
        if count > WORDS_MAX:
            long.append((line, count, sentence.replace(CODE_MARK, "`…`")))
    return counted, long, avoided


def too_many(counted, long):
    return long > (1 if counted <= FEW else counted * SHARE_MAX)


def check(root, files, show):
    failed, sentences, longs = False, 0, 0
    names = files or sorted({path.relative_to(root).as_posix() for pattern in PROSE + CODE for path in root.glob(pattern)})
    for name in names:
        counted, long, avoided = judge(name, (root / name).read_text(encoding="utf-8"))
        sentences += counted
        longs += len(long)
        bad = too_many(counted, len(long))
        if bad:
            print(f"{name}: {len(long)} of {counted} sentences have more than {WORDS_MAX} words")
        if bad or show:
            for line, count, sentence in long:
                print(f"{name}:{line}: {count} words: {sentence[:160]}")
        for line, word, better in avoided:
            print(f"{name}:{line}: '{word}': write {better}")
        failed = failed or bad or bool(avoided)
    if longs > sentences * SHARE_MAX:
        failed = True
    share = 100 * longs / max(sentences, 1)
    print(f"prose: {len(names)} files, {sentences} sentences, {longs} ({share:.1f} %) of more than {WORDS_MAX} words")
    return failed or not names


def text_of(count):
    return "The " + "word " * (count - 2) + "ends"


# (name, file, text, sentences, long ones, words to avoid)
SAMPLES = [
    ("short", "a.md", "One two three four. Five six seven eight.\n", 2, 0, 0),
    ("thirty", "a.md", text_of(30) + ".\n", 1, 0, 0),
    ("thirty-one", "a.md", text_of(31) + ".\n", 1, 1, 0),
    ("a semicolon ends nothing", "a.md", text_of(16) + "; " + text_of(16) + ".\n", 1, 1, 0),
    ("nor a colon", "a.md", text_of(16) + ": " + text_of(16) + ".\n", 1, 1, 0),
    ("nor a dash", "a.md", text_of(16) + " - " + text_of(16) + ".\n", 1, 1, 0),
    ("nor a line break", "a.md", text_of(16) + "\n" + text_of(16) + ".\n", 1, 1, 0),
    ("nor a full stop before a small letter", "a.md", text_of(16) + ". " + text_of(16).lower() + ".\n", 1, 1, 0),
    ("nor an abbreviation", "a.md", text_of(16) + ", e.g. " + text_of(16) + ".\n", 1, 1, 0),
    ("brackets count", "a.md", "The (" + text_of(32) + ") ends here now.\n", 1, 1, 0),
    ("a link is its text", "a.md", "See [the page of it](http://a/b c d e f g h i j k l m n o p q r s t u v w x y).\n",
     1, 0, 0),
    ("code is a word", "a.md", "Run `" + "a " * 40 + "` in a shell.\n", 1, 0, 0),
    ("code blocks are not prose", "a.md", "```\n" + text_of(60) + "\n```\n\n    " + text_of(60) + "\n", 0, 0, 0),
    ("a fence that does not close hides only itself", "a.md", text_of(31) + ".\n\n```\ncode\n", 1, 1, 0),
    ("an item is indented text", "a.md", "- one two three four\n  " + text_of(31) + "\n", 1, 1, 0),
    ("so is its second paragraph", "a.md", "- one two three four\n\n    " + text_of(31) + "\n", 2, 1, 0),
    ("items are apart", "a.md", "- one two three four\n- five six seven eight\n", 2, 0, 0),
    ("a long item", "a.md", "1. " + text_of(31) + "\n", 1, 1, 0),
    ("cells are apart", "a.md", "| one two three four | five six seven eight |\n| --- | --- |\n", 2, 0, 0),
    ("a long cell", "a.md", "| a | " + text_of(31) + " |\n", 1, 1, 0),
    ("numbers do not count", "a.md", "| 1 | 2.5 | 30 ms 4 MB 5 |\n| `a` | one two | x |\n", 0, 0, 0),
    ("a cell of fields is a list of names", "a.md", "| " + "u8 x, " * 18 + "u16 y, i64 z, `a` |\n", 0, 0, 0),
    ("a cell that only begins with code is not", "a.md", "| `a` " + text_of(31) + " |\n", 1, 1, 0),
    ("a heading", "a.md", "# One two three four\n" + text_of(31) + ".\n", 2, 1, 0),
    ("a comment is not shown", "a.md", "<!-- " + text_of(40) + " -->\n\nOne two three four.\n", 1, 0, 0),
    ("help", "a.cc", 'f("One two three four. "\n  "Five six seven eight");\n', 2, 0, 0),
    ("long help", "a.cc", 'f("' + text_of(16) + ' "\n  "' + text_of(16) + '");\n', 1, 1, 0),
    ("code's comments are not counted", "a.cc", "// " + text_of(40) + "\nint a;\n", 0, 0, 0),
    ("a word", "a.md", "It is made anew each time.\n", 1, 0, 1),
    ("a word in a short cell", "a.md", "| under way |\n", 0, 0, 1),
    ("a word in code", "a.md", "Use `mend` for it then.\n", 1, 0, 0),
    ("a word in help", "a.cc", 'f("what is under way");\n', 1, 0, 1),
    ("as long as", "a.md", "It lasts so long as it must.\n", 1, 0, 0),
]
SHARES = [((10, 1), False), ((10, 2), True), ((1, 1), False), ((100, 10), False), ((100, 11), True), ((0, 0), False)]


def self_test():
    failures = 0
    for name, path, text, sentences, long, avoided in SAMPLES:
        counted, found, words = judge(path, text)
        if (counted, len(found), len(words)) != (sentences, long, avoided):
            failures += 1
            print(f"{name}: expected {sentences} sentences, {long} long, {avoided} words to avoid; "
                  f"found {counted}, {len(found)}, {len(words)}")
    for (counted, long), expected in SHARES:
        if too_many(counted, long) != expected:
            failures += 1
            print(f"{long} long of {counted}: expected {'too many' if expected else 'no fault'}")
    total = len(SAMPLES) + len(SHARES)
    print(f"prose, self-test: {total - failures} of {total} samples right")
    return failures == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="relative to --root")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return 0 if self_test() else 1
    return 1 if check(arguments.root, arguments.files, arguments.list) else 0


if __name__ == "__main__":
    sys.exit(main())
