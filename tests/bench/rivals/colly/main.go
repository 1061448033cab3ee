// The smallest colly program that follows what the crawler follows: a, area, frame, iframe, on the hosts of its seeds.
// It keeps nothing.
//
//	bench_colly CONNECTIONS URL...
package main

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/gocolly/colly/v2"
)

func fail(words ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"error:"}, words...)...)
	os.Exit(1)
}

func main() {
	if len(os.Args) < 3 {
		fail("usage: bench_colly CONNECTIONS URL...")
	}
	connections, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fail(err)
	}
	seeds := os.Args[2:]
	var hosts []string
	for _, seed := range seeds {
		parsed, err := url.Parse(seed)
		if err != nil {
			fail(err)
		}
		hosts = append(hosts, parsed.Hostname())
	}

	collector := colly.NewCollector(colly.Async(true), colly.AllowedDomains(hosts...))
	collector.IgnoreRobotsTxt = false
	collector.MaxBodySize = 0
	if err := collector.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: connections}); err != nil {
		fail(err)
	}
	// Colly takes addresses that differ in their fragment for two pages.
	follow := func(attribute string) colly.HTMLCallback {
		return func(element *colly.HTMLElement) {
			link, _, _ := strings.Cut(element.Attr(attribute), "#")
			if link != "" {
				_ = element.Request.Visit(link) // seen already, not allowed, not a URL: all are errors here
			}
		}
	}
	collector.OnHTML("a[href], area[href]", follow("href"))
	collector.OnHTML("frame[src], iframe[src]", follow("src"))
	for _, seed := range seeds {
		_ = collector.Visit(seed)
	}
	collector.Wait()
}
