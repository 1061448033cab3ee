"""What an independent walker finds at a site: walker.mjs, on npm's parse5, which is installed under build/ when it is
not there. For tests/real/run and tests/bench/run."""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "bench"))

import doc_site  # noqa: E402

PARSE5 = "parse5@7.2.1"


def node_modules():
    """Where parse5 is; installed when it is not there yet."""
    directory = os.path.join(ROOT, "build", "real")
    if not os.path.isdir(os.path.join(directory, "node_modules", "parse5")):
        os.makedirs(directory, exist_ok=True)
        print(f"==> installing {PARSE5}", file=sys.stderr)
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--prefix", directory, PARSE5],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise doc_site.SiteError(f"npm cannot install {PARSE5}:\n{done.stderr.strip()}")
    return directory


def walk(site, modules, *more):
    """{"urls": {URL: status}, "html": N, ...}: the site is a DocSite that runs."""
    flags = site.crawl_flags()
    resolve = [word for i in range(0, len(flags), 2) if flags[i] == "--resolve" for word in flags[i : i + 2]]
    command = ["node", os.path.join(HERE, "walker.mjs"), "--modules", modules, *more, *resolve, *site.seeds()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise doc_site.SiteError(f"the walker fails: {done.stderr.strip()}")
    return json.loads(done.stdout)
