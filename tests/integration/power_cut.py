"""A disk that can lose its power: processes with power_cut.c preloaded write below a directory, and cut() takes that
directory back to what was synced.

What is kept of a file is its length at its last fsync or fdatasync; of a directory, the names that it held at its last
fsync. That is the least that POSIX promises; real file systems often keep more. Files only grow here: a file that is
overwritten in place keeps what was written over it.
"""

import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


class Disk:
    """What is there when it is made, and after each cut, is synced."""

    def __init__(self, place):
        place = pathlib.Path(place)
        self.root = place / "disk"
        self.graves = place / "graves"
        self.log = place / "synced.log"
        self.root.mkdir()
        self.graves.mkdir()
        library = place / "power_cut.so"
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "power_cut.c"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"cc cannot compile power_cut.c: {done.stderr}")
        self.environment = {
            "LD_PRELOAD": str(library),
            "POWER_CUT_ROOT": str(self.root),
            "POWER_CUT_LOG": str(self.log),
            "POWER_CUT_GRAVES": str(self.graves),
        }
        self.begin()

    def begin(self):
        """All that is there now counts as synced."""
        shutil.rmtree(self.graves)
        self.graves.mkdir()
        lines = []
        for directory, _, names in os.walk(self.root):
            entries = "".join(f"/{entry.name} {entry.inode()}" for entry in os.scandir(directory))
            lines.append(f"D {os.stat(directory).st_ino} {entries}\n")
            for status in (os.lstat(os.path.join(directory, name)) for name in names):
                lines.append(f"S {status.st_ino} {status.st_size}\n")
        self.log.write_text("".join(lines), encoding="utf-8")

    def cut(self):
        """After the end of all processes: {path below the disk: bytes lost} of the files that lost some; of a file that
        is gone, all of them."""
        names, sizes = self._synced()
        directories, files = {}, {int(path.name): path for path in self.graves.iterdir()}
        before = {}
        for place, _, found in os.walk(self.root):
            directories[os.stat(place).st_ino] = pathlib.Path(place)
            for path in (pathlib.Path(place) / name for name in found):
                files[path.lstat().st_ino] = path
                before[path.relative_to(self.root)] = path.lstat().st_size
        fresh = self.root.with_name("disk.after")

        def restore(inode, to):
            to.mkdir()
            shutil.copystat(directories[inode], to)
            for name, entry in names.get(inode, {}).items():
                if entry in directories:
                    restore(entry, to / name)
                elif entry in files:
                    data = files[entry].read_bytes()[: sizes.get(entry, 0)]
                    (to / name).write_bytes(data)
                    shutil.copystat(files[entry], to / name)
                else:
                    raise AssertionError(f"{to / name} was synced, and its inode {entry} is nowhere")

        restore(self.root.stat().st_ino, fresh)
        shutil.rmtree(self.root)
        fresh.rename(self.root)
        self.begin()
        after = {path: self.root / path for path in before}
        left = {path: at.stat().st_size if at.is_file() else 0 for path, at in after.items()}
        return {str(path): size - left[path] for path, size in before.items() if size > left[path]}

    def _synced(self):
        """({directory's inode: {name: inode}}, {file's inode: bytes}), by the last line of each."""
        names, sizes = {}, {}
        for line in self.log.read_text(encoding="utf-8").splitlines():
            kind, inode, rest = line.split(" ", 2)
            if kind == "S":
                sizes[int(inode)] = int(rest)
            else:
                entries = (entry.rsplit(" ", 1) for entry in rest.split("/")[1:])
                names[int(inode)] = {name: int(number) for name, number in entries}
        return names, sizes
