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

// What a fetch is for. A page: its place in the frontier.
struct PageFetch {
  storage::QueuedUrl queued;
  std::string validator{};  // of an earlier visit (storage/record.h): only what has changed is wanted
};
// The robots.txt of an origin; after a redirect the URL is elsewhere.
struct RobotsFetch {
  std::string origin;
  storage::QueuedUrl asked_for{};  // the page that waits for it
  std::uint8_t hops = 0;           // redirects followed
  std::uint8_t attempts = 0;       // tries that failed before
};
// Nothing is fetched: a worker parses the robots.txt that the store has of an origin.
struct RobotsParse {
  std::string origin;
};

// Permission to fetch one URL of a host, which stays acquired until the fetch ends. Only the core makes one.
struct FetchJob {
  std::uint64_t id = 0;
  CanonicalUrl url;
  storage::HostKey host;  // the host that is acquired
  std::variant<PageFetch, RobotsFetch, RobotsParse> what;
  Duration delay{};  // promised to the host that is asked: so much at least since the end of the last request

  const PageFetch* page() const { return std::get_if<PageFetch>(&what); }
  const RobotsFetch* robots() const { return std::get_if<RobotsFetch>(&what); }
};

// --- events
struct MessageEvent {
  ring::Message message;
  ring::ReplyPath reply;
};
// Notes whether a page is at work or waits: if the process dies, a page at work may be what killed it. A value that may
// be empty; destroying it ends the page's note.
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
  std::uint64_t bytes = 0;               // of the response as received
  std::vector<std::string> set_cookies;  // values of Set-Cookie
};
// What a page lists, by its kind; each URL once, in the crawl's canonical form.
struct LinkList {
  std::vector<CanonicalUrl> links;
  std::vector<std::uint8_t> scores;      // under order = best by topic, from 0 to 255 for each link; else empty
  std::vector<CanonicalUrl> requisites;  // under page_requisites: what the page or stylesheet needs to be shown
  bool stylesheet = false;               // its requisites are taken whatever the scope says of it
};
struct SitemapList {
  std::vector<CanonicalUrl> pages;
  std::vector<std::uint8_t> scores;  // as of links
  std::vector<Time> lastmods;        // of each; the epoch: none given
};
struct SitemapIndexList {
  std::vector<CanonicalUrl> sitemaps;
  std::vector<Time> lastmods;  // of each; the epoch: none given
};
struct ResultList {
  std::vector<CanonicalUrl> results;  // of a search: they are seeds
};
using Listed = std::variant<LinkList, SitemapList, SitemapIndexList, ResultList>;

// What a worker has read from a response.
struct PageRead {
  Listed listed;
  std::string validator;                 // for the next visit
  bool noindex = false;                  // not kept: the page asks for that, and the setting obeys
  bool unwanted_type = false;            // not archived: its content type is excluded
  std::optional<CanonicalUrl> redirect;  // target of a 3xx with a usable Location
  // Target of a 3xx that the crawl's rules treat as the URL itself, in the form that the server names.
  std::optional<CanonicalUrl> canonical_redirect;
  std::string command_fault;        // why the user's command for its media type gave no text; empty: it did, or none
  std::uint32_t skipped_links = 0;  // other schemes, malformed, nofollow
  std::uint32_t links_over_budget = 0;  // left out: more than max_link_bytes, or more links than a page may have
  std::uint64_t content = 0;            // fingerprint of an HTML body without its own address in it; 0: none
};
// A robots.txt, fetched or from the store.
struct RobotsRead {
  std::string body;                      // of a 2xx: decoded, cut at max_robots_bytes
  ParsedRobots parsed;                   // of the body
  std::vector<CanonicalUrl> sitemaps;    // that it names, each once
  std::optional<CanonicalUrl> redirect;  // target of a 3xx with a usable Location
};
// The peer stops: a page stays queued.
struct NotRead {};
// The archive or the text could not be written: the page does not count as fetched.
struct NotWritten {
  Error failure;
};

// The response is parsed and in the archive.
struct PageDone {
  std::uint64_t id = 0;
  std::variant<NotRead, NotWritten, RobotsRead, PageRead> what;
  bool decoded_cut = false;  // not all of it was read: unpacked or in UTF-8 it is beyond its bounds
  std::uint64_t archived_bytes = 0;
  std::uint16_t worker = 0;  // which worker read it, from 0
  // What the page uses of the process that reads it: memory for its body and its links, and its mark. They are released
  // when this is destroyed: once the page is committed.
  std::shared_ptr<void> body_charge;
  std::shared_ptr<void> links_charge;
  PageMark mark;
};
// Answer to ResolveHost.
struct HostResolved {
  storage::HostKey host;
  std::string address;  // 4 or 16 bytes, the lowest when there are several; empty: it has none
};
// Answers to MakeCheckpoint, one after the other. First: the checkpoint is on the disk.
struct CheckpointMade {
  std::string snapshot;
  std::string failure;  // empty: none
};
// Then, if there was no failure: its files, with their digests (node/snapshot/manifest.h, listing_json()).
struct CheckpointListed {
  std::string snapshot;
  std::string failure;  // empty: none
  std::string listing;
};
struct StopEvent {
  bool leave = false;  // hand everything over first
};
struct TickEvent {};

using Event = std::variant<MessageEvent, FetchEnded, PageDone, HostResolved, CheckpointMade, CheckpointListed,
                           StopEvent, TickEvent>;

// --- commands
struct StartFetch {
  FetchJob job;
  std::string cookies = {};  // the value of the field Cookie; empty: none is sent
};
// A robots.txt that the store has, too long to be parsed by the core itself. Answer: a PageDone.
struct ParseRobots {
  FetchJob job;
  std::string body;
};
// Asks which address a host has; the fetcher's resolver knows it or asks the DNS.
struct ResolveHost {
  storage::HostKey host;
  std::string name;        // of the host; an IPv6 address without brackets
  std::uint16_t port = 0;  // of the URL that is to be asked for: it may matter (setting `resolve`)
};
struct SendMessage {
  std::string address;
  ring::Message message;
};
// The peer there was down and is back: the connection from before is not used any more (ring/transport.h).
struct ConnectAnew {
  std::string address;
};
struct ReplyMessage {
  ring::ReplyPath path;
  ring::Message message;
};
struct LogEntry {  // a line for the log
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
  std::map<std::string, std::uint64_t> totals;  // when finished: the ring's, equal on every peer
};

// Under record_links: a page's links, for the trace. The page's outcome is written. After a power cut the trace may
// have a page that is fetched once more.
struct RecordLinks {
  storage::TracePage page;
};

// A checkpoint of the store, for a snapshot (docs/decisions/0029-snapshot.md). The loop goes on meanwhile.
struct MakeCheckpoint {
  std::string snapshot;
};

using Command = std::variant<StartFetch, ParseRobots, ResolveHost, SendMessage, ConnectAnew, ReplyMessage, LogEntry,
                             Exit, RecordLinks, MakeCheckpoint>;
using Commands = std::vector<Command>;

}  // namespace orbweaver
