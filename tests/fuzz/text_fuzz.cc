// Text from a page or a user's command: blocks, boilerplate, the line of the text output and its fingerprints.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "node/corpus/text_line.h"
#include "node/html/main_text.h"
#include "node/text/content_fingerprint.h"

namespace {

using namespace orbweaver;

void require(bool holds) {
  if (!holds) std::abort();
}

// `orbweaver corpus` reads a written line back with the same fingerprint.
void check_line(html::PageBlocks page, bool all) {
  html::mark_boilerplate(page.blocks);
  for (const html::TextBlock& block : page.blocks) require(!block.text.empty() && block.linked <= block.words);
  require(page.dates.size() <= html::max_page_dates);
  TextPage text{"http://d.test/", Time(std::chrono::seconds(1'700'000'000)), 200, "utf-8", "", std::move(page), all};
  TextPrint print;
  const nlohmann::json line = text_line(text, print);
  const std::string written = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto again = line_print(nlohmann::json::parse(written));
  require(again.has_value());
  require(line_print(line).has_value() && line_print(line)->digest == again->digest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const html::PageBlocks page = html::page_blocks(bytes);
  require(html::text_of(page.blocks, true).size() <= 4 * size);
  check_line(page, false);
  check_line(page, true);
  if (!bytes.empty()) check_line(html::blocks_of_text(bytes), true);
  const std::string_view path = bytes.substr(0, bytes.find('\n'));
  require(content_fingerprint(bytes, path, "d.test") != 0);
  require(content_fingerprint(bytes, path, path) == content_fingerprint(bytes, path, path));
  return 0;
}
