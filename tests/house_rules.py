#!/usr/bin/env python3
"""The house rules that a compiler does not hold: who includes what, where a library lives, what a pure rule may not
call, which calls throw, how long lines and files are.

    tests/house_rules.py [--root DIR]     check the tree; one line for each breach, exit code 1 when there is one
    tests/house_rules.py --self-test      break each rule once in a tree of its own, and see that it is told
    tests/house_rules.py --write-rooms    make the table of rooms in docs/inside/architecture.md from deploy/rooms.cmake
"""
import argparse
import dataclasses
import fnmatch
import pathlib
import posixpath
import re
import shlex
import sys
import tempfile

LINE_MAX = 120  # characters
FILE_MAX = 600  # lines
TOPS = ("node", "ring", "storage")

# Each library's headers, the only files of the rooms that include them, and its target in deploy/rooms.cmake, if it has one.
HOMES = [
    (r"<zmq[._a-z]*>", ["ring/zmq_*"], "PkgConfig::ZMQ"),
    (r"<msgpack(\.hpp|/.*)>", ["ring/codec.cc"], "msgpackc-cxx"),
    (r"<rocksdb/.*>", ["storage/rocks_*"], "RocksDB::rocksdb-shared"),
    (r"<curl/.*>", ["node/fetch/curl_*"], "CURL::libcurl"),
    (r"<ares[a-z_]*\.h>", ["node/fetch/cares_*"], "PkgConfig::CARES"),
    (r"<openssl/(ssl|x509.*)\.h>", ["node/fetch/curl_tls.cc"], "OpenSSL::SSL"),
    (r"<openssl/evp\.h>", ["ring/md5.cc", "storage/sha1.cc", "node/digest/sha256.cc", "node/control/control_token.cc",
      "node/archive/signature.cc"], "OpenSSL::Crypto"),
    (r"<tidy(/.*|[a-z]*\.h)>", ["node/html/tidy_*"], "orbweaver_tidy"),
    (r"<boost/(asio|beast)[./].*>", ["node/http_server/*"], None),
    (r"<boost/(?!asio|beast).*>", ["node/process/boost_log.cc"], "Boost::log"),
    (r"<prometheus/.*>", ["node/process/metrics.*"], "prometheus-cpp::core"),
    (r"<toml\+\+/.*>", ["node/config/sources/toml_*"], None),
    (r"<unicode/.*>", ["node/url/icu_*", "node/charset/icu_*"], "PkgConfig::ICU"),
    (r"<libpsl\.h>", ["node/url/registrable_domain.cc"], "PkgConfig::PSL"),
    (r"<brotli/.*>", ["node/http/content_decoder.cc"], "PkgConfig::BROTLI"),
    (r"<zstd\.h>", ["node/http/content_decoder.cc"], "PkgConfig::ZSTD"),
    (r"<libdeflate\.h>", ["node/http/content_decoder.cc", "node/archive/index_lines.cc", "storage/warc_*", "storage/link_trace*"], "PkgConfig::DEFLATE"),
    (r"<zlib\.h>", ["node/http/content_decoder.cc", "node/archive/index_file.cc", "node/sampleweb/*", "storage/warc_*"], "ZLIB::ZLIB"),
    (r"<expat[._a-z]*>", ["node/sitemap/expat_*"], "PkgConfig::EXPAT"),
    (r"<sqlite3.*>", ["node/lab/dedup/sqlite_*"], "PkgConfig::SQLITE"),
    (r"<cld2/.*>", ["node/text/cld2_*"], "cld2"),
    (r"<re2/.*>", ["node/scope/re2_*"], "PkgConfig::RE2"),
    (r"<seccomp\.h>", ["node/system/seccomp.cc"], "PkgConfig::SECCOMP"),
    (r"<CLI/.*>", ["node/cli/*", "node/lab/commands/*", "node/terminal/command_line.*"], None),
]

# What a pure room names none of, but for its IO_FILES (deploy/rooms.cmake): `now` is passed in, effects are returned.
CLOCKS = [
    (r"_clock\s*::\s*now\b", "reads a clock"),
    (r"\b(gettimeofday|clock_gettime|timespec_get|ftime)\s*\(", "reads a clock"),
    (r"(?<![\w.>:])(?:std::|::)?time\s*\(\s*(?:nullptr|NULL|0|&\w+)\s*\)", "reads a clock"),
    (r"\brandom_device\b", "uses a random device"),
    (r"(?<![\w.>:])(?:std::|::)?(?:rand|srand|random|arc4random|getrandom)\s*\(", "uses a random device"),
]
IO = [
    (r"#\s*include\s*<(sys/(socket|un|epoll|eventfd|ioctl)|netinet/\w+|netdb|poll)\.h>", "names a socket"),
    (r"(?<![\w.>:])::(?:socket|connect|bind|listen|accept4?|send|sendto|recv|recvfrom)\s*\(", "names a socket"),
    (r"#\s*include\s*<(fstream|filesystem|iostream|(sys/(file|stat|statvfs|mman)|fcntl|dirent|unistd)\.h)>", "names a file"),
    (r"\bstd\s*::\s*(FILE|fopen|freopen|tmpfile|filesystem|[io]?fstream)\b|(?<![\w.>:])(?:::)?fopen\s*\(", "names a file"),
    (r"#\s*include\s*<(thread|mutex|shared_mutex|condition_variable|future|semaphore|stop_token|pthread\.h)>",
     "names a thread"),
]
SLEEPS = [(r"\b(sleep_for|sleep_until)\b|(?<![\w.>:])(?:std::|::)?(?:sleep|usleep|nanosleep)\s*\(", "sleeps")]
THREADS = [(r"\bstd\s*::\s*(thread|jthread|async|(shared_|recursive_)?mutex)\b|\bpthread_create\b", "names a thread")]

# What commands print may be a stranger's words: node/terminal/say.h escapes what a terminal would obey.
SAYS = ["node/cli/*", "node/lab/*", "node/tools/*", "node/process/peer_process.cc"]
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


@dataclasses.dataclass
class Room:
    """A line of deploy/rooms.cmake."""

    folder: str
    what: str
    pure: bool = False
    io_files: list = dataclasses.field(default_factory=list)
    uses: list = dataclasses.field(default_factory=list)
    libraries: list = dataclasses.field(default_factory=list)
    line: int = 0

    def is_io(self, path):
        """Whether a file of the room, or one that is not there yet, may name sockets, files and threads."""
        return not self.pure or matches(posixpath.basename(path), self.io_files)


def read_rooms(root):
    """{folder: Room} of deploy/rooms.cmake, in its order."""
    text = (root / "deploy/rooms.cmake").read_text(encoding="utf-8")
    rooms = {}
    for match in re.finditer(r"^orbweaver_room\(", text, re.MULTILINE):
        end = text.index("\n", match.end())
        words = shlex.split(text[match.end():end].rstrip().removesuffix(")"))
        room = Room(folder=words[0], what=words[1], line=text.count("\n", 0, match.start()) + 1)
        lists = {"IO_FILES": room.io_files, "USES": room.uses, "LIBRARIES": room.libraries}
        into = None
        for word in words[2:]:
            if word == "PURE":
                room.pure = True
            elif word in lists:
                into = lists[word]
            else:
                into.append(word)
        rooms[room.folder] = room
    return rooms


def rooms_table(rooms):
    """The table of docs/inside/architecture.md."""
    def names(folders):
        below = [folder.removeprefix("node/") for folder in folders if folder.startswith("node/")]
        tops = [f"`{folder}`" for folder in folders if not folder.startswith("node/")]
        return ", ".join([*tops, *(f"`{name}`" for name in below)]) or "nothing"

    lines = ["| room | what | pure | may include |", "| --- | --- | --- | --- |"]
    for room in rooms.values():
        pure = "no" if not room.pure else "yes"
        if room.io_files:
            pure = "but for " + ", ".join(f"`{name}`" for name in room.io_files)
        lines.append(f"| `{room.folder}` | {room.what} | {pure} | {names(room.uses)} |")
    return "\n".join(lines) + "\n"


DOC = "docs/inside/architecture.md"
DOC_TABLE = re.compile(r"(<!-- rooms: tests/house_rules.py --write-rooms -->\n)(.*?)(<!-- end of rooms -->)", re.DOTALL)


def check_rooms(root, rooms, used, tell):
    """The table itself: no arrow runs back or is there for nothing, pure rooms see pure ones, libraries are at home, the
    document has the same table. `used`: {(room, room)} of the includes."""
    above = []
    for room in rooms.values():
        for other in room.uses:
            if other not in above:
                tell("deploy/rooms.cmake", room.line, f"{room.folder} uses {other}, which is not a room above it")
            elif room.pure and not rooms[other].pure:
                tell("deploy/rooms.cmake", room.line, f"{room.folder} is pure and uses {other}, which is not")
            elif (room.folder, other) not in used:
                tell("deploy/rooms.cmake", room.line, f"{room.folder} uses {other}, of which it includes nothing")
        for _, homes, target in HOMES:
            if target in room.libraries and all(posixpath.dirname(home) != room.folder for home in homes):
                tell("deploy/rooms.cmake", room.line, f"{room.folder} links {target}, whose only home is {' or '.join(homes)}")
        above.append(room.folder)
    text = (root / DOC).read_text(encoding="utf-8")
    found = DOC_TABLE.search(text)
    if found is None or found[2] != rooms_table(rooms):
        line = 1 if found is None else text.count("\n", 0, found.start()) + 1
        tell(DOC, line, "its table of rooms is not that of deploy/rooms.cmake: tests/house_rules.py --write-rooms")


def write_rooms(root):
    path = root / DOC
    text = path.read_text(encoding="utf-8")
    path.write_text(DOC_TABLE.sub(lambda m: m[1] + rooms_table(read_rooms(root)) + m[3], text), encoding="utf-8")


def check_arrow(path, line, target, rooms, used, tell):
    """One file of a room includes another file."""
    room, other = posixpath.dirname(path), posixpath.dirname(target)
    if room not in rooms:
        return  # told once for the file
    used.add((room, other))
    if other not in rooms:
        tell(path, line, f"includes {target}: {other}/ is not a room")
    elif other != room and other not in rooms[room].uses:
        tell(path, line, f"includes {target}: {room} may not use {other} (deploy/rooms.cmake)")
    elif not rooms[room].is_io(path) and rooms[other].pure and rooms[other].is_io(target):
        tell(path, line, f"includes {target}: a pure rule includes no file that names sockets, files or threads")


def check_includes(root, path, text, rooms, used, tell):
    top = path.split("/", 1)[0]
    if top in TOPS and posixpath.dirname(path) not in rooms:
        tell(path, 1, f"{posixpath.dirname(path)}/ is not a room: give it a line in deploy/rooms.cmake")
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
            elif top in TOPS:
                check_arrow(path, line, target, rooms, used, tell)
        if top not in TOPS:
            continue
        for pattern, homes, _ in HOMES:
            if re.fullmatch(pattern, name) and not matches(path, homes):
                tell(path, line, f"includes {name}: its only home is {' or '.join(homes)}")


def check_calls(path, text, rooms, tell):
    banned = []
    room = rooms.get(posixpath.dirname(path))
    if room is not None and not room.is_io(path):
        banned = CLOCKS + SLEEPS + THREADS + IO
    elif path.startswith("tests/unit/"):
        banned = SLEEPS
    elif matches(path, SAYS) and not matches(path, SAYS_ITSELF):
        banned = PRINTS
    if not banned:
        return
    mend = {id(SLEEPS): "what needs time takes a clock", id(PRINTS): "say() and complain() of node/terminal/say.h escape"}.get(
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
    if path.split("/", 1)[0] not in TOPS:
        return
    code = code_only(text, literals="x")  # they are arguments

    def breach(match, name):
        tell(path, code.count("\n", 0, match.start()) + 1,
             f"{name} throws: give it a std::error_code, or use is_there() of node/system/denied.h")

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


TYPE = re.compile(r"(?:class|struct|enum class) (\w+)(?: final)?(?: : [^;{]*)? \{")


def check_types(path, text, types, tell):
    """Two types of one name in one namespace break the one-definition rule, and no compiler says so."""
    if not path.endswith(".h") or path.startswith("tests/"):
        return
    spaces = []
    for number, line in enumerate(text.split("\n"), 1):
        opened = re.match(r"(?:inline )?namespace (\S*) ?\{", line)
        if opened:
            spaces.append(opened.group(1))
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        elif found := TYPE.match(line):
            name = "::".join(spaces + [found.group(1)])
            first = types.setdefault(name, path)
            if first != path:
                tell(path, number, f"{name} is a type of {first} already")


def check_tree(root):
    breaches = []
    types = {}

    def tell(path, line, what):
        breaches.append(f"{path}:{line}: {what}")

    rooms = read_rooms(root)
    used = set()
    files = sorted(p for top in (*TOPS, "tests") for p in (root / top).rglob("*")
                   if p.suffix in (".cc", ".h") and "node_modules" not in p.parts and p.is_file())
    for file in files:
        path = file.relative_to(root).as_posix()
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            tell(path, 1, f"not UTF-8: {error}")
            continue
        check_includes(root, path, text, rooms, used, tell)
        check_calls(path, text, rooms, tell)
        check_files(path, text, tell)
        check_form(path, text, tell)
        check_types(path, text, types, tell)
    check_rooms(root, rooms, used, tell)
    return breaches, len(files)


HEAD = "// What it is for.\n#pragma once\n"
# The rooms of the tree that is broken: every arrow is used by one of its GOOD files.
TABLE = """
orbweaver_room(ring "r" PURE IO_FILES zmq_* USES LIBRARIES PkgConfig::ZMQ)
orbweaver_room(storage "s" PURE IO_FILES rocks_* USES LIBRARIES RocksDB::rocksdb-shared)
orbweaver_room(node/text "t" PURE USES LIBRARIES)
orbweaver_room(node/system "s" USES LIBRARIES)
orbweaver_room(node/url "u" PURE USES ring LIBRARIES)
orbweaver_room(node/html "h" PURE USES LIBRARIES)
orbweaver_room(node/robots "r" PURE USES LIBRARIES)
orbweaver_room(node/sitemap "s" PURE USES LIBRARIES)
orbweaver_room(node/scope "s" PURE USES LIBRARIES)
orbweaver_room(node/config/sources "c" USES LIBRARIES)
orbweaver_room(node/crawl "c" PURE USES LIBRARIES)
orbweaver_room(node/fetch "f" USES LIBRARIES)
orbweaver_room(node/process "p" USES node/url ring LIBRARIES)
orbweaver_room(node/cli "c" USES LIBRARIES)
"""
GOOD = {
    "ring/zmq_good.h": HEAD,
    "node/process/good.h": HEAD + "namespace a {\nclass Taken final : public C {\n};\n}  // namespace a\n",
    "node/url/good.h": HEAD + '#include "ring/good.h"\n',
    "node/process/uses.cc": '#include "node/url/good.h"\n#include "ring/good.h"\n',
}
# (file, text, what must be told; None: nothing)
SAMPLES = [
    ("ring/good.h", HEAD + "// system_clock::now() and std::thread are only words here\n", None),
    ("ring/quote.cc", "const char* a = \"std::random_device\"; int runtime(int); int b = runtime(0);\n", None),
    ("ring/zmq_good.cc", "#include <zmq.hpp>\n#include <thread>\nstd::thread t;\n", None),
    ("storage/rocks_good.cc", "#include <rocksdb/db.h>\nauto t = std::chrono::system_clock::now();\n", None),
    ("node/process/loop.cc", "#include \"ring/good.h\"\nauto t = std::chrono::system_clock::now();\n", None),
    ("ring/up.cc", "#include \"node/base.h\"\n", "not a path"),
    ("ring/sideways.cc", "#include \"storage/good.h\"\n", "ring may not use storage"),
    ("storage/sideways.cc", "#include \"ring/good.h\"\n", "storage may not use ring"),
    ("storage/good.h", HEAD, None),
    ("node/url/up.cc", "#include \"node/process/good.h\"\n", "node/url may not use node/process"),
    ("node/process/down.cc", "#include \"node/url/good.h\"\n", None),
    ("node/attic/good.cc", "int a;\n", "node/attic/ is not a room"),
    ("node/url/io.cc", "#include \"ring/zmq_good.h\"\n", "names sockets, files or threads"),
    ("node/url/socket.cc", "#include <sys/socket.h>\n", "names a socket"),
    ("ring/bind.cc", "int a = ::bind(b, c, d);\n", "names a socket"),
    ("node/url/file.cc", "#include <fstream>\n", "names a file"),
    ("storage/file.cc", "std::FILE* a = nullptr;\n", "names a file"),
    ("node/url/lock.cc", "#include <mutex>\n", "names a thread"),
    ("node/process/io.cc", "#include <fcntl.h>\n#include <mutex>\n#include <sys/socket.h>\n", None),
    ("deploy/rooms.cmake", TABLE.replace("USES node/url", "USES node/url node/later"), "node/later, which is not a room above it"),
    ("deploy/rooms.cmake", TABLE.replace("PURE USES ring", "PURE USES ring node/system"), "which is not"),
    ("deploy/rooms.cmake", TABLE.replace("USES node/url", "USES node/url storage"), "of which it includes nothing"),
    ("deploy/rooms.cmake", TABLE.replace("LIBRARIES PkgConfig::ZMQ", "LIBRARIES PkgConfig::ZMQ PkgConfig::SQLITE"),
     "links PkgConfig::SQLITE, whose only home is node/lab/dedup/sqlite_*"),
    ("docs/inside/architecture.md", "<!-- rooms: tests/house_rules.py --write-rooms -->\n<!-- end of rooms -->\n", "--write-rooms"),
    ("ring/socket.cc", "#include <zmq.hpp>\n", "only home is ring/zmq_*"),
    ("ring/other.cc", "#include <msgpack.hpp>\n", "only home is ring/codec.cc"),
    ("storage/db.cc", "#include <rocksdb/db.h>\n", "only home is storage/rocks_*"),
    ("node/fetch/get.cc", "#include <curl/curl.h>\n", "only home is node/fetch/curl_*"),
    ("node/fetch/name.cc", "#include <ares.h>\n", "only home is node/fetch/cares_*"),
    ("node/html/tree.cc", "#include <tidy.h>\n", "only home is node/html/tidy_*"),
    ("node/sitemap/sitemap.cc", "#include <expat.h>\n", "only home is node/sitemap/expat_*"),
    ("node/text/guess.cc", "#include <cld2/public/compact_lang_det.h>\n", "only home is node/text/cld2_*"),
    ("node/process/other.cc", "#include <boost/log/core.hpp>\n", "only home is node/process/boost_log.cc"),
    ("node/config/sources/file.cc", "#include <toml++/toml.h>\n", "only home is node/config/sources/toml_*"),
    ("node/scope/match.cc", "#include <re2/re2.h>\n", "only home is node/scope/re2_*"),
    ("node/url/idna.cc", "#include <unicode/uidna.h>\n", "only home is node/url/icu_*"),
    ("ring/clock.cc", "auto t = std::chrono::steady_clock::now();\n", "reads a clock"),
    ("storage/clock.cc", "auto t = time(nullptr);\n", "reads a clock"),
    ("node/url/clock.cc", "void f() { gettimeofday(&a, 0); }\n", "reads a clock"),
    ("node/html/dice.cc", "std::random_device d;\n", "uses a random device"),
    ("node/robots/wait.cc", "void f() { std::this_thread::sleep_for(a); }\n", "sleeps"),
    ("node/crawl/wait.cc", "std::thread t;\n", "names a thread"),
    ("tests/unit/wait_test.cc", "void f() { ::usleep(5); }\n", "sleeps"),
    ("node/cli/says.cc", "void f() { std::printf(a); }\n", "prints"),
    ("node/cli/streams.cc", "void f() { std::cout << a; }\n", "prints"),
    ("node/cli/formats.cc", "void f() { std::snprintf(a, 1, b); g(std::cin, std::cout); }\n", None),
    ("node/process/quiet.cc", "bool a = std::filesystem::exists(b(c, d), e) || fs::remove(\"f,g\", h);\n", None),
    ("node/process/looks.cc", "for (std::filesystem::directory_iterator at(a, b), end; at != end; at.increment(b)) c(at);\n",
     None),
    ("node/process/ends.cc", "bool a = at != std::filesystem::directory_iterator();\n", None),
    ("node/process/throws.cc", "bool a = std::filesystem::exists(b + \"/c\");\n", "exists throws"),
    ("node/cli/throws.cc", "bool a = fs::is_directory(b(c, d));\n", "is_directory throws"),
    ("node/process/renames.cc", "void f() { std::filesystem::rename(a,\n  b); }\n", "rename throws"),
    ("node/process/where.cc", "auto a = std::filesystem::temp_directory_path();\n", "temp_directory_path throws"),
    ("node/process/walks.cc", "std::filesystem::directory_iterator at(directory);\n", "directory_iterator throws"),
    ("node/process/steps.cc", "void f() { for (auto& a : std::filesystem::directory_iterator(b, c)) d(a); }\n",
     "the step of a loop"),
    ("node/process/entry.cc", "bool a = at->is_directory();\n", "is_directory throws"),
    ("node/process/long.cc", "// " + "x" * 118 + "\n", "line of 121"),
    ("node/process/tall.cc", "int a;\n" * 601, "file of 601"),
    ("node/process/bare.h", "#pragma once\n", "begins with a comment"),
    ("node/process/open.h", "// What it is for.\n", "has #pragma once"),
    ("storage/twice.h", HEAD + "namespace a {\nstruct B {\n};\n}  // namespace a\n"
     "namespace a {\nclass B final {\n};\n}  // namespace a\n", None),
    ("storage/taken.h", HEAD + "namespace a {\nstruct Taken {\n};\n}  // namespace a\n",
     "a::Taken is a type of node/process/good.h already"),
    ("storage/nested.h", HEAD + "namespace a::b {\nstruct Taken {\n};\n}  // namespace a::b\n", None),
    ("node/process/later.cc", "// TO" + "DO: more\n", "the word"),
]


def sample_tree(root, name, text):
    """A tree that keeps all rules but for the one file."""
    rooms = root / "deploy/rooms.cmake"
    rooms.parent.mkdir(exist_ok=True)
    rooms.write_text(text if name == "deploy/rooms.cmake" else TABLE, encoding="utf-8")
    files = {other: content for other, content, _ in SAMPLES if other in ("ring/good.h", "storage/good.h")} | GOOD
    files["docs/inside/architecture.md"] = ("<!-- rooms: tests/house_rules.py --write-rooms -->\n" + rooms_table(read_rooms(root)) +
                                     "<!-- end of rooms -->\n")
    for other, content in (files | {name: text}).items():
        (root / other).parent.mkdir(parents=True, exist_ok=True)
        (root / other).write_text(content, encoding="utf-8")


def self_test():
    failures = 0
    for name, text, expected in SAMPLES:
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            sample_tree(root, name, text)
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
    parser.add_argument("--write-rooms", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return 0 if self_test() else 1
    if arguments.write_rooms:
        write_rooms(arguments.root)
        return 0
    breaches, count = check_tree(arguments.root)
    for breach in breaches:
        print(breach)
    print(f"house rules: {count} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
