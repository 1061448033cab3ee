// Nothing twice (contract, 2): a page is requested once. It is requested again only after a temporary failure, after
// its peer ended before the outcome was committed, or once for each request of a user to visit it again. Where two
// peers held its partition at the same time: counted, not failed.
#include <map>

#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class Twice final : public Checker {
 public:
  std::string_view name() const override { return "twice"; }

  void request_begun(World& world, const Request& request) override {
    if (request.kind != RequestKind::page) return;
    const auto [left, first] = leave_.try_emplace(request.url, 1);
    if (first) first_[request.url] = world.now();
    if (left->second > 0) {
      --left->second;
    } else if (world.visits_again(request) &&
               world.visits_again(base_of(request.url), first_[request.url]) > again_[request.url]) {
      ++again_[request.url];
    } else if (world.take_single_copy(base_of(request.url))) {
      world.tolerate("fetched twice: its outcome died with a peer");
    } else if (world.was_held_twice(request)) {
      world.tolerate("fetched twice");
    } else {
      world.fail(name(), request.url + " is fetched again without a reason, by peer " + std::to_string(request.peer));
    }
  }

  void request_ended(World&, const Request& request, bool cut) override {
    if (request.kind == RequestKind::page && !cut && request.answer.may_pass) ++leave_[request.url];
  }

  void crashed(World&, std::size_t, const std::vector<Request>& open) override {
    for (const Request& request : open) {
      const bool counted = request.over && request.answer.may_pass;  // by request_ended
      if (request.kind == RequestKind::page && !counted) ++leave_[request.url];
    }
  }

 private:
  std::map<std::string, std::uint32_t> leave_;  // by URL: requests that it may still get
  std::map<std::string, Time> first_;           // time of the first request
  std::map<std::string, std::uint32_t> again_;  // visits that users asked for
};

}  // namespace

std::unique_ptr<Checker> make_twice() { return std::make_unique<Twice>(); }

}  // namespace orbweaver::sim
