#!/usr/bin/env python3
"""Which URLs stand in WARC files, how often: by the standard library alone, as an archive's independent reader.

warc_urls.py FILE_OR_DIRECTORY… prints {"files":N,"records":{type:N},"responses":{URL:count},"problems":[…]}. Checked
on the way: each record is a gzip member of its own, its lengths are right, its WARC-Block-Digest and
WARC-Payload-Digest (sha1, base32) are those of its bytes.
"""

import base64
import hashlib
import json
import os
import sys
import zlib

PROBLEMS_MAX = 50


def members(path):
    """The bytes of each gzip member of a file."""
    with open(path, "rb") as file:
        data = b""
        while True:
            unpacker = zlib.decompressobj(31)
            out = []
            while not unpacker.eof:
                data = data or file.read(1 << 20)
                if not data:
                    break
                out.append(unpacker.decompress(data))
                data = unpacker.unused_data
            if not unpacker.eof:
                if out:
                    raise ValueError("the last gzip member is cut off")
                return
            yield b"".join(out)


def headers_of(head):
    headers = {}
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        headers[name.decode("latin-1").lower()] = value.strip().decode("utf-8", "replace")
    return headers


def digest(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode("ascii")


def payload_of(block):
    """The body of an HTTP answer without its chunks' framing (RFC 9112, 7.1), content coding kept: what the payload
    digest is over."""
    head, _, body = block.partition(b"\r\n\r\n")
    if not headers_of(head).get("transfer-encoding", "").lower().endswith("chunked"):
        return body
    out, at = [], 0
    while True:
        end = body.find(b"\r\n", at)
        size = body[at:end].split(b";")[0].strip() if end >= 0 else b""
        try:
            length = int(size, 16)
        except ValueError:
            length = 0  # the framing is broken or cut: what stands before it counts
        if length <= 0:
            return b"".join(out)
        out.append(body[end + 2 : end + 2 + length])
        at = end + 2 + length + 2


def check(record, problem):
    """The headers of one record; its faults go to problem()."""
    head, separator, rest = record.partition(b"\r\n\r\n")
    headers = headers_of(head)
    if not separator or not head.startswith(b"WARC/1."):
        problem("a gzip member that holds no WARC record")
        return None
    length = int(headers.get("content-length", "-1"))
    block = rest[:length]
    if length < 0 or rest[length:] != b"\r\n\r\n":
        problem(
            f"{headers.get('warc-type')} {headers.get('warc-target-uri')}: wrong "
            "Content-Length, or more than one record in a member"
        )
        return headers
    if headers.get("warc-block-digest", "").startswith("sha1:") and headers["warc-block-digest"] != digest(block):
        problem(f"{headers.get('warc-target-uri')}: WARC-Block-Digest is not the block's")
    if headers.get("warc-type") == "response":
        payload = payload_of(block)
        stated = headers.get("warc-payload-digest", "")
        if stated.startswith("sha1:") and stated != digest(payload):
            problem(f"{headers.get('warc-target-uri')}: WARC-Payload-Digest is not the body's")
    return headers


def read(paths):
    result = {"files": 0, "records": {}, "responses": {}, "problems": []}
    seen_ids = set()

    def problem(text):
        if len(result["problems"]) < PROBLEMS_MAX:
            result["problems"].append(text)

    for path in paths:
        result["files"] += 1
        try:
            for record in members(path):
                headers = check(record, problem)
                if headers is None:
                    continue
                kind = headers.get("warc-type", "")
                result["records"][kind] = result["records"].get(kind, 0) + 1
                if headers.get("warc-record-id") in seen_ids:
                    problem(f"{path}: {headers.get('warc-record-id')} stands twice")
                seen_ids.add(headers.get("warc-record-id"))
                if kind in ("response", "revisit"):
                    url = headers.get("warc-target-uri", "").strip("<>")
                    result["responses"][url] = result["responses"].get(url, 0) + 1
        except (OSError, ValueError, zlib.error) as error:
            problem(f"{path}: {error}")
    return result


def files_under(path):
    if not os.path.isdir(path):
        return [path]
    return sorted(
        os.path.join(directory, name)
        for directory, _, names in os.walk(path)
        for name in names
        if name.endswith(".warc.gz")
    )


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(json.dumps(read([file for path in sys.argv[1:] for file in files_under(path)]), indent=1))


if __name__ == "__main__":
    main()
