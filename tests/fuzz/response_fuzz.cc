// Whole responses through a worker: any chain of codings, types, charsets, validators, redirects, links. The head ends
// at the first empty line. The results are bounded and well-formed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <string_view>

#include "node/config/settings_table.h"
#include "node/html/links.h"
#include "node/http/response_head.h"
#include "node/links/link_follower.h"
#include "node/memory/memory_share.h"
#include "node/process/workers.h"
#include "storage/record.h"

namespace {

using namespace orbweaver;

void require(bool holds) {
  if (!holds) std::abort();
}

class OneWorker {
 public:
  OneWorker() {
    WorkersConfig config;
    config.settings = default_settings();
    config.settings.archive = ArchiveKind::off;
    config.settings.workers = 1;
    config.settings.max_decoded_bytes = config.settings.max_body_bytes = max_bytes;
    config.decoded = std::make_shared<MemoryShare>(8 * max_bytes);
    config.links = std::make_shared<MemoryShare>(8 * max_bytes);
    config.settings.extra_links = {"resources", "styles", "cites", "forms", "json_ld", "scripts", "text"};
    config.settings.page_requisites = config.settings.keep_validators = true;
    config.settings.result_pages = {"^http://d\\.test/search select=a unwrap=u"};
    auto started =
        Workers::start(std::move(config), Clock(), [this](PageDone page) { done_.set_value(std::move(page)); });
    require(started.has_value());
    workers_ = std::move(*started);
  }

  // The result must have the kind that belongs to the fetch.
  template <class Read, class Fetch>
  Read read(Fetch fetch, const char* url, FetchResponse response) {
    done_ = {};
    auto page = done_.get_future();
    workers_->push({.id = 1, .url = *CanonicalUrl::parse(url), .host = {}, .what = std::move(fetch)},
                   std::move(response));
    PageDone done = page.get();
    require(std::holds_alternative<Read>(done.what));
    return std::get<Read>(std::move(done.what));
  }

  static constexpr std::size_t max_bytes = 1u << 20;

 private:
  std::promise<PageDone> done_;
  std::unique_ptr<Workers> workers_;
};

FetchResponse response_of(std::string_view input) {
  const std::size_t blank = std::min(input.find("\r\n\r\n"), input.size());
  FetchResponse response;
  response.response_head = input.substr(0, std::min(blank + 4, input.size()));
  response.status = status_of_line(input.substr(0, input.find('\r'))).value_or(200);
  response.body = input.substr(std::min(blank + 4, input.size()));
  return response;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static OneWorker worker;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const char* url : {"http://d.test/a?b", "http://d.test/search?q=a"}) {
    const PageRead page = worker.read<PageRead>(PageFetch{}, url, response_of(input));
    require(LinkFollower::count(page) <= 2 * max_links_per_page);
    require(page.validator.size() <= storage::max_validator_bytes);
    for (const char c : page.validator) require(c >= ' ' && c <= '~');
    if (const auto* list = std::get_if<LinkList>(&page.listed))
      for (const CanonicalUrl& link : list->links) require(link.text().size() <= max_url_bytes);
  }
  const int status = response_of(input).status;
  const RobotsRead robots =
      worker.read<RobotsRead>(RobotsFetch{.origin = "http://d.test"}, "http://d.test/robots.txt", response_of(input));
  require(robots.body.size() <= max_robots_bytes);
  require((robots.parsed.rules != nullptr) == (status >= 200 && status < 300));
  return 0;
}
