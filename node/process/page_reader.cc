#include "node/process/page_reader.h"

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
#include "node/overloaded.h"
#include "node/process/archive_config.h"
#include "node/process/response_body.h"
#include "node/robots/robots.h"
#include "node/robots/robots_meta.h"
#include "node/scope/page_rules.h"
#include "node/scope/scope_lists.h"
#include "node/settings/text_command.h"
#include "node/sitemap/sitemap.h"
#include "node/system/thread_start.h"
#include "node/text/content_fingerprint.h"
#include "node/topic/topic_page.h"
#include "storage/text_file.h"
#include "storage/warc.h"

namespace orbweaver {

namespace {

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

// Longer text may have links enough to keep a worker busy for a tenth of a second.
constexpr std::size_t max_small_text = std::size_t{512} << 10;

class Reader final : public PageReader {
 public:
  static Result<std::unique_ptr<Reader>> open(const WorkersConfig& config, Place place, const Clock& clock,
                                              SharedForReaders shared) {
    std::unique_ptr<Reader> reader(new Reader(config.settings, clock, place, shared));
    reader->repeats_ = shared.repeats;
    reader->in_flight_ = config.in_flight;
    reader->waiter_ = config.waiter;
    reader->user_commands_ = &shared.user_commands;
    const std::string prefix = config.name_prefix + "-" + std::to_string(place.index);
    if (config.settings.archive == ArchiveKind::gzip) {
      auto opened = storage::WarcWriter::open(archive_config(config, prefix));
      if (!opened) return tl::make_unexpected(error_of(opened.error()));
      reader->archive_ = std::move(*opened);
    }
    if (config.settings.text) {
      auto opened = storage::TextFile::open({.directory = config.text_dir,
                                             .name_prefix = prefix,
                                             .waiter = config.waiter,
                                             .sync_names = config.settings.durability == Durability::power});
      if (!opened) return tl::make_unexpected(error_of(opened.error()));
      reader->text_.emplace(std::move(*opened));
    }
    return reader;
  }

  std::optional<PageDone> read(ReadItem& item) override {
    InFlightMark mark;
    archived_ = texted_ = false;
    const PageFetch* const page = item.job.page();
    if (in_flight_ != nullptr && page != nullptr) mark = in_flight_->begin(page->queued.key);
    std::optional<PageDone> read = read_response(item);
    if (!read) return std::nullopt;
    PageDone done = std::move(*read);
    // After a stop nothing waits for a descriptor: the page stays queued, as if it had not been begun.
    if (const auto* failed = std::get_if<NotWritten>(&done.what))
      if (failed->failure.code == ErrorCode::io && waiter_ != nullptr && waiter_->stopped())
        done = not_read(item.job.id);
    if (std::holds_alternative<NotRead>(done.what) || std::holds_alternative<NotWritten>(done.what))
      archived_ = texted_ = false;
    done.body_charge = std::make_shared<MemoryCharge>(std::move(item.response.charge));
    mark.waits();
    done.mark = for_core(std::move(mark));
    return done;
  }

  std::vector<std::shared_ptr<storage::SyncedFile>> written() override {
    std::vector<std::shared_ptr<storage::SyncedFile>> files;
    if (archived_) files.push_back(archive_->synced_file());
    if (texted_) files.push_back(text_->synced_file());
    return files;
  }

  Result<void> close() override {
    Result<void> closed;
    if (archive_ != nullptr)
      if (const auto result = archive_->close(); !result) closed = tl::make_unexpected(error_of(result.error()));
    if (text_)
      if (const auto result = text_->close(); !result) closed = tl::make_unexpected(error_of(result.error()));
    return closed;
  }

 private:
  // The state while a page is read.
  struct Reading {
    ReadItem& item;
    const PageFetch& fetch;
    DecodeLease& lease;
    PageDone& done;
    const ResultPages::Rule* results = nullptr;  // set when the page is a result page of a search
    RobotsMeta meta{};                           // from the response's head; the page's own tags are added
    PageRead page{};
    std::optional<Error> failure{};  // the archive or the text could not be written
  };

  std::optional<PageDone> read_response(ReadItem& item) {
    DecodeLease lease(room_, large_);
    PageDone done;
    done.id = item.job.id;
    done.worker = index_;
    std::visit(Overloaded{[&](const PageFetch& fetch) { read_page_response(item, fetch, lease, done); },
                          [&](const RobotsFetch& fetch) { read_robots_response(item, fetch, lease, done); },
                          [&](const RobotsParse&) {
                            RobotsRead read;
                            read.parsed = parse_robots(item.response.body, settings_.user_agent);
                            hold(done, read.parsed.rules->bytes());
                            done.what = std::move(read);
                          }},
               item.job.what);
    if (!lease.outgrown()) return done;
    if (item.command) item.command_charge = lease.hand_on(item.command->text.capacity());
    return std::nullopt;
  }

  void read_robots_response(const ReadItem& item, const RobotsFetch& fetch, DecodeLease& lease, PageDone& done) {
    const FetchResponse& response = item.response;
    RobotsRead read;
    std::string buffer;
    const std::string_view payload =
        without_transfer_codings(response, settings_.max_body_bytes, lease, done.decoded_cut, buffer);
    const std::uint64_t buffer_bytes = lease.taken();
    want_for_archive(response, lease);
    if (!lease.outgrown() && response.status >= 200 && response.status < 300) {
      const std::string codings = content_codings(response);
      const std::size_t most = codings.empty() ? std::min(payload.size(), max_robots_bytes) : max_robots_bytes;
      lease.want(2 * most);  // the unpacked file and its rules
      if (lease.outgrown()) return;
      lease.take(2 * most);
      read = read_robots(decode_content(payload, codings, max_robots_bytes).bytes, fetch.origin, settings_,
                         rules_.canonicaliser);
      hold(done, read.body.capacity() + read.parsed.rules->bytes() + bytes_of({&read.sitemaps}));
      lease.set_taken(buffer_bytes);
    }
    // A robots.txt is requested at the redirect's exact target, without the crawl's own rules for URLs.
    if (response.status >= 300 && response.status < 400)
      if (const std::optional<Url> target = redirect_target(item))
        if (Result<CanonicalUrl> url = CanonicalUrl::from(*target)) read.redirect.emplace(std::move(*url));
    done.what = std::move(read);
    if (archive_ == nullptr || lease.outgrown()) return;
    std::optional<Error> failure;
    archive(item, payload, {.not_modified = false, .noindex = false}, lease, buffer_bytes, done, failure);
    if (failure) done.what = NotWritten{std::move(*failure)};
  }

  void read_page_response(ReadItem& item, const PageFetch& fetch, DecodeLease& lease, PageDone& done) {
    const FetchResponse& response = item.response;
    Reading reading{.item = item, .fetch = fetch, .lease = lease, .done = done};
    PageRead& page = reading.page;
    if (!result_pages_.empty()) reading.results = result_pages_.find(item.job.url);
    if (reading.results != nullptr) page.listed = ResultList{};
    std::string buffer;
    const std::string_view payload =
        without_transfer_codings(response, settings_.max_body_bytes, lease, done.decoded_cut, buffer);
    const std::uint64_t buffer_bytes = lease.taken();
    const std::string type = media_type(content_type_of(response.response_head));
    // The user's command runs once, on any worker: it comes first.
    const bool for_command = command_for(type) != nullptr && !is_html(type, {});
    if (!for_command) want_for_archive(response, lease);
    if (lease.outgrown()) return;
    for (const std::string& value : header_values(response.response_head, "x-robots-tag"))
      reading.meta.add_header(value, agent_);
    // 204 and 205 have no content, whatever follows their head (RFC 9110, 15.3.5 and 15.3.6).
    if (response.status >= 200 && response.status < 300 && response.status != 204 && response.status != 205) {
      page.unwanted_type = !content_type_wanted(settings_, type);
      // A sitemap is read whatever types the crawl wants.
      if (!page.unwanted_type || settings_.sitemaps != SitemapUse::off) read_page(reading, payload);
      if (lease.outgrown()) return;
      if (!page.unwanted_type) hold_links(done, page);
    }
    if (for_command && !item.command) want_for_archive(response, lease);  // it did not run, and nothing is written yet
    if (lease.outgrown()) return;
    if (!page.unwanted_type) {
      if (response.status >= 300 && response.status < 400) note_redirect(item, fetch, page);
      if (settings_.keep_validators && response.status == 200)
        page.validator = validator_of(response.response_head, storage::max_validator_bytes);
      page.noindex = not_kept(item, reading.meta);
      if (archive_ != nullptr && !reading.failure)
        archive(item, payload,
                {.not_modified = response.status == 304 && !fetch.validator.empty(), .noindex = page.noindex}, lease,
                buffer_bytes, done, reading.failure);
    }
    if (reading.failure) {
      done.what = NotWritten{std::move(*reading.failure)};
    } else {
      done.what = std::move(page);
    }
  }

  static std::uint64_t bytes_of(std::initializer_list<const std::vector<CanonicalUrl>*> lists) {
    std::uint64_t bytes = 0;
    for (const std::vector<CanonicalUrl>* list : lists)
      for (const CanonicalUrl& url : *list) bytes += sizeof url + url.text().capacity();
    return bytes;
  }

  // Under record_links the links are kept twice, so they count twice.
  void hold_links(PageDone& done, const PageRead& page) const {
    const std::uint64_t bytes =
        std::visit(Overloaded{[](const LinkList& list) {
                                return bytes_of({&list.links, &list.requisites});
                              },
                              [](const SitemapList& list) { return bytes_of({&list.pages}); },
                              [](const SitemapIndexList& list) { return bytes_of({&list.sitemaps}); },
                              [](const ResultList& list) { return bytes_of({&list.results}); }},
                   page.listed);
    hold(done, settings_.record_links ? 2 * bytes : bytes);
  }

  // Waits for room for links, or for a robots.txt with its rules, until the core has committed others.
  void hold(PageDone& done, std::uint64_t bytes) const {
    if (bytes == 0) return;
    std::optional<InFlightPause> pause;
    if (!links_room_.has_room(bytes, large_)) pause.emplace(in_flight_);
    done.links_charge = links_room_.wait_and_take(bytes, large_);
  }

  Reader(const Settings& settings, const Clock& clock, Place place, SharedForReaders shared)
      : index_(static_cast<std::uint16_t>(place.index)),
        large_(place.large),
        room_(shared.room),
        links_room_(shared.links),
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

  // The target of a redirect. Nothing when two Location fields differ (either may be meant), or when it is not a URL.
  static std::optional<Url> redirect_target(const ReadItem& item) {
    const std::vector<std::string> locations = header_values(item.response.response_head, "location");
    if (locations.empty() || locations.front().empty()) return std::nullopt;
    for (const std::string& other : locations)
      if (other != locations.front()) return std::nullopt;
    const Url base = item.job.url.as_url();
    Result<Url> target = Url::parse(locations.front(), &base);
    if (!target || !target->is_http()) return std::nullopt;
    return std::move(*target);
  }

  void note_redirect(const ReadItem& item, const PageFetch& fetch, PageRead& page) const {
    const std::optional<Url> target = redirect_target(item);
    if (!target) return;
    Result<CanonicalUrl> url = rules_.canonicaliser.from(*target);
    if (!url) return;
    // Both have the same form under the crawl's rules, but to the server they are different URLs.
    Result<CanonicalUrl> plain = CanonicalUrl::from(*target);
    if (plain && url->text() == fetch.queued.url && !(*plain == item.job.url)) {
      page.canonical_redirect.emplace(std::move(*plain));
    } else {
      page.redirect.emplace(std::move(*url));
    }
  }

  bool not_kept(const ReadItem& item, const RobotsMeta& meta) const {
    return settings_.obey_noindex && meta.noindex_at(item.response.ended);
  }

  void read_page(Reading& reading, std::string_view payload) {
    const FetchResponse& response = reading.item.response;
    const std::string content_type = content_type_of(response.response_head);
    const std::string type = media_type(content_type);
    const bool maybe_sitemap = settings_.sitemaps != SitemapUse::off && may_be_sitemap(type);
    const bool read =
        type.empty() || is_html(type, {}) || is_read_by_choice(type) || command_for(type) != nullptr || maybe_sitemap;
    std::string decoded;
    if (const std::string codings = content_codings(response); read && !codings.empty()) {
      decoded = unpacked(reading.lease, settings_.max_decoded_bytes, reading.done.decoded_cut,
                         [&](std::size_t most) { return decode_content(payload, codings, most); });
      if (reading.lease.outgrown()) return;
      payload = decoded;
    }
    if (maybe_sitemap && looks_like_sitemap(payload, content_type)) {
      reading.page.unwanted_type = false;
      read_sitemap_page(reading, payload, content_type);
    } else if (!reading.page.unwanted_type) {
      read_document(reading, payload, content_type, type);
    }
  }

  void read_document(Reading& reading, std::string_view payload, const std::string& content_type,
                     const std::string& type) {
    const CanonicalUrl& url = reading.item.job.url;
    PageRead& page = reading.page;
    PageLinks links;
    DecodedText text;
    const bool html = is_html(type, payload);
    if (html) {
      within(reading, text, [&] { decode_html(payload, content_type, text); });
      if (reading.lease.outgrown()) return;
      page.content = content_fingerprint(payload, url.path_and_query(), url.host());
      links = extractor_->extract(text.utf8);
      if (reading.results != nullptr) select_results(*reading.results, text.utf8, links);
      for (const MetaTag& tag : links.robots_tags) reading.meta.add_meta(tag.name, tag.content, agent_);
      if (!settings_.obey_nofollow) {
        for (PageLink& link : links.links) link.nofollow = false;
      }
    } else if (const TextCommand* const command = command_for(type)) {
      read_by_command(reading, *command, payload, links);
    } else if (is_read_by_choice(type)) {
      read_by_choice(reading, type, content_type, payload, links);
    }
    if (reading.lease.outgrown()) return;
    const std::string& head = reading.item.response.response_head;
    links.meta_nofollow = settings_.obey_nofollow && reading.meta.nofollow;
    html::note_link_fields(header_values(head, "link"), looked_for_, links);
    if (const auto refresh = header_value(head, "refresh")) html::note_refresh_field(*refresh, links);
    const Url document = url.as_url();
    const auto encoder = html ? make_query_encoder(text.charset) : nullptr;
    ResolvedLinks resolved = resolve_links(links, document, encoder.get(), rules_);
    if (links_room_.is_large(bytes_of({&resolved.urls, &resolved.requisites}))) reading.lease.outgrow();
    if (reading.lease.outgrown()) return;
    page.skipped_links = resolved.skipped_scheme + resolved.malformed + resolved.nofollow;
    page.links_over_budget = resolved.over_budget;
    if (reading.results != nullptr) {  // its other links do not belong to the crawl
      if (html) page.listed = ResultList{results_of(*reading.results, url, resolved.urls, rules_.canonicaliser)};
      return;
    }
    LinkList list{.links = std::move(resolved.urls), .scores = {}, .requisites = std::move(resolved.requisites)};
    // A command's output is text, whatever the body's type.
    list.stylesheet = !html && command_for(type) == nullptr && is_read_by_choice(type) && type == "text/css";
    page.skipped_links += site_links_.filter(url, list.links);
    if (topic_)
      list.scores = topic_->scores(html ? text.utf8 : std::string_view(), document_base(links, document, encoder.get()),
                                   encoder.get(), rules_.canonicaliser, list.links, reading.fetch.queued.score);
    page.listed = std::move(list);
    if (text_ && html && !not_kept(reading.item, reading.meta))
      write_text(reading, html::page_blocks(text.utf8), text.charset);
  }

  // Keeps only links that may be results, before they are resolved.
  void select_results(const ResultPages::Rule& rule, std::string_view html, PageLinks& links) const {
    const auto selector = selectors_.find(rule.entry.select);
    if (selector != selectors_.end()) {
      links.links = html::selected_links(html, selector->second);
    } else {
      std::erase_if(links.links,
                    [](const PageLink& link) { return link.kind != LinkKind::anchor && link.kind != LinkKind::area; });
    }
  }

  void read_sitemap_page(Reading& reading, std::string_view payload, const std::string& content_type) {
    PageRead& page = reading.page;
    DecodeLease& lease = reading.lease;
    page.listed = LinkList{};
    if (settings_.obey_nofollow && reading.meta.nofollow) return;
    const Url location = reading.item.job.url.as_url();
    // The unpacked file, its text in UTF-8, and the entries.
    const bool packed = payload.starts_with("\x1F\x8B");
    lease.want(packed ? UINT64_MAX : 3 * std::uint64_t{payload.size()});
    if (lease.outgrown()) return;
    SitemapLimits limits;
    limits.max_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(limits.max_bytes, lease.left() / 3));
    const Sitemap sitemap = read_sitemap(payload, content_type, limits);
    lease.take(packed ? 3 * limits.max_bytes : 3 * payload.size());
    reading.done.decoded_cut = reading.done.decoded_cut || sitemap.cut;
    SitemapUrls found = resolve_entries(sitemap, location, rules_.canonicaliser, rules_.max_bytes);
    if (links_room_.is_large(bytes_of({&found.urls}))) lease.outgrow();
    if (lease.outgrown()) return;
    page.skipped_links = found.skipped;
    page.links_over_budget = found.over_budget;
    if (sitemap.kind == SitemapKind::index) {
      page.listed = SitemapIndexList{std::move(found.urls), std::move(found.lastmods)};
      return;
    }
    SitemapList list{.pages = std::move(found.urls), .scores = {}, .lastmods = std::move(found.lastmods)};
    if (topic_)
      list.scores = topic_->scores({}, location, nullptr, rules_.canonicaliser, list.pages, reading.fetch.queued.score);
    page.listed = std::move(list);
  }

  bool is_read_by_choice(std::string_view type) const {
    return (looked_for_.styles && type == "text/css") || (looked_for_.text && type == "text/plain") ||
           (looked_for_.json_ld && type == "application/ld+json") || (looked_for_.scripts && is_javascript(type));
  }

  // `decode` fills `text`, within the bytes that are left in the lease.
  template <class Decode>
  static void within(Reading& reading, DecodedText& text, const Decode& decode) {
    DecodeLease& lease = reading.lease;
    text.max_storage_bytes = static_cast<std::size_t>(lease.left());
    decode();
    if (text.cut || text.utf8.size() > max_small_text) lease.outgrow();
    reading.done.decoded_cut = reading.done.decoded_cut || text.cut;
    lease.take(text.storage.capacity());
  }

  void read_by_choice(Reading& reading, std::string_view type, std::string_view content_type, std::string_view payload,
                      PageLinks& links) const {
    DecodedText text;
    within(reading, text, [&] {
      decode_text_body(payload, content_type, type == "text/css" ? TextFormat::css : TextFormat::plain, text);
    });
    if (reading.lease.outgrown()) return;
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

  // Runs the user's command on a body: URLs in its output are links, its output is the page's text.
  void read_by_command(Reading& reading, const TextCommand& command, std::string_view payload, PageLinks& links) {
    std::optional<CommandOutput>& ran = reading.item.command;
    if (!ran)
      ran = user_commands_->run(command.arguments, payload,
                                {.timeout = settings_.text_command_timeout,
                                 .max_output_bytes = static_cast<std::size_t>(settings_.max_text_command_bytes),
                                 .memory_bytes = settings_.max_text_command_memory});
    reading.item.command_charge.release();
    want_for_archive(reading.item.response, reading.lease);
    const CommandOutput& output = *ran;
    if (!output.fault.empty()) {
      reading.page.command_fault = command.arguments.front() + ": " + output.fault;
      return;
    }
    reading.lease.take(output.text.capacity());
    DecodedText text;
    within(reading, text, [&] { decode_text_body(output.text, {}, TextFormat::plain, text); });
    if (reading.lease.outgrown()) return;
    note_text(text.utf8, links);
    for (PageLink& link : links.links) link.kind = LinkKind::anchor;  // the user chose the command
    if (text_ && !not_kept(reading.item, reading.meta))
      write_text(reading, html::blocks_of_text(text.utf8), text.charset);
  }

  // `blocks`: mark_boilerplate() has not run on them yet.
  void write_text(Reading& reading, html::PageBlocks blocks, const std::string& charset) {
    const FetchResponse& response = reading.item.response;
    const std::string& url = reading.item.job.url.text();
    html::mark_boilerplate(blocks.blocks);
    TextPrint print;
    nlohmann::json line = text_line({url, response.started, response.status, charset,
                                     header_value(response.response_head, "last-modified").value_or(""),
                                     std::move(blocks), settings_.boilerplate == Boilerplate::keep},
                                    print);
    if (const auto print_of = line_print(line); print_of && repeats_ != nullptr)
      note_repeat(line, repeats_->add(url, print_of->digest, print));
    if (const std::vector<std::string> words = reading.meta.words(); !words.empty()) line["robots"] = words;
    const auto written = text_->append(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    if (!written) reading.failure = error_of(written.error());
    texted_ = written.has_value();
  }

  struct Kept {
    bool not_modified;
    bool noindex;
  };
  // Before anything is written: the archive's writer copies the body and packs the copy.
  void want_for_archive(const FetchResponse& response, DecodeLease& lease) const {
    if (archive_ != nullptr) lease.want(2 * response.body.size());
  }
  // `buffer_bytes`: bytes of the lease that stay taken.
  void archive(const ReadItem& item, std::string_view payload, Kept kept, DecodeLease& lease,
               std::uint64_t buffer_bytes, PageDone& done, std::optional<Error>& failure) {
    const FetchResponse& response = item.response;
    // Gives back what reading the page took.
    lease.set_taken(buffer_bytes);
    lease.take(2 * response.body.size());
    storage::WarcExchange exchange;
    exchange.target_uri = item.job.url.text();
    exchange.not_modified = kept.not_modified;
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
    if (kept.noindex) {  // the archive shows that it was fetched, but not its content
      exchange.body = exchange.payload = {};
      exchange.truncated = "unspecified";
    }
    const std::uint64_t before = archive_->bytes_written();
    const auto written = archive_->write(exchange, clock_.now());
    archived_ = written.has_value();
    if (written) {
      done.archived_bytes = archive_->bytes_written() - before;
    } else {
      failure = error_of(written.error());
    }
  }

  const std::uint16_t index_;
  const bool large_;
  DecodeRoom& room_;
  LinksRoom& links_room_;
  InFlight* in_flight_ = nullptr;
  storage::OpenWaiter* waiter_ = nullptr;
  const Settings settings_;
  const std::string agent_;
  const Clock clock_;
  const LinkRules rules_;
  const ResultPages result_pages_;
  const SiteLinks site_links_;
  std::map<std::string, html::Selector> selectors_;  // for result_pages_, by their text
  LinkChoice looked_for_;
  std::unique_ptr<LinkExtractor> extractor_;
  std::vector<TextCommand> commands_;
  std::optional<TopicPages> topic_;  // under order = best by topic
  std::unique_ptr<storage::WarcWriter> archive_;
  std::optional<storage::TextFile> text_;
  bool archived_ = false;  // by the last read()
  bool texted_ = false;    // likewise: it wrote a line of text
  SharedRepeats* repeats_ = nullptr;
  UserCommands* user_commands_ = nullptr;
};

}  // namespace

PageDone not_read(std::uint64_t id) {
  PageDone done;
  done.id = id;
  return done;
}

Result<std::unique_ptr<PageReader>> PageReader::open(const WorkersConfig& config, Place place, const Clock& clock,
                                                     SharedForReaders shared) {
  return Reader::open(config, place, clock, shared);
}

}  // namespace orbweaver
