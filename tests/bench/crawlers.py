"""The crawlers that tests/bench/run sets side by side: a command for each, for a site of doc_site.py."""

import os
import shutil
import subprocess
import sys

import doc_site
import heritrix_job

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FLOOR = os.path.join(ROOT, "build", "release", "tests", "bench_floor")
IGNORED_TAGS = "img,script,link,audio,video,source,object,embed,input,body,table,td,th,form,track"
FOLLOWED_TAGS = "a,area,frame,iframe,base,meta"


def scrapy_python():
    """The interpreter of a virtual environment that has Scrapy."""
    directory = os.path.join(ROOT, "build", "scrapy-venv")
    python = os.path.join(directory, "bin", "python")
    if (
        not os.path.exists(python)
        or subprocess.run([python, "-c", "import scrapy"], capture_output=True, check=False).returncode != 0
    ):
        print("==> installing Scrapy under build/", file=sys.stderr)
        for command in ([sys.executable, "-m", "venv", directory], [python, "-m", "pip", "install", "-q", "scrapy"]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise doc_site.SiteError(
                    "cannot install Scrapy:\n"
                    + done.stderr.strip()[-500:]
                    + "\nfix: sudo apt-get install -y python3-venv, or --only for the other crawlers"
                )
    return python


def built(name, sources, commands, made):
    """A program of tests/bench/rivals, built under build/; nothing when its language's tools are not there."""
    directory = os.path.join(ROOT, "build", "rivals", name)
    program = os.path.join(directory, made)
    if os.path.exists(program):
        return program
    tool = commands[0][0]
    if not shutil.which(tool):
        print(f"==> {name} is left out: {tool} is not there", file=sys.stderr)
        return None
    print(f"==> building {name} under build/", file=sys.stderr)
    os.makedirs(directory, exist_ok=True)
    for source in sources:
        shutil.copy(os.path.join(HERE, "rivals", name, source), directory)
    for command in commands:
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise doc_site.SiteError(f"cannot build {name}:\n{done.stderr.strip()[-500:]}\n"
                                     "fix: --only for the other crawlers")
    return program


def orbweaver(binary, site, *more):
    def command(directory):
        return [binary, "crawl", *site.seeds(), "--delay", "0s", "--scope", "host", "--out", os.path.join(directory, "out"),
                "--json", "--quiet", *more, *site.crawl_flags()]

    return command


def wget2(site):
    # It follows links in what it writes to /dev/null all the same, and keeps no page.
    return lambda _: ["wget2", "--no-config", "-q", "-r", "-l", "inf", f"--max-threads={len(site.address)}", "--tries=1",
                      "-O", "/dev/null", "--ignore-tags=" + IGNORED_TAGS, *site.seeds()]


def wget(site):
    return lambda directory: ["wget", "--no-config", "-q", "-r", "-l", "inf", "-H", "-D", ",".join(site.address),
                              "--follow-tags=" + FOLLOWED_TAGS, "--tries=1", "--delete-after", "-P", directory,
                              *site.seeds()]


def floor(site):
    return lambda directory: [FLOOR, "--store", os.path.join(directory, "store"), *site.seeds()]


def scrapy(site):
    python = scrapy_python()
    return lambda _: [python, os.path.join(HERE, "scrapy_spider.py"), str(len(site.address)), *site.seeds()]


def colly(site):
    program = built("colly", ["main.go"], [
        ["go", "mod", "init", "bench_colly"], ["go", "get", "github.com/gocolly/colly/v2@v2.3.0"],
        ["go", "build", "-o", "bench_colly", "."]], "bench_colly")
    return program and (lambda _: [program, str(len(site.address)), *site.seeds()])


def spider(site):
    program = built("spider", ["Cargo.toml", "main.rs"], [["cargo", "build", "--release"]],
                    os.path.join("target", "release", "bench_spider"))
    return program and (lambda _: [program, *site.seeds()])


def heritrix(home, site, archive):
    return lambda directory: heritrix_job.command(os.path.abspath(home), directory, site.seeds(), archive)


def all_of(options, site):
    """{name: a function that makes a command for a directory}, in the order in which they take their turns."""
    def ours(*more):
        return lambda: orbweaver(options.binary, site, *more)

    one = ("--peers", "1")
    makers = {
        "floor": lambda: floor(site),
        "wget2": lambda: wget2(site),
        "orbweaver": ours(*one, "--archive", "off"),
        "orbweaver, gzip": ours(*one, "--archive", "gzip"),
        "orbweaver, text": ours(*one, "--archive", "off", "--text"),
        "orbweaver, 2 peers": ours("--peers", "2", "--archive", "off"),
        "orbweaver, 3 peers": ours("--peers", "3", "--archive", "off"),
        "orbweaver, 3 peers, 2 copies": ours("--peers", "3", "--replicas", "2", "--archive", "off"),
        "orbweaver, 3 peers, 3 copies": ours("--peers", "3", "--replicas", "3", "--archive", "off"),
        "wget": lambda: wget(site),
        "colly": lambda: colly(site),
        "spider": lambda: spider(site),
        "scrapy": lambda: scrapy(site),
    }
    if options.heritrix:
        makers["heritrix"] = lambda: heritrix(options.heritrix, site, False)
        makers["heritrix, gzip"] = lambda: heritrix(options.heritrix, site, True)
    made = {name: make() for name, make in makers.items() if not options.only or name in options.only}
    return {name: command for name, command in made.items() if command}
