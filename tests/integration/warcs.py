"""Reads WARC files by the book (ISO 28500, RFC 1952), with nothing of the product: every record a gzip
member of its own, every length right, nothing between or after. What is torn raises."""

import zlib


class Torn(Exception):
    """A file that does not hold whole records from its first byte to its last."""


def records(path, torn=False):
    """[(header fields, block)] of a .warc.gz file; torn: up to the first that is not whole."""
    try:
        return _records(path, found := [])
    except Torn:
        if torn:
            return found
        raise


def _records(path, found):
    data = path.read_bytes()
    at = 0
    while at < len(data):
        unpacker = zlib.decompressobj(31)
        try:
            record = unpacker.decompress(data[at:])
        except zlib.error as error:
            raise Torn(f"{path.name}: at byte {at}: {error}") from error
        if not unpacker.eof:
            raise Torn(f"{path.name}: the member at byte {at} has no end")
        at = len(data) - len(unpacker.unused_data)
        head, mark, rest = record.partition(b"\r\n\r\n")
        lines = head.decode("utf-8").split("\r\n")
        if not mark or lines[0] != "WARC/1.1":
            raise Torn(f"{path.name}: no WARC/1.1 record ends at byte {at}: {record[:60]}")
        fields = dict(line.split(": ", 1) for line in lines[1:])
        length = int(fields["Content-Length"])
        if rest[length:] != b"\r\n\r\n":
            raise Torn(f"{path.name}: the record that ends at byte {at} is not as long as it says")
        found.append((fields, rest[:length]))
    return found


def responses(whole):
    """{URL: how many response records}."""
    found = {}
    for fields, _ in whole:
        if fields["WARC-Type"] == "response":
            found[fields["WARC-Target-URI"]] = found.get(fields["WARC-Target-URI"], 0) + 1
    return found


def read_left(directory):
    """The same of all that a crash left below a directory: files that are still open, and torn ones."""
    every = []
    for path in sorted([*directory.rglob("*.warc.gz"), *directory.rglob("*.warc.gz.open")]):
        every += records(path, torn=True)
    return responses(every)


def read_all(directory):
    """{URL: how many response records}, of all *.warc.gz below a directory; raises Torn."""
    every, ids = [], set()
    for path in sorted(directory.rglob("*.warc.gz")):
        whole = records(path)
        if not whole or whole[0][0]["WARC-Type"] != "warcinfo":
            raise Torn(f"{path.name}: does not begin with warcinfo")
        for fields, _ in whole:
            if fields["WARC-Record-ID"] in ids:
                raise Torn(f"{path.name}: the record id {fields['WARC-Record-ID']} occurs twice")
            ids.add(fields["WARC-Record-ID"])
        every += whole
    return responses(every)
