"""Small disks: file systems in memory, each for one peer's directory."""

import os
import pathlib
import subprocess

LABEL = "owch"  # the device's name in the table of mounts


def make(path, mebibytes):
    """A file system of that size at a new directory."""
    path.mkdir()
    options = f"size={mebibytes}m,mode=700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, LABEL, path], check=True, capture_output=True)


def below(directory):
    """Where there are small disks below a directory."""
    lines = pathlib.Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    found = [pathlib.Path(words[1]) for line in lines if (words := line.split())[0] == LABEL]
    return [path for path in found if path.is_relative_to(directory)]


def remove(path):
    """It may be gone already."""
    subprocess.run(["umount", "-l", path], check=False, capture_output=True)


def fill(path):
    """Leaves no room: the file to remove for some."""
    ballast = path / "ballast"
    with open(ballast, "ab", buffering=0) as file:
        while (free := os.statvfs(path).f_bavail * os.statvfs(path).f_frsize) > 0:
            try:
                file.write(bytes(min(1 << 20, free)))
            except OSError:  # what was free is gone: the peer writes, too
                break
    return ballast
