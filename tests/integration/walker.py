"""A small crawler of its own, independent of Orbweaver: what a right crawl of a test's web comes to, by rules that a test
states. One request after the other, Python's own HTML parser and URL functions."""

import collections
import html.parser
import re
import urllib.parse
import urllib.request


class Links(html.parser.HTMLParser):
    """Links in document order, as written, without the white space around them: [(href, classes of it and around it)]."""

    VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
    ATTRIBUTES = {"a": "href", "area": "href", "iframe": "src", "frame": "src"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.base = None
        self.found = []
        self.open = []
        self.raw = None
        # The parser takes "-- >" for a comment's end, which the HTML standard does not (13.2.5.51).
        self.feed(re.sub("<!--.*?-->", "", text, flags=re.DOTALL))
        self.close()

    def handle_starttag(self, tag, attrs):
        if self.raw:
            return
        if tag in ("textarea", "title"):
            self.raw = tag
        names = dict(reversed(attrs))
        here = (tag, names.get("id"), frozenset((names.get("class") or "").split()))
        if tag == "base" and self.base is None:
            self.base = names.get("href")
        href = names.get(self.ATTRIBUTES.get(tag, ""))
        if tag == "link" and {"next", "prev", "canonical", "alternate"} & set((names.get("rel") or "").lower().split()):
            href = names.get("href")
        if href is not None:
            href = href.strip(" \t\n\r\f").replace("\n", "").replace("\t", "")
            self.found.append((href, [*self.open, here]))
        if tag not in self.VOID:
            self.open.append(here)

    def handle_endtag(self, tag):
        if self.raw:
            self.raw = None if tag == self.raw else self.raw
            return
        for at in range(len(self.open) - 1, -1, -1):
            if self.open[at][0] == tag:
                del self.open[at:]
                return


class Walker:
    """Asks a SampleWeb by its port, whatever host a URL names."""

    def __init__(self, port):
        self.port = port
        self.asked = []

    def page(self, url):
        """(status, headers, text) of one request; redirects are answers."""
        self.asked.append(url)
        parts = urllib.parse.urlsplit(url)
        target = urllib.parse.urlunsplit(("http", f"127.0.0.1:{self.port}", parts.path or "/", parts.query, ""))
        request = urllib.request.Request(target, headers={"Host": parts.netloc, "User-Agent": "walker/1"})

        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None

        try:
            with urllib.request.build_opener(Stay).open(request, timeout=30) as answer:
                return answer.status, answer.headers, self.text(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, self.text(error)

    @staticmethod
    def text(answer):
        body = answer.read()
        charset = answer.headers.get_content_charset()
        if charset is None:
            named = re.search(rb"charset=[\"']?([-\w]+)", body[:1024])
            charset = named.group(1).decode() if named else "utf-8"
        return body.decode(charset, "replace")

    @staticmethod
    def links(url, text):
        """The page's links, absolute, without fragments, http only: [(url, path of elements)]."""
        parser = Links(text)
        base = urllib.parse.urljoin(url, parser.base) if parser.base else url
        found = []
        for href, path in parser.found:
            absolute = urllib.parse.urldefrag(urllib.parse.urljoin(base, href)).url
            if urllib.parse.urlsplit(absolute).scheme == "http":
                found.append((absolute, path))
        return found

    def walk(self, seeds, follow, normal=lambda url: url):
        """Breadth first from the seeds: the URLs asked for, in order. `follow(page, link)`: whether a link is taken;
        `normal`: what two spellings of one URL have in common, and what is asked for."""
        waiting = collections.deque(dict.fromkeys(normal(seed) for seed in seeds))
        seen = set(waiting)
        order = []
        while waiting:
            url = waiting.popleft()
            order.append(url)
            at = url
            status, headers, text = self.page(at)
            found = []
            # The server has the page under another spelling of the same URL.
            while 300 <= status < 400 and headers.get("Location") and at == url:
                at = urllib.parse.urljoin(url, headers["Location"])
                if normal(at) != url:
                    break
                status, headers, text = self.page(at)
            if 300 <= status < 400 and headers.get("Location"):
                found = [urllib.parse.urldefrag(urllib.parse.urljoin(url, headers["Location"])).url]
            elif status == 200 and headers.get_content_type() == "text/html":
                found = [link for link, _ in self.links(at, text)]
            for link in found:
                link = normal(link)
                if link not in seen and follow(url, link):
                    seen.add(link)
                    waiting.append(link)
        return order
