// What goes into a peer's core and what comes out: the whole of its contact with the world.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "node/base.h"
#include "node/crawl/robots_cache.h"
#include "node/http/fetch_error.h"
#include "node/log_level.h"
#include "node/url/canonical_url.h"
#include "ring/messages.h"
#include "ring/transport.h"
#include "storage/store.h"
#include "storage/trace_page.h"

namespace orbweaver {

// stored_robots: nothing is fetched; a worker parses what the store has.
enum class FetchKind : std::uint8_t { page, robots, stored_robots };

// Leave to fetch one URL of a host that is held until the fetch ends. Only the core makes one.
struct FetchJob {
  std::uint64_t id = 0;
  FetchKind kind = FetchKind::page;
  CanonicalUrl url;
  storage::QueuedUrl queued;  // page: its place in the frontier; robots: only the depth of the URL that it is asked for
  storage::HostKey host;      // whose turn it is
  std::string origin;     // robots, stored_robots: the origin that it is for (after a redirect the URL is elsewhere)
  std::uint8_t hops = 0;  // robots: redirects followed
  std::uint8_t attempts = 0;  // robots: tries that failed before
  std::string validator{};    // page, of an earlier visit (storage/record.h): only what has changed is wanted
};

// --- events
struct MessageEvent {
  ring::Message message;
  ring::ReplyPath reply;
};
// Notes whether a page is at work or waits: if the process dies, what was at work may be what killed it. A value that
// may be empty; the page is neither any more when it is destroyed.
class PageMark {
 public:
  class Holder {
   public:
    virtual ~Holder() = default;
    virtual void at_work() = 0;
    virtual void waits() = 0;
  };

  PageMark() = default;
  explicit PageMark(std::unique_ptr<Holder> holder) : holder_(std::move(holder)) {}
  void at_work() {
    if (holder_ != nullptr) holder_->at_work();
  }
  void waits() {
    if (holder_ != nullptr) holder_->waits();
  }

 private:
  std::unique_ptr<Holder> holder_;
};
// The exchange is over, the host is free again. With FetchError::none a PageDone follows from a worker.
struct FetchEnded {
  std::uint64_t id = 0;
  FetchError error = FetchError::none;
  std::string error_text;
  FetchError tls_fault = FetchError::none;  // of a page that was fetched in spite of it
  int status = 0;
  Time ended{};
  std::optional<Duration> retry_after;
  std::uint64_t bytes = 0;  // of the response as received
};
// The response is parsed and in the archive.
struct PageDone {
  std::uint64_t id = 0;
  std::vector<CanonicalUrl> links;  // each once, in the crawl's canonical form
  // Under order = best by topic, a score from 0 to 255 for each of `links`; else empty.
  std::vector<std::uint8_t> link_scores;
  bool result_page = false;              // of a search engine: its results are seeds, `links` is empty
  std::vector<CanonicalUrl> results;     // each once
  std::vector<CanonicalUrl> sitemaps;    // that a sitemap index lists or a robots.txt names, each once
  std::vector<Time> lastmods;            // on a sitemap: of each of links or sitemaps; the epoch: not told
  std::string validator;                 // for the next visit
  bool noindex = false;                  // not kept: it asked for that, and the setting obeys
  std::optional<CanonicalUrl> redirect;  // target of a 3xx with a usable Location
  // Target of a 3xx that the crawl's rules take for the URL itself, in the form that the server names.
  std::optional<CanonicalUrl> detour;
  std::vector<CanonicalUrl> requisites;  // under page_requisites: what the page or stylesheet needs to be shown
  std::string command_fault;        // why the user's command for its media type gave no text; empty: it did, or none
  bool stylesheet = false;          // the response is one: its requisites come whatever the scope says of it
  std::uint32_t skipped_links = 0;  // other schemes, malformed, nofollow
  std::uint32_t links_over_budget = 0;  // left out: more than max_link_bytes, or more links than a page may have
  bool decoded_cut = false;             // not all of it was read: unpacked or in UTF-8 it is beyond its bounds
  std::uint64_t content = 0;            // fingerprint of an HTML body without its own address in it; 0: none
  bool unwanted_type = false;           // not archived: its content type is kept out
  std::uint64_t archived_bytes = 0;
  std::uint16_t worker = 0;      // which worker read it, from 0
  std::string robots_body;       // robots jobs with a 2xx: decoded, cut at robots_bytes_max
  ParsedRobots robots;           // and parsed; of stored_robots jobs too
  bool cancelled = false;        // not read: the peer stops. The page stays queued
  std::optional<Error> failure;  // the archive could not be written: the page does not count as fetched
  // What the page holds of the process that reads it: memory of its body and of its links, its mark. Given back when
  // this is destroyed: once the page is committed.
  std::shared_ptr<void> body_held;
  std::shared_ptr<void> links_held;
  PageMark mark;
};
// Answer to ResolveHost.
struct HostResolved {
  storage::HostKey host;
  std::string address;  // 4 or 16 bytes, the least of them when there are several; empty: it has none
};
struct StopEvent {
  bool leave = false;  // hand everything over first
};
struct TickEvent {};

using Event = std::variant<MessageEvent, FetchEnded, PageDone, HostResolved, StopEvent, TickEvent>;

// --- commands
struct StartFetch {
  FetchJob job;
};
// A robots.txt that the store has, too long to be parsed by the core itself. Answer: a PageDone.
struct ParseRobots {
  FetchJob job;
  std::string body;
};
// Which address a host has; the fetcher's resolver knows or asks the DNS.
struct ResolveHost {
  storage::HostKey host;
  std::string name;        // of the host; an IPv6 address without brackets
  std::uint16_t port = 0;  // of the URL that is to be asked for: it may matter (setting `resolve`)
};
struct SendMessage {
  std::string address;
  ring::Message message;
};
struct ReplyMessage {
  ring::ReplyPath path;
  ring::Message message;
};
struct Note {  // a line for the log
  LogLevel level = LogLevel::info;
  std::string_view channel;
  std::string_view event;
  std::vector<std::pair<std::string_view, std::string>> fields;
  bool limited = false;  // a remote host or peer can trigger it
};
struct Exit {
  int code = 0;  // 0: done or stopped as asked; else an ErrorCode
  std::string message;
  bool finished = false;                        // the crawl has ended, ring-wide
  std::map<std::string, std::uint64_t> totals;  // then: the ring's, equal on every peer
};

// Under record_links: a page's links, for the trace. The page is durable.
struct RecordLinks {
  storage::TracePage page;
};

using Command = std::variant<StartFetch, ParseRobots, ResolveHost, SendMessage, ReplyMessage, Note, Exit, RecordLinks>;
using Commands = std::vector<Command>;

}  // namespace orbweaver
