// The files that a user names: seeds, edges of a graph, settings. For any content the answer is a value, or an error
// that names the place.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "node/config/settings_table.h"
#include "node/config/sources/toml_settings.h"
#include "node/graph/edge_file.h"
#include "node/settings/settings.h"
#include "node/tools/seed_file.h"
#include "node/url/canonical_url.h"
#include "tests/fuzz/temp_file.h"

namespace {

using namespace orbweaver;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::TempFile temp;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string path = temp.write(bytes);
  if (const auto seeds = read_seed_file(path)) {
    for (const std::string& url : *seeds) require(CanonicalUrl::parse(url).has_value());
  } else {
    require(seeds.error().message.find(path) != std::string::npos);
  }
  std::size_t edges = 0;
  const auto read = read_edge_file(path, [&edges](std::string_view from, std::string_view to) -> Result<void> {
    require(!from.empty() && !to.empty());
    ++edges;
    return {};
  });
  require(!read || edges > 0);
  if (!read) require(read.error().message.find(path) != std::string::npos);
  if (const auto entries = parse_toml_settings(bytes, "orbweaver.toml")) {
    Settings settings = default_settings();
    for (const TomlEntry& entry : *entries) (void)set_setting(settings, entry.name, entry.text);
  } else {
    require(!entries.error().message.empty());
  }
  return 0;
}
