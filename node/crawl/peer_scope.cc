// Results of a search, what a page has used of the budgets, and two questions: traps, recrawl.
#include <nlohmann/json.hpp>

#include "node/crawl/peer.h"

namespace orbweaver {

using nlohmann::json;

// The results of a search become seeds, as if they had been given to `orbweaver seed`: they widen the scope everywhere,
// and the word goes out ahead of the URLs. Seeds and URLs are in the write of the page that brought them; a foreign one
// tells its owner by its depth that it is a seed. Only the lists of the scope keep one out.
void Peer::add_results(Time now, const PageDone& page, storage::Commit& commit, Commands& out) {
  links_.note_found(page.results.size());
  std::vector<std::string> texts;
  std::vector<const CanonicalUrl*> taken;
  std::uint64_t beyond = 0;
  for (const CanonicalUrl& result : page.results) {
    const bool known = seeds_.contains(result.text());
    if (!known && seeds_.size() + texts.size() >= settings_.results_max) {
      ++beyond;
    } else if (!known && seeds_.scope().place(result) != Scope::Place::out) {
      texts.push_back(result.text());
      taken.push_back(&result);
    } else if (!known) {
      router_.note_out_of_scope(1);
    }
  }
  router_.note_out_of_scope(beyond);
  if (beyond > 0)
    note(out, LogLevel::warning, "crawl", "results left out",
         {{"results", std::to_string(beyond)}, {"results_max", std::to_string(settings_.results_max)}}, true);
  if (texts.empty()) return;
  seeds_.add(texts, commit);
  for (const ring::PeerId& member : members_.others()) seeds_.send({now, out}, member, texts);
  for (const CanonicalUrl* result : taken) router_.admit(*result, {}, commit);
}

// The host's clock goes with the outcome of each of its pages, and with it what it has used; replicas hear of that
// (copy_long_waits), so that who takes the host over goes on counting.
void Peer::count_use(Time now, const Job& job, bool counted, storage::Commit& commit) {
  budgets_.page_ends(job.job.url);
  allowance_.count_bytes(job.bytes, commit);
  BenchHost* const host = bench_.find(job.job.host);
  const bool answered = counted && job.status > 0;  // not a detour's first answer
  const bool counts = answered && budgets_.count(job.job.url, job.bytes, host, commit);
  if (host == nullptr || (host->next_allowed <= now && !counts)) return;
  commit.clocks.emplace_back(host->key, storage::HostClock{host->next_allowed, host->failures,
                                                           std::string(CanonicalUrl::host_in(job.job.queued.url)),
                                                           host->manners.pace, host->pages, host->bytes});
}

// What the rules have kept out (trap_report.h).
json Peer::traps(Time now, const json& body, Commands& out) {
  Result<json> answer = trap_report_.answer({now, out}, id().hex(), body);
  if (!answer) {
    fail_for_good(answer.error());
    return {{"error", answer.error().message}};
  }
  if (answer->contains("error")) return std::move(*answer);
  (*answer)["id"] = id().hex();
  (*answer)["address"] = membership_.self().address;
  return std::move(*answer);
}

// What it queues must have its copies like any write: it waits until this peer knows its place, and for room. Fetches
// and other peers' batches go on in between.
bool Peer::may_walk() const {
  return walk_.under_way() && fence_.confirmed() && !lifecycle_.stopping() && !copier_.items_full();
}

// Begins a walk (recrawl_walk.h), in place of one under way that is another.
json Peer::recrawl(Time now, const json& body, Commands& out) {
  if (lifecycle_.stopping() || lifecycle_.ending() || ending_.found()) return {{"error", "this peer is stopping"}};
  Result<RecrawlWalk::Wanted> wanted = RecrawlWalk::read(body, now);
  if (!wanted) return {{"error", wanted.error().message}};
  json begun = {{"id", id().hex()}, {"address", membership_.self().address}, {"walks", true}};
  if (walk_.was_told(wanted->before)) return begun;
  storage::Commit commit;
  walk_.begin(std::move(*wanted), commit);
  end_.reopen(commit);
  if (!apply(now, commit, out)) return {{"error", "the store cannot be written"}};
  if (may_walk())
    if (const Result<void> walked = walk_.walk_on({now, out}); !walked) {
      fail_for_good(walked.error());
      return {{"error", walked.error().message}};
    }
  return begun;
}

}  // namespace orbweaver
