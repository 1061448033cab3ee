#include "node/process/workers.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "node/charset/charset.h"
#include "node/corpus/text_line.h"
#include "node/corpus/text_repeats.h"
#include "node/crawl/robots_reader.h"
#include "node/errors/storage_error.h"
#include "node/html/header_links.h"
#include "node/html/link_rules.h"
#include "node/html/links.h"
#include "node/html/main_text.h"
#include "node/html/selector.h"
#include "node/html/text_links.h"
#include "node/http/exchange_words.h"
#include "node/http/http_message.h"
#include "node/robots/robots.h"
#include "node/robots/robots_meta.h"
#include "node/scope/page_rules.h"
#include "node/scope/scope_lists.h"
#include "node/settings/site_header.h"
#include "node/settings/text_command.h"
#include "node/sitemap/sitemap.h"
#include "node/system/thread_start.h"
#include "node/text/content_fingerprint.h"
#include "node/topic/topic_page.h"
#include "storage/text_file.h"
#include "storage/warc.h"

namespace orbweaver {

namespace {

// More than one is rare, more than this nobody's mistake.
constexpr int transfer_codings_max = 3;

// HTML by its Content-Type; without one, by its first visible character.
bool is_html(const std::string& type, std::string_view body) {
  if (!type.empty()) return type == "text/html" || type == "application/xhtml+xml";
  const std::size_t first = body.find_first_not_of(" \t\r\n\f\xef\xbb\xbf");
  return first != std::string_view::npos && body[first] == '<';
}

// The JavaScript types in use (HTML standard, "JavaScript MIME type"; RFC 9239).
bool is_javascript(std::string_view type) {
  return type == "text/javascript" || type == "application/javascript" || type == "application/x-javascript";
}

// What `decode` makes within so many bytes, charged to the lease: as many as the setting says, or half of what is left
// there, so that the other half is for what comes of it. What does not fit in the small part is unpacked again in the
// large one. `cut`: set when something is left out.
template <class Decode>
std::string unpacked(DecodeLease& lease, std::uint64_t bytes_max, bool& cut, const Decode& decode) {
  const auto limit = [&] { return static_cast<std::size_t>(std::min(bytes_max, lease.left() / 2)); };
  Decoded decoded = decode(limit());
  if (decoded.cut && !lease.large() && limit() < bytes_max) {
    decoded = Decoded();
    lease.grow();
    decoded = decode(limit());
  }
  cut = cut || decoded.cut;
  lease.take(decoded.bytes.capacity());
  return std::move(decoded.bytes);
}

// The body without its transfer codings (RFC 9112, 6.1: applied in the order of the list, so undone from its end).
// `held` keeps the bytes.
std::string_view without_transfer_codings(const FetchResponse& response, std::size_t bytes_max, DecodeLease& lease,
                                          bool& cut, std::string& held) {
  std::string codings;
  for (const std::string& value : header_values(response.response_head, "transfer-encoding"))
    codings += (codings.empty() ? "" : ",") + value;
  std::string_view body = response.body;
  std::string_view rest = codings;
  for (int i = 0; i < transfer_codings_max && !rest.empty(); ++i) {
    const std::size_t comma = rest.rfind(',');
    const std::string_view coding = comma == std::string_view::npos ? rest : rest.substr(comma + 1);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(0, comma);
    const bool chunked = coding.find("chunked") != std::string_view::npos;
    std::string next = unpacked(lease, bytes_max, cut, [&](std::size_t most) {
      return chunked ? decode_chunked(body, most) : decode_content(body, coding, most);
    });
    held = std::move(next);
    lease.set_taken(held.capacity());
    body = held;
  }
  return body;
}

PageDone cancelled(std::uint64_t id) {
  PageDone done;
  done.id = id;
  done.cancelled = true;
  return done;
}

// A page's mark, as the core knows it.
class MarkInFlight final : public PageMark::Holder {
 public:
  explicit MarkInFlight(InFlightMark mark) : mark_(std::move(mark)) {}
  void at_work() override { mark_.at_work(); }
  void waits() override { mark_.waits(); }

 private:
  InFlightMark mark_;
};

}  // namespace

class Workers::Worker {
 public:
  // `repeats`: what the texts of all workers repeat; null: none are written.
  static Result<std::unique_ptr<Worker>> open(const WorkersConfig& config, std::size_t index, const Clock& clock,
                                              SharedRepeats* repeats, DecodeRoom& room, UserCommands& user_commands) {
    std::unique_ptr<Worker> worker(new Worker(config.settings, clock, static_cast<std::uint16_t>(index), room));
    worker->repeats_ = repeats;
    worker->links_share_ = config.links;
    worker->in_flight_ = config.in_flight;
    worker->waiter_ = config.waiter;
    worker->user_commands_ = &user_commands;
    const std::string prefix = config.name_prefix + "-" + std::to_string(index);
    if (config.settings.archive == ArchiveKind::gzip) {
      storage::WarcConfig warc;
      warc.directory = config.archive_dir;
      warc.name_prefix = prefix;
      warc.file_bytes = config.settings.archive_file_bytes;
      warc.level = static_cast<int>(config.settings.archive_level);
      warc.info = {{"software", "orbweaver/" ORBWEAVER_VERSION},
                   {"format", "WARC File Format 1.1"},
                   {"conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
                   {"robots", config.settings.robots ? "obey" : "ignore"},
                   {"http-header-user-agent", user_agent_with(config.settings.user_agent, config.settings.contact)}};
      warc.waiter = config.waiter;
      auto opened = storage::WarcWriter::open(std::move(warc));
      if (!opened) return tl::make_unexpected(error_of(opened.error()));
      worker->archive_ = std::move(*opened);
    }
    if (config.settings.text) {
      auto opened =
          storage::TextFile::open({.directory = config.text_dir, .name_prefix = prefix, .waiter = config.waiter});
      if (!opened) return tl::make_unexpected(error_of(opened.error()));
      worker->text_.emplace(std::move(*opened));
    }
    return worker;
  }

  PageDone read(Item item) {
    InFlightMark mark;
    if (in_flight_ != nullptr && item.job.kind == FetchKind::page) mark = in_flight_->begin(item.job.queued.key);
    PageDone done = read_response(item);
    // A stop waits for no descriptor: the page stays queued, as one that was not begun.
    if (done.failure && done.failure->code == ErrorCode::io && waiter_ != nullptr && waiter_->stopped())
      done = cancelled(item.job.id);
    done.body_held = std::make_shared<MemoryCharge>(std::move(item.response.held));
    mark.waits();
    done.mark = PageMark(std::make_unique<MarkInFlight>(std::move(mark)));
    return done;
  }

  Result<void> close() {
    Result<void> closed;
    if (archive_ != nullptr)
      if (const auto result = archive_->close(); !result) closed = tl::make_unexpected(error_of(result.error()));
    if (text_)
      if (const auto result = text_->close(); !result) closed = tl::make_unexpected(error_of(result.error()));
    return closed;
  }

 private:
  PageDone read_response(const Item& item) {
    const FetchResponse& response = item.response;
    DecodeLease lease(room_, [this] { return std::make_shared<InFlightPause>(in_flight_); });
    PageDone done;
    done.id = item.job.id;
    done.worker = index_;
    if (item.job.kind == FetchKind::stored_robots) {
      done.robots = parse_robots(response.body, settings_.user_agent);
      hold_links(done);
      return done;
    }
    done.result_page = item.job.kind == FetchKind::page && !result_pages_.empty() && result_pages_.find(item.job.url);
    std::string held;
    const std::string_view payload =
        without_transfer_codings(response, settings_.body_bytes_max, lease, done.decoded_cut, held);
    const std::uint64_t held_bytes = lease.taken();
    RobotsMeta meta;
    if (item.job.kind == FetchKind::page)
      for (const std::string& value : header_values(response.response_head, "x-robots-tag"))
        meta.add_header(value, agent_);
    if (item.job.kind == FetchKind::robots) {
      if (response.status >= 200 && response.status < 300) {
        const std::string codings = coding(response);
        const std::size_t most = codings.empty() ? std::min(payload.size(), robots_bytes_max) : robots_bytes_max;
        lease.want(2 * most);  // unpacked, and its rules
        lease.take(2 * most);
        read_robots(decode_content(payload, codings, robots_bytes_max).bytes, item.job.origin, settings_,
                    rules_.canonicaliser, done);
        hold_links(done);
        lease.set_taken(held_bytes);
      }
      // 204 and 205 have no content, whatever follows their head (RFC 9110, 15.3.5 and 15.3.6).
    } else if (response.status >= 200 && response.status < 300 && response.status != 204 && response.status != 205) {
      const std::string type = media_type(content_type_of(response.response_head));
      done.unwanted_type = !content_type_wanted(settings_, type);
      // A sitemap is asked for whatever types the crawl wants.
      if (!done.unwanted_type || settings_.sitemaps != SitemapUse::off) read_page(item, payload, meta, lease, done);
      if (done.unwanted_type) return done;
      hold_links(done);
    }
    if (response.status >= 300 && response.status < 400) note_redirect(item, done);
    if (settings_.keep_validators && response.status == 200)
      done.validator = validator_of(response.response_head, storage::validator_bytes_max);
    done.noindex = not_kept(item, meta);
    if (archive_ != nullptr && !done.failure) {
      // What was read is given back; the archive's writer copies the body and packs the copy.
      lease.set_taken(held_bytes);
      lease.want(2 * response.body.size());
      lease.take(2 * response.body.size());
      archive(item, payload, done);
    }
    return done;
  }

  // Links wait here for room, until the core has committed others. Under record_links they are kept twice. A robots.txt
  // and its rules wait likewise.
  void hold_links(PageDone& done) const {
    std::uint64_t bytes = 0;
    for (const std::vector<CanonicalUrl>* list : {&done.links, &done.results, &done.sitemaps, &done.requisites})
      for (const CanonicalUrl& url : *list) bytes += sizeof url + url.text().capacity();
    if (settings_.record_links) bytes *= 2;
    bytes += done.robots_body.capacity();
    if (done.robots.rules != nullptr) bytes += done.robots.rules->bytes();
    if (bytes == 0 || links_share_ == nullptr) return;
    std::optional<InFlightPause> pause;
    if (!links_share_->has_room(bytes)) pause.emplace(in_flight_);
    links_share_->wait_and_take(bytes);
    done.links_held = std::make_shared<MemoryCharge>(links_share_, bytes);
  }

  Worker(const Settings& settings, const Clock& clock, std::uint16_t index, DecodeRoom& room)
      : index_(index),
        room_(room),
        settings_(settings),
        agent_(product_token(settings.user_agent)),
        clock_(clock),
        rules_{Canonicaliser(settings), LinkChoice::from(settings.extra_links), settings.page_requisites,
               settings.max_link_bytes},
        result_pages_(settings.result_pages),
        site_links_(settings.site_links) {
    for (const std::string& entry : settings.result_pages)
      if (const Result<ResultPageEntry> rule = parse_result_page(entry); rule && !rule->select.empty())
        if (Result<html::Selector> made = html::Selector::parse(rule->select))
          selectors_.emplace(rule->select, std::move(*made));
    looked_for_ = rules_.follow;
    looked_for_.resources |= rules_.requisites;
    looked_for_.styles |= rules_.requisites;
    extractor_ =
        settings.parser == ParserKind::tidy ? make_tidy_extractor(looked_for_) : make_stream_extractor(looked_for_);
    if (settings.order == CrawlOrder::best && settings.best_by == BestBy::topic)
      if (Result<Topic> topic = Topic::parse(settings.topic)) topic_.emplace(std::move(*topic));
    for (const std::string& entry : settings.text_commands)
      if (Result<TextCommand> command = TextCommand::parse(entry)) commands_.push_back(std::move(*command));
  }

  static std::string coding(const FetchResponse& response) {
    std::string list;
    for (const std::string& value : header_values(response.response_head, "content-encoding"))
      list += (list.empty() ? "" : ", ") + value;
    return list;
  }

  void note_redirect(const Item& item, PageDone& done) const {
    // Two that differ: nobody can say which is meant.
    const std::vector<std::string> locations = header_values(item.response.response_head, "location");
    if (locations.empty() || locations.front().empty()) return;
    for (const std::string& other : locations)
      if (other != locations.front()) return;
    const Url base = item.job.url.as_url();
    const Result<Url> target = Url::parse(locations.front(), &base);
    if (!target || !target->is_http()) return;
    Result<CanonicalUrl> plain = CanonicalUrl::from(*target);
    // A robots.txt is asked for where it is, whatever the crawl takes for one.
    Result<CanonicalUrl> url = item.job.kind == FetchKind::robots ? plain : rules_.canonicaliser.from(*target);
    if (!url) return;
    // The rules take both for one: the server's word for it is another.
    if (item.job.kind == FetchKind::page && plain && url->text() == item.job.queued.url && !(*plain == item.job.url)) {
      done.detour.emplace(std::move(*plain));
    } else {
      done.redirect.emplace(std::move(*url));
    }
  }

  bool not_kept(const Item& item, const RobotsMeta& meta) const {
    return settings_.obey_noindex && meta.noindex_at(item.response.ended);
  }

  // `meta`: what the header says; the page's own tags are added.
  void read_page(const Item& item, std::string_view payload, RobotsMeta& meta, DecodeLease& lease, PageDone& done) {
    const std::string content_type = content_type_of(item.response.response_head);
    const std::string type = media_type(content_type);
    const bool maybe_sitemap = settings_.sitemaps != SitemapUse::off && may_be_sitemap(type);
    const TextCommand* const command = command_for(type);
    const bool read =
        type.empty() || is_html(type, {}) || is_read_by_choice(type) || command != nullptr || maybe_sitemap;
    PageLinks links;
    std::string decoded;
    DecodedText text;
    if (const std::string codings = coding(item.response); read && !codings.empty()) {
      decoded = unpacked(lease, settings_.decoded_bytes_max, done.decoded_cut,
                         [&](std::size_t most) { return decode_content(payload, codings, most); });
      payload = decoded;
    }
    if (maybe_sitemap && looks_like_sitemap(payload, content_type)) {
      done.unwanted_type = false;
      return read_sitemap_page(item, payload, content_type, meta, lease, done);
    }
    if (done.unwanted_type) return;
    const bool html = is_html(type, payload);
    if (html) {
      done.content = content_fingerprint(payload, item.job.url.path_and_query(), item.job.url.host());
      within(lease, text, done.decoded_cut, [&] { decode_html(payload, content_type, text); });
      links = extractor_->extract(text.utf8);
      if (done.result_page) select_results(item.job.url, text.utf8, links);
      for (const MetaTag& tag : links.robots_tags) meta.add_meta(tag.name, tag.content, agent_);
      if (!settings_.obey_nofollow) {
        for (PageLink& link : links.links) link.nofollow = false;
      }
    } else if (command != nullptr) {
      read_by_command(item, *command, payload, meta, lease, links, done);
    } else if (is_read_by_choice(type)) {
      read_by_choice(type, content_type, payload, lease, links, done);
      done.stylesheet = type == "text/css";
    }
    links.meta_nofollow = settings_.obey_nofollow && meta.nofollow;
    html::note_link_fields(header_values(item.response.response_head, "link"), looked_for_, links);
    if (const auto refresh = header_value(item.response.response_head, "refresh"))
      html::note_refresh_field(*refresh, links);
    const Url document = item.job.url.as_url();
    const auto encoder = html ? make_query_encoder(text.charset) : nullptr;
    ResolvedLinks resolved = resolve_links(links, document, encoder.get(), rules_);
    done.skipped_links = resolved.skipped_scheme + resolved.malformed + resolved.nofollow;
    done.links_over_budget = resolved.over_budget;
    if (done.result_page) {
      if (html)
        done.results = results_of(*result_pages_.find(item.job.url), item.job.url, resolved.urls, rules_.canonicaliser);
      return;  // nothing else of it belongs to the crawl
    }
    done.links = std::move(resolved.urls);
    done.requisites = std::move(resolved.requisites);
    done.skipped_links += site_links_.filter(item.job.url, done.links);
    if (topic_)
      done.link_scores =
          topic_->scores(html ? text.utf8 : std::string_view(), document_base(links, document, encoder.get()),
                         encoder.get(), rules_.canonicaliser, done.links, item.job.queued.score);
    if (text_ && html && !not_kept(item, meta))
      write_text(item, html::page_blocks(text.utf8), text.charset, meta, done);
  }

  // Of the links only those that may be results, before they are resolved.
  void select_results(const CanonicalUrl& page, std::string_view html, PageLinks& links) const {
    const auto selector = selectors_.find(result_pages_.find(page)->entry.select);
    if (selector != selectors_.end()) {
      links.links = html::selected_links(html, selector->second);
    } else {
      std::erase_if(links.links,
                    [](const PageLink& link) { return link.kind != LinkKind::anchor && link.kind != LinkKind::area; });
    }
  }

  void read_sitemap_page(const Item& item, std::string_view payload, const std::string& content_type,
                         const RobotsMeta& meta, DecodeLease& lease, PageDone& done) {
    if (settings_.obey_nofollow && meta.nofollow) return;
    const Url location = item.job.url.as_url();
    // The file unpacked, its text in UTF-8, and the entries.
    const bool packed = payload.starts_with("\x1F\x8B");
    lease.want(packed ? UINT64_MAX : 3 * std::uint64_t{payload.size()});
    SitemapLimits limits;
    limits.bytes_max = static_cast<std::size_t>(std::min<std::uint64_t>(limits.bytes_max, lease.left() / 3));
    const Sitemap sitemap = read_sitemap(payload, content_type, limits);
    lease.take(packed ? 3 * limits.bytes_max : 3 * payload.size());
    done.decoded_cut = done.decoded_cut || sitemap.cut;
    SitemapUrls found = resolve_entries(sitemap, location, rules_.canonicaliser, rules_.bytes_max);
    done.skipped_links = found.skipped;
    done.links_over_budget = found.over_budget;
    (sitemap.kind == SitemapKind::index ? done.sitemaps : done.links) = std::move(found.urls);
    done.lastmods = std::move(found.lastmods);
    if (topic_)
      done.link_scores = topic_->scores({}, location, nullptr, rules_.canonicaliser, done.links, item.job.queued.score);
  }

  bool is_read_by_choice(std::string_view type) const {
    return (looked_for_.styles && type == "text/css") || (looked_for_.text && type == "text/plain") ||
           (looked_for_.json_ld && type == "application/ld+json") || (looked_for_.scripts && is_javascript(type));
  }

  // `decode` fills `text`, within what the lease has.
  template <class Decode>
  static void within(DecodeLease& lease, DecodedText& text, bool& cut, const Decode& decode) {
    text.storage_bytes_max = static_cast<std::size_t>(lease.left());
    decode();
    if (text.cut && !lease.large()) {
      lease.grow();
      text.cut = false;
      text.storage_bytes_max = static_cast<std::size_t>(lease.left());
      decode();
    }
    cut = cut || text.cut;
    lease.take(text.storage.capacity());
  }

  void read_by_choice(std::string_view type, std::string_view content_type, std::string_view payload,
                      DecodeLease& lease, PageLinks& links, PageDone& done) const {
    DecodedText text;
    within(lease, text, done.decoded_cut, [&] {
      decode_text_body(payload, content_type, type == "text/css" ? TextFormat::css : TextFormat::plain, text);
    });
    if (type == "text/css") {
      html::note_style_text(text.utf8, links);
    } else if (type == "text/plain") {
      note_text(text.utf8, links);
    } else {
      html::note_script_text(type == "application/ld+json" ? type : "text/javascript", text.utf8, looked_for_, links);
    }
  }

  static void note_text(std::string_view text, PageLinks& links) {
    for (std::string& url : html::plain_text_urls(text)) html::add_link(links, std::move(url), LinkKind::text);
  }

  const TextCommand* command_for(std::string_view type) const {
    for (const TextCommand& command : commands_)
      if (command.takes(type)) return &command;
    return nullptr;
  }

  // What the user's command makes of a body: its URLs are links, its text is the page's.
  void read_by_command(const Item& item, const TextCommand& command, std::string_view payload, const RobotsMeta& meta,
                       DecodeLease& lease, PageLinks& links, PageDone& done) {
    CommandOutput output =
        user_commands_->run(command.arguments, payload,
                            {.timeout = settings_.text_command_timeout,
                             .output_bytes_max = static_cast<std::size_t>(settings_.text_command_bytes_max),
                             .memory_bytes = settings_.text_command_memory});
    if (!output.fault.empty()) {
      done.command_fault = command.arguments.front() + ": " + output.fault;
      return;
    }
    lease.take(output.text.capacity());
    DecodedText text;
    within(lease, text, done.decoded_cut, [&] { decode_text_body(output.text, {}, TextFormat::plain, text); });
    note_text(text.utf8, links);
    for (PageLink& link : links.links) link.kind = LinkKind::anchor;  // the command itself is the choice
    if (text_ && !not_kept(item, meta)) write_text(item, html::blocks_of_text(text.utf8), text.charset, meta, done);
  }

  // `page`: its blocks are not marked yet.
  void write_text(const Item& item, html::PageBlocks page, const std::string& charset, const RobotsMeta& meta,
                  PageDone& done) {
    html::mark_boilerplate(page.blocks);
    TextPrint print;
    nlohmann::json line = text_line({item.job.url.text(), item.response.started, item.response.status, charset,
                                     header_value(item.response.response_head, "last-modified").value_or(""),
                                     std::move(page), settings_.boilerplate == Boilerplate::keep},
                                    print);
    if (const auto print_of = line_print(line); print_of && repeats_ != nullptr)
      note_repeat(line, repeats_->add(item.job.url.text(), print_of->digest, print));
    if (const std::vector<std::string> words = meta.words(); !words.empty()) line["robots"] = words;
    const auto written = text_->append(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    if (!written) done.failure = error_of(written.error());
  }

  void archive(const Item& item, std::string_view payload, PageDone& done) {
    const FetchResponse& response = item.response;
    storage::WarcExchange exchange;
    exchange.target_uri = item.job.url.text();
    exchange.not_modified = response.status == 304 && !item.job.validator.empty();
    exchange.started = response.started;
    exchange.ip = response.ip;
    exchange.request_head = response.request_head;
    exchange.response_head = response.response_head;
    std::string request_head;
    std::string response_head;
    if (response.response_head.starts_with("HTTP/2")) {
      exchange.request_head = request_head = as_http_1(response.request_head);
      exchange.response_head = response_head = as_http_1(response.response_head);
    }
    exchange.body = response.body;
    exchange.payload = payload;
    exchange.truncated = truncated_name(response.truncated);
    if (done.noindex) {  // that it was fetched is on record, what it said is not
      exchange.body = exchange.payload = {};
      exchange.truncated = "unspecified";
    }
    const std::uint64_t before = archive_->bytes_written();
    const auto written = archive_->write(exchange, clock_.now());
    if (!written) {
      done.failure = error_of(written.error());
      return;
    }
    done.archived_bytes = archive_->bytes_written() - before;
  }

  const std::uint16_t index_;
  DecodeRoom& room_;
  std::shared_ptr<MemoryShare> links_share_;
  InFlight* in_flight_ = nullptr;
  storage::OpenWaiter* waiter_ = nullptr;
  const Settings settings_;
  const std::string agent_;
  const Clock clock_;
  const LinkRules rules_;
  const ResultPages result_pages_;
  const SiteLinks site_links_;
  std::map<std::string, html::Selector> selectors_;  // of result_pages_, by their text
  LinkChoice looked_for_;
  std::unique_ptr<LinkExtractor> extractor_;
  std::vector<TextCommand> commands_;
  std::optional<TopicPages> topic_;  // under order = best by topic
  std::unique_ptr<storage::WarcWriter> archive_;
  std::optional<storage::TextFile> text_;
  SharedRepeats* repeats_ = nullptr;
  UserCommands* user_commands_ = nullptr;
};

Result<std::unique_ptr<Workers>> Workers::start(WorkersConfig config, const Clock& clock, Done done) {
  std::unique_ptr<Workers> workers(new Workers);
  if (config.settings.text) workers->repeats_ = std::make_unique<SharedRepeats>(config.settings.text_fingerprints);
  const std::size_t count = std::max<std::size_t>(config.settings.workers, 1);
  workers->room_ = std::make_unique<DecodeRoom>(config.decoded, count);
  workers->links_ = config.links;
  for (std::size_t i = 0; i < count; ++i) {
    auto worker = Worker::open(config, i, clock, workers->repeats_.get(), *workers->room_, workers->user_commands_);
    if (!worker) return tl::make_unexpected(worker.error());
    workers->workers_.push_back(std::move(*worker));
  }
  workers->done_ = done;
  for (const std::unique_ptr<Worker>& worker : workers->workers_) {
    const Result<void> started =
        start_thread(workers->threads_.emplace_back(), [pool = workers.get(), self = worker.get(), done] {
          while (std::optional<Item> item = pool->pop()) done(self->read(*std::move(item)));
        });
    if (!started) {
      workers->threads_.pop_back();
      return tl::make_unexpected(started.error());
    }
  }
  return workers;
}

// Nothing: it stops.
std::optional<Workers::Item> Workers::pop() {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  if (queue_.empty()) return std::nullopt;
  Item item = std::move(queue_.front());
  queue_.pop_front();
  return item;
}

void Workers::push(FetchJob job, FetchResponse response) {
  const std::lock_guard lock(mutex_);
  queue_.push_back({std::move(job), std::move(response)});
  ready_.notify_one();
}

void Workers::cancel() {
  std::deque<Item> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(queue_);
  }
  for (const Item& item : dropped) done_(cancelled(item.job.id));
}

Result<void> Workers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  if (links_ != nullptr) links_->stop_waiting();  // nobody commits any more
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  Result<void> closed;
  for (const std::unique_ptr<Worker>& worker : workers_)
    if (Result<void> result = worker->close(); !result && closed) closed = result;
  workers_.clear();
  return closed;
}

Workers::~Workers() { (void)stop(); }

}  // namespace orbweaver
