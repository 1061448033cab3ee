#include "node/links/seed_intake.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "node/crawl/meta_names.h"
#include "node/crawl/outside_json.h"
#include "node/try.h"

namespace orbweaver {

using nlohmann::json;

namespace {

// Maximum number of seeds in one question, and of refused seeds that are listed one by one.
constexpr std::size_t max_seeds_asked = ring::max_seeds;
constexpr std::size_t max_refused_listed = 100;
// Maximum bytes of all accepted seeds that are listed.
constexpr std::size_t max_listed_bytes = ring::max_text_bytes - 64 * 1024;
// Maximum bytes of each refused seed that is listed.
constexpr std::size_t max_refused_bytes = 256;

}  // namespace

void SeedIntake::restore(const std::string& waited) {
  waited_ = std::strtoull(waited.c_str(), nullptr, 10);
  if (waited_ >= wait_for_peers_) wait_for_peers_ = 1;
}

// New seeds widen the scope everywhere before the first of them can be fetched: the message about them goes out ahead
// of the URLs, on the same connections.
Result<json> SeedIntake::answer(const Step& step, const json& body) {
  json accepted = json::array();
  json refused = json::array();
  std::vector<CanonicalUrl> urls;
  std::vector<std::string> texts;
  const Result<std::span<const json>> items = list_field(body, "urls");
  if (!items) return json{{"error", items.error().message}};
  if (items->size() > max_seeds_asked)
    return json{{"error", std::to_string(items->size()) + " seeds are more than the " +
                              std::to_string(max_seeds_asked) +
                              " that one question may have; ask with several, as orbweaver seed does"}};
  std::size_t refused_unlisted = 0;
  std::size_t accepted_unlisted = 0;
  std::size_t listed_bytes = 0;
  for (const json& item : *items) {
    const std::string text = item.is_string() ? item.get<std::string>() : json_text(item);
    Result<CanonicalUrl> url = around_.state.canonicaliser.parse(text);
    if (!url && refused.size() >= max_refused_listed) {
      ++refused_unlisted;
      continue;
    }
    if (!url) {
      refused.push_back({{"url", text.substr(0, max_refused_bytes)}, {"why", url.error().message}});
      continue;
    }
    listed_bytes += json_text(url->text()).size() + 1;
    if (listed_bytes <= max_listed_bytes) {
      accepted.push_back(url->text());
    } else {
      ++accepted_unlisted;
    }
    texts.push_back(url->text());
    urls.push_back(std::move(*url));
  }
  storage::Commit commit;
  around_.seeds.add(texts, commit);
  // To as many members as the memory for messages has room for; the others notice new seeds by their fingerprint.
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size() + sizeof(std::string);
  std::uint64_t room = around_.state.memory.messages_out;
  for (const ring::PeerId& member : around_.members.others()) {
    if (bytes > room) break;
    room -= bytes;
    around_.seeds.send(step, member, texts);
  }
  std::size_t result_pages = 0;
  for (const CanonicalUrl& url : urls) {
    around_.router.route(url, {}, commit);
    if (around_.seeds.scope().is_result_page(url)) ++result_pages;
  }
  ORBWEAVER_TRY(around_.writer.commit(step, commit));
  return json{{"accepted", std::move(accepted)},
              {"refused", std::move(refused)},
              {"accepted_unlisted", accepted_unlisted},
              {"refused_unlisted", refused_unlisted},
              {"result_pages", result_pages}};
}

Result<void> SeedIntake::tick(const Step& step) {
  if (wait_for_peers_ == 0) return {};
  // Members that have left or died meanwhile count: they were there too.
  std::size_t seen = 0;
  for (const auto& [peer, member] : around_.members.membership().members())
    if (member.state != ring::MemberState::joining && !member.suspect) ++seen;
  const bool newcomer = around_.state.restarted == Time{};
  if (seen < wait_for_peers_ && !around_.lifecycle.leaving() && !(newcomer && around_.seeds.size() > 0)) return {};
  storage::Commit waited;
  waited_ = std::max(waited_, std::exchange(wait_for_peers_, 0));
  waited.meta.emplace_back(meta_name::waited, std::to_string(waited_));
  waited.synced = waited_ > 1;  // those who were there may have left when this peer starts again
  ORBWEAVER_TRY(around_.writer.commit(step, waited));
  std::vector<std::string> seeds = std::exchange(first_, {});
  // A seed that the ring already has is its owner's to admit. Adding it again after a restart would be new work when
  // the others have found the end.
  std::erase_if(seeds, [this](const std::string& seed) {
    const Result<CanonicalUrl> url = around_.state.canonicaliser.parse(seed);
    return url && around_.seeds.contains(url->text());
  });
  for (std::size_t at = 0; at < seeds.size(); at += max_seeds_asked) {
    const auto begin = seeds.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(max_seeds_asked, seeds.size() - at));
    const Result<json> said = answer(step, {{"urls", std::vector<std::string>(begin, end)}});
    if (!said) return tl::make_unexpected(said.error());
    for (const json& refused : said->value("refused", json::array()))  // made by this peer itself
      step.log(LogLevel::error, "crawl", "seed refused",
               {{"url", refused.value("url", "")}, {"why", refused.value("why", "")}});
    if (const std::uint64_t unlisted = said->value("refused_unlisted", std::uint64_t{0}); unlisted > 0)
      step.log(LogLevel::error, "crawl", "more seeds refused", {{"seeds", std::to_string(unlisted)}});
  }
  return {};
}

void SeedIntake::add_results(const Step& step, const ResultList& found, storage::Commit& commit) {
  const std::uint64_t max_results = around_.state.settings.max_results;
  around_.links.note_found(found.results.size());
  std::vector<std::string> texts;
  std::vector<const CanonicalUrl*> taken;
  std::uint64_t beyond = 0;
  for (const CanonicalUrl& result : found.results) {
    const bool known = around_.seeds.contains(result.text());
    if (!known && around_.seeds.size() + texts.size() >= max_results) {
      ++beyond;
    } else if (!known && around_.seeds.scope().place(result) != Scope::Place::out) {
      texts.push_back(result.text());
      taken.push_back(&result);
    } else if (!known) {
      around_.router.note_out_of_scope(1);
    }
  }
  around_.router.note_out_of_scope(beyond);
  if (beyond > 0)
    step.log(LogLevel::warning, "crawl", "results left out",
             {{"results", std::to_string(beyond)}, {"max_results", std::to_string(max_results)}}, true);
  if (texts.empty()) return;
  around_.seeds.add(texts, commit);
  for (const ring::PeerId& member : around_.members.others()) around_.seeds.send(step, member, texts);
  for (const CanonicalUrl* result : taken) around_.router.admit(*result, {}, commit);
}

}  // namespace orbweaver
