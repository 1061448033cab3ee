// Any bytes as a topic and as a page: a topic is refused or has terms, similarities are from 0 to 1, and each of a
// page's links gets a score.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/config/settings_table.h"
#include "node/settings/settings.h"
#include "node/topic/topic_page.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // The first line is a topic, the rest a page.
  const std::string_view first = bytes.substr(0, bytes.find('\n'));
  auto topic = orbweaver::Topic::parse(first);
  if (topic) require(!topic->terms().empty());
  if (!topic) topic = orbweaver::Topic::parse("lantern a1");
  if (const auto words = orbweaver::Topic::of_document(bytes))
    require(orbweaver::Topic::parse(*words)->terms().size() <= orbweaver::max_topic_words);
  orbweaver::TopicPages pages(*topic);
  const auto base = orbweaver::Url::parse("http://d.test/a/b?c");
  const std::vector<orbweaver::CanonicalUrl> links = {*orbweaver::CanonicalUrl::parse("http://d.test/lantern"),
                                                      *orbweaver::CanonicalUrl::parse("http://e.test/")};
  const orbweaver::Canonicaliser canonicaliser(orbweaver::default_settings());
  for (const std::uint16_t score : {std::uint16_t{0}, std::uint16_t{255}, std::uint16_t{65535}}) {
    require(pages.scores(bytes, *base, nullptr, canonicaliser, links, score).size() == links.size());
    require(pages.page_similarity() >= 0 && pages.page_similarity() <= 1);
  }
  return 0;
}
