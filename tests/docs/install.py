#!/usr/bin/env python3
"""cmake --install puts the program, its manual page, its completion and the documentation below a prefix, and they
work.

    tests/docs/install.py     exit code 1 when something does not; needs build/release to be built
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
HIDDEN = {"--settings-fd"}

# (words of the command line, the last one to be completed; what must be offered; what must not)
COMPLETIONS = [
    (["orbweaver", "cr"], {"crawl"}, {"status"}),
    (["orbweaver", "expo"], {"export"}, set()),
    (["orbweaver", "export", ""], {"urls"}, {"crawl"}),
    (["orbweaver", "crawl", "--sco"], {"--scope"}, {"--seeds"}),
    (["orbweaver", "crawl", "--scope", ""], {"host", "domain", "prefix", "any"}, {"--scope"}),
    (["orbweaver", "crawl", "--scope", "d"], {"domain"}, {"host"}),
    (["orbweaver", "crawl", "https://a.example/", "--peers", "2", "--max-p"], {"--max-pages"}, {"--join"}),
    (["orbweaver", "node", "--jo"], {"--join"}, set()),
    (["orbweaver", "status", "--dir", "sh"], {"share"}, {"--dir"}),
    (["orbweaver", "crawl", "--seeds", "fi"], {"file"}, set()),
    (["orbweaver", "crawl", "--max-pages", ""], set(), {"--max-pages", "crawl"}),
]


SECOND_PROGRAM = {"lab", "sampleweb"}  # orbweaver-lab's, which tells its options itself


def run(command, **more):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False, **more)


def commands_of(program, words=()):
    """Every command, as words, with what its --help prints; of the second program's commands only their names."""
    if words and words[0] in SECOND_PROGRAM:
        yield words, ""
        return
    text = run([program, *words, "--help"]).stdout
    listed = re.search(r"^Subcommands:\n((?:  .*\n?)+)", text, re.MULTILINE)
    names = re.findall(r"^  ([a-z][a-z-]*)", listed.group(1), re.MULTILINE) if listed else []
    if not names:
        yield words, text
    for name in names:
        yield from commands_of(program, (*words, name))


def completions(script, words, directory):
    lines = [f"source '{script}'", "COMP_WORDS=(" + " ".join(f"'{word}'" for word in words) + ")",
             f"COMP_CWORD={len(words) - 1}", "_orbweaver", 'printf "%s\\n" "${COMPREPLY[@]}"']
    done = run(["bash", "-euc", "\n".join(lines)], cwd=directory)
    if done.returncode not in (0, 1) or done.stderr:
        return None, done.stderr
    return set(done.stdout.split()), ""


def check(prefix, tell):
    done = run(["cmake", "--install", BUILD, "--prefix", prefix])
    if done.returncode != 0:
        tell(f"cmake --install: {done.stdout[-600:]}{done.stderr[-600:]}")
        return
    program = prefix / "bin" / "orbweaver"
    version = run([program, "--version"], env={"PATH": f"{prefix}/bin"})
    if version.returncode != 0 or not version.stdout.startswith("orbweaver "):
        tell(f"{program} --version: {version.stdout}{version.stderr}")
    for name in ("README.md", "docs/README.md", "docs/reference/settings.md", "docs/start/ring.svg", "LICENSE"):
        if not (prefix / "share/doc/orbweaver" / name).is_file():
            tell(f"share/doc/orbweaver/{name} is not there")

    page = prefix / "share/man/man1/orbweaver.1"
    manual = page.read_text(encoding="utf-8") if page.is_file() else ""
    shown = re.sub(r"\\f[A-Z]", "", manual).replace("\\-", "-")
    for words, text in commands_of(program):
        if words and f"\n.SS {' '.join(words)}\n" not in shown:
            tell(f"the manual page has no section for: {' '.join(words)}")
        for flag in re.findall(r"^  (?:-\w,)?(--[a-z][a-z0-9-]*)", text, re.MULTILINE):
            entry = rf"(?m)^(?:-\w, )?(?:--[\w-]+, )*{flag}\b"
            if flag != "--help" and flag not in HIDDEN and not re.search(entry, shown):
                tell(f"the manual page has no entry for: {' '.join(words)} {flag}")
    for name in HIDDEN:
        if name in shown:
            tell(f"the manual page has {name}, which is hidden")
    if shutil.which("groff"):
        warnings = run(["groff", "-man", "-Kutf8", "-ww", "-z", page])
        if warnings.stderr or warnings.returncode != 0:
            tell(f"groff: {warnings.stderr[:400]}")

    script = prefix / "share/bash-completion/completions/orbweaver"
    with tempfile.TemporaryDirectory() as directory:
        (pathlib.Path(directory) / "share").mkdir()
        (pathlib.Path(directory) / "file").touch()
        for words, offered, not_offered in COMPLETIONS:
            found, error = completions(script, words, directory)
            if found is None:
                tell(f"completion of {words}: {error}")
            elif not offered <= found or found & not_offered:
                tell(f"completion of {words}: offers {sorted(found)}")


def main():
    faults = []
    with tempfile.TemporaryDirectory() as prefix:
        check(pathlib.Path(prefix), faults.append)
    for fault in faults:
        print(fault)
    print(f"install: {len(COMPLETIONS)} completions, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
