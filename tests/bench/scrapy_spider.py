"""The smallest Scrapy spider that follows what the crawler follows: a, area, frame, iframe, on the hosts of its seeds.
It keeps nothing.

scrapy_spider.py CONNECTIONS URL…
"""

import sys
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class DocsSpider(CrawlSpider):
    name = "docs"
    start_urls = sys.argv[2:]
    allowed_domains = sorted({urlsplit(url).hostname for url in start_urls})
    rules = [
        Rule(
            LinkExtractor(tags=("a", "area", "frame", "iframe"), attrs=("href", "src"), deny_extensions=[]),
            follow=True,
        )
    ]


process = CrawlerProcess(
    settings={
        "AUTOTHROTTLE_ENABLED": False,
        "CONCURRENT_REQUESTS": int(sys.argv[1]),
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 0,
        "LOG_ENABLED": False,
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
        "TELNETCONSOLE_ENABLED": False,
    }
)
process.crawl(DocsSpider)
process.start()
