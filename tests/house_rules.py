#!/usr/bin/env python3
"""The house rules that a compiler does not hold: who includes what, where a library lives, what a pure rule may not
call, which calls throw, how long lines and files are.

    tests/house_rules.py [--root DIR]   check the tree; one line for each breach, exit code 1 when there is one
    tests/house_rules.py --self-test    break each rule once in a tree of its own, and see that it is told
"""
import argparse
import fnmatch
import pathlib
import re
import sys
import tempfile

LINE_MAX = 120  # characters
FILE_MAX = 600  # lines
ROOMS = ("node", "ring", "storage")

# Each library's headers, and the only files of the rooms that include them.
HOMES = [
    (r"<zmq[._a-z]*>", ["ring/zmq_*"]),
    (r"<msgpack(\.hpp|/.*)>", ["ring/codec.cc"]),
    (r"<rocksdb/.*>", ["storage/rocks_*"]),
    (r"<curl/.*>", ["node/fetch/curl_*"]),
    (r"<ares[a-z_]*\.h>", ["node/fetch/cares_*"]),
    (r"<openssl/(ssl|x509.*)\.h>", ["node/fetch/curl_tls.cc"]),
    (r"<tidy[a-z]*\.h>", ["node/html/tidy_*"]),
    (r"<boost/(asio|beast)[./].*>", ["node/http/*"]),
    (r"<boost/(?!asio|beast).*>", ["node/run/boost_log.cc"]),
    (r"<toml\+\+/.*>", ["node/config/toml_*"]),
    (r"<unicode/.*>", ["node/url/icu_*", "node/html/icu_*"]),
    (r"<expat[._a-z]*>", ["node/sitemap/expat_*"]),
    (r"<sqlite3.*>", ["node/lab/dedup/sqlite_*"]),
    (r"<cld2/.*>", ["node/html/cld2_*"]),
    (r"<re2/.*>", ["node/url/re2_*"]),
    (r"<seccomp\.h>", ["node/run/seccomp.cc"]),
    (r"<CLI/.*>", ["node/cli/*", "node/main.cc"]),
]

# Pure rules hold no clock, thread or random device: `now` is passed in, effects are returned.
PURE = ["ring/*", "storage/*", "node/url/*", "node/html/*", "node/robots/*", "node/sitemap/*", "node/topic/*",
        "node/text/*", "node/crawl/*"]
NOT_PURE = ["ring/zmq_*", "storage/open_waiter.cc", "storage/rocks_*", "storage/warc*", "storage/text*"]
CLOCKS = [
    (r"_clock\s*::\s*now\b", "reads a clock"),
    (r"\b(gettimeofday|clock_gettime|timespec_get|ftime)\s*\(", "reads a clock"),
    (r"(?<![\w.>:])(?:std::|::)?time\s*\(\s*(?:nullptr|NULL|0|&\w+)\s*\)", "reads a clock"),
    (r"\brandom_device\b", "uses a random device"),
    (r"(?<![\w.>:])(?:std::|::)?(?:rand|srand|random|arc4random|getrandom)\s*\(", "uses a random device"),
]
SLEEPS = [(r"\b(sleep_for|sleep_until)\b|(?<![\w.>:])(?:std::|::)?(?:sleep|usleep|nanosleep)\s*\(", "sleeps")]
THREADS = [(r"\bstd\s*::\s*(thread|jthread|async)\b|\bpthread_create\b", "starts a thread")]

# What commands print may be a stranger's words: node/run/say.h escapes what a terminal would obey.
SAYS = ["node/cli/*", "node/lab/*", "node/main.cc", "node/run/peer_process.cc"]
SAYS_ITSELF = ["node/lab/progress.cc"]  # numbers, and words of its own
PRINTS = [(r"(?<![\w.>:])(?:std::|::)?(?:printf|fprintf|vprintf|puts|fputs|putchar|fputc|fwrite)\s*\("
           r"|\bstd\s*::\s*(?:cout|cerr|clog)\s*<<", "prints")]

# Calls of std::filesystem that throw, as for a directory of another user's: each has a form that takes a
# std::error_code, with one argument more than is named here.
FILE_CALLS = {
    **dict.fromkeys(["current_path", "temp_directory_path"], 0),
    **dict.fromkeys(
        ["absolute", "canonical", "weakly_canonical", "relative", "proximate", "exists", "status", "symlink_status",
         "is_block_file", "is_character_file", "is_directory", "is_empty", "is_fifo", "is_other", "is_regular_file",
         "is_socket", "is_symlink", "file_size", "hard_link_count", "last_write_time", "space", "read_symlink",
         "create_directory", "create_directories", "remove", "remove_all", "directory_iterator",
         "recursive_directory_iterator"], 1),
    **dict.fromkeys(
        ["copy", "copy_file", "copy_symlink", "create_symlink", "create_directory_symlink", "create_hard_link",
         "equivalent", "rename", "resize_file", "permissions"], 2),
}
FILE_CALL = re.compile(r"\b(?:filesystem|fs)\s*::\s*(" + "|".join(FILE_CALLS) + r")\b\s*(?:\w+\s*)?([({])")
# The entry's own questions, and the loop whose step throws.
FILE_ENTRY = re.compile(r"(?:\.|->)\s*(is_directory|is_regular_file|is_symlink|is_other)\s*\(\s*\)"
                        r"|\b(?:at|entry)\s*(?:\.|->)\s*(exists|file_size|last_write_time|status|refresh)\s*\(\s*\)")
FILE_LOOP = re.compile(r"\bfor\s*\([^;{}]*[^:]:\s*(?:std\s*::\s*)?(?:filesystem|fs)\s*::\s*(\w*directory_iterator)\b")

# Taken apart, so that this file does not break its own rule.
WORDS = re.compile(
    r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK", "(?i:place" + "holder)"]) + r")\b")


def matches(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def code_only(text, literals=" "):
    """The text with comments and literals blanked, line breaks kept: what the compiler sees as code."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\s]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
        re.DOTALL)
    return token.sub(lambda m: re.sub(r"[^\n]", " " if m.group().startswith("/") else literals, m.group()), text)


def check_includes(root, path, text, tell):
    room = path.split("/", 1)[0]
    # Blanking keeps positions: an include is code, and its name stands in the same place of the text.
    code = code_only(text)
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*("[^"\n]*"|<[^>\n]*>)', text, re.MULTILINE):
        if code[match.start():match.start(1)].strip() == "":
            continue  # within a comment
        name = match.group(1)
        line = text.count("\n", 0, match.start()) + 1
        if name.startswith('"'):
            target = name.strip('"')
            if not (root / target).is_file():
                tell(path, line, f"includes {name}: not a path from the repository's root")
            elif room in ("ring", "storage") and not target.startswith(room + "/"):
                tell(path, line, f"includes {name}: {room}/ includes nothing of another room")
        if room not in ROOMS:
            continue
        for pattern, homes in HOMES:
            if re.fullmatch(pattern, name) and not matches(path, homes):
                tell(path, line, f"includes {name}: its only home is {' or '.join(homes)}")


def check_calls(path, text, tell):
    banned = []
    if matches(path, PURE) and not matches(path, NOT_PURE):
        banned = CLOCKS + SLEEPS + THREADS
    elif path.startswith("tests/unit/"):
        banned = SLEEPS
    elif matches(path, SAYS) and not matches(path, SAYS_ITSELF):
        banned = PRINTS
    if not banned:
        return
    mend = {id(SLEEPS): "what needs time takes a clock", id(PRINTS): "say() and complain() of node/run/say.h escape"}.get(
        id(banned), "a pure rule takes `now` and returns effects")
    for number, line in enumerate(code_only(text).split("\n"), 1):
        for pattern, what in banned:
            if re.search(pattern, line):
                tell(path, number, f"{what}: {mend}")


def arguments_from(code, at):
    """How many arguments there are in the brackets that open at this place."""
    depth, commas, empty = 0, 0, True
    for character in code[at:]:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                break
        elif character == "," and depth == 1:
            commas += 1
        if depth > 1 or not (character.isspace() or character in "([{"):
            empty = False
    return 0 if empty else commas + 1


def check_files(path, text, tell):
    if path.split("/", 1)[0] not in ROOMS:
        return
    code = code_only(text, literals="x")  # they are arguments

    def breach(match, name):
        tell(path, code.count("\n", 0, match.start()) + 1,
             f"{name} throws: give it a std::error_code, or use is_there() of node/run/denied.h")

    for match in FILE_CALL.finditer(code):
        name = match.group(1)
        count = arguments_from(code, match.start(2))
        if count <= FILE_CALLS[name] and not (count == 0 and name.endswith("iterator")):
            breach(match, name)
    for match in FILE_ENTRY.finditer(code):
        breach(match, match.group(1) or match.group(2))
    for match in FILE_LOOP.finditer(code):
        breach(match, "the step of a loop over " + match.group(1))


def check_form(path, text, tell):
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_MAX:
            tell(path, number, f"line of {len(line)} characters (at most {LINE_MAX})")
        found = WORDS.search(line)
        if found:
            tell(path, number, f"the word {found.group()}: finish it, or write an issue")
    if len(lines) - 1 > FILE_MAX:
        tell(path, len(lines) - 1, f"file of {len(lines) - 1} lines (at most {FILE_MAX}): one idea a file")
    if path.endswith(".h"):
        if not text.startswith("//"):
            tell(path, 1, "a header begins with a comment that says what it is for")
        if not re.search(r"^#pragma once$", text, re.MULTILINE):
            tell(path, 1, "a header has #pragma once")


def check_tree(root):
    breaches = []

    def tell(path, line, what):
        breaches.append(f"{path}:{line}: {what}")

    files = sorted(p for room in (*ROOMS, "tests") for p in (root / room).rglob("*")
                   if p.suffix in (".cc", ".h") and "node_modules" not in p.parts and p.is_file())
    for file in files:
        path = file.relative_to(root).as_posix()
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            tell(path, 1, f"not UTF-8: {error}")
            continue
        check_includes(root, path, text, tell)
        check_calls(path, text, tell)
        check_files(path, text, tell)
        check_form(path, text, tell)
    return breaches, len(files)


HEAD = "// What it is for.\n#pragma once\n"
# (file, text, what must be told; None: nothing)
SAMPLES = [
    ("ring/good.h", HEAD + "// system_clock::now() and std::thread are only words here\n", None),
    ("ring/quote.cc", "const char* a = \"std::random_device\"; int runtime(int); int b = runtime(0);\n", None),
    ("ring/zmq_good.cc", "#include <zmq.hpp>\n#include <thread>\nstd::thread t;\n", None),
    ("storage/rocks_good.cc", "#include <rocksdb/db.h>\nauto t = std::chrono::system_clock::now();\n", None),
    ("node/run/loop.cc", "#include \"ring/good.h\"\nauto t = std::chrono::system_clock::now();\n", None),
    ("ring/up.cc", "#include \"node/base.h\"\n", "not a path"),
    ("ring/sideways.cc", "#include \"storage/good.h\"\n", "another room"),
    ("storage/sideways.cc", "#include \"ring/good.h\"\n", "another room"),
    ("storage/good.h", HEAD, None),
    ("ring/socket.cc", "#include <zmq.hpp>\n", "only home is ring/zmq_*"),
    ("ring/other.cc", "#include <msgpack.hpp>\n", "only home is ring/codec.cc"),
    ("storage/db.cc", "#include <rocksdb/db.h>\n", "only home is storage/rocks_*"),
    ("node/fetch/get.cc", "#include <curl/curl.h>\n", "only home is node/fetch/curl_*"),
    ("node/fetch/name.cc", "#include <ares.h>\n", "only home is node/fetch/cares_*"),
    ("node/html/tree.cc", "#include <tidy.h>\n", "only home is node/html/tidy_*"),
    ("node/sitemap/sitemap.cc", "#include <expat.h>\n", "only home is node/sitemap/expat_*"),
    ("node/html/guess.cc", "#include <cld2/public/compact_lang_det.h>\n", "only home is node/html/cld2_*"),
    ("node/run/other.cc", "#include <boost/log/core.hpp>\n", "only home is node/run/boost_log.cc"),
    ("node/config/file.cc", "#include <toml++/toml.h>\n", "only home is node/config/toml_*"),
    ("node/url/match.cc", "#include <re2/re2.h>\n", "only home is node/url/re2_*"),
    ("node/url/idna.cc", "#include <unicode/uidna.h>\n", "only home is node/url/icu_*"),
    ("ring/clock.cc", "auto t = std::chrono::steady_clock::now();\n", "reads a clock"),
    ("storage/clock.cc", "auto t = time(nullptr);\n", "reads a clock"),
    ("node/url/clock.cc", "void f() { gettimeofday(&a, 0); }\n", "reads a clock"),
    ("node/html/dice.cc", "std::random_device d;\n", "uses a random device"),
    ("node/robots/wait.cc", "void f() { std::this_thread::sleep_for(a); }\n", "sleeps"),
    ("node/crawl/wait.cc", "std::thread t;\n", "starts a thread"),
    ("tests/unit/wait_test.cc", "void f() { ::usleep(5); }\n", "sleeps"),
    ("node/cli/says.cc", "void f() { std::printf(a); }\n", "prints"),
    ("node/cli/streams.cc", "void f() { std::cout << a; }\n", "prints"),
    ("node/cli/formats.cc", "void f() { std::snprintf(a, 1, b); g(std::cin, std::cout); }\n", None),
    ("node/run/quiet.cc", "bool a = std::filesystem::exists(b(c, d), e) || fs::remove(\"f,g\", h);\n", None),
    ("node/run/looks.cc", "for (std::filesystem::directory_iterator at(a, b), end; at != end; at.increment(b)) c(at);\n",
     None),
    ("node/run/ends.cc", "bool a = at != std::filesystem::directory_iterator();\n", None),
    ("node/run/throws.cc", "bool a = std::filesystem::exists(b + \"/c\");\n", "exists throws"),
    ("node/cli/throws.cc", "bool a = fs::is_directory(b(c, d));\n", "is_directory throws"),
    ("storage/throws.cc", "void f() { std::filesystem::rename(a,\n  b); }\n", "rename throws"),
    ("node/run/where.cc", "auto a = std::filesystem::temp_directory_path();\n", "temp_directory_path throws"),
    ("node/run/walks.cc", "std::filesystem::directory_iterator at(directory);\n", "directory_iterator throws"),
    ("node/run/steps.cc", "void f() { for (auto& a : std::filesystem::directory_iterator(b, c)) d(a); }\n",
     "the step of a loop"),
    ("node/run/entry.cc", "bool a = at->is_directory();\n", "is_directory throws"),
    ("node/run/long.cc", "// " + "x" * 118 + "\n", "line of 121"),
    ("node/run/tall.cc", "int a;\n" * 601, "file of 601"),
    ("node/run/bare.h", "#pragma once\n", "begins with a comment"),
    ("node/run/open.h", "// What it is for.\n", "has #pragma once"),
    ("node/run/later.cc", "// TO" + "DO: more\n", "the word"),
]


def self_test():
    failures = 0
    for name, text, expected in SAMPLES:
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for other, content, _ in SAMPLES:
                if other in ("ring/good.h", "storage/good.h") or other == name:
                    (root / other).parent.mkdir(parents=True, exist_ok=True)
                    (root / other).write_text(content, encoding="utf-8")
            breaches, _ = check_tree(root)
        right = not breaches if expected is None else (
            len(breaches) == 1 and breaches[0].startswith(name + ":") and expected in breaches[0])
        if not right:
            failures += 1
            print(f"{name}: expected {expected!r}, told {breaches}")
    print(f"house rules, self-test: {len(SAMPLES) - failures} of {len(SAMPLES)} samples right")
    return failures == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return 0 if self_test() else 1
    breaches, count = check_tree(arguments.root)
    for breach in breaches:
        print(breach)
    print(f"house rules: {count} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
