// Pages that kill the crawler. A process that did not end cleanly leaves behind which pages were at work
// (node/process/in_flight.h): at most one for each worker, and one in the core. Each is tried once more; one that was
// at work at the next unclean end too is failed as crashes_crawler, and the crawl goes on. A page that ends in any
// other way is cleared. Whatever ended the process counts, a kill -9 by a user too: it costs a page only if it falls
// twice into the moment in which that same page is read.
#include "node/crawl/peer.h"
#include "node/errors/storage_error.h"

namespace orbweaver {

namespace {

constexpr std::uint32_t crashes_max = 2;
constexpr std::string_view digits = "0123456789abcdef";

std::string text_of(const storage::UrlKey& key) {
  std::string text;
  const auto byte = [&](unsigned value) {
    text += digits[value >> 4 & 15];
    text += digits[value & 15];
  };
  byte(key.host.partition >> 8u);
  byte(key.host.partition & 255u);
  for (const std::uint8_t value : key.host.host) byte(value);
  for (const std::uint8_t value : key.url) byte(value);
  return text;
}

// As text_of() wrote it; other rows are passed over.
std::optional<storage::UrlKey> key_of(std::string_view text) {
  storage::UrlKey key;
  std::array<std::uint8_t, 2 + std::tuple_size_v<storage::HostDigest> + std::tuple_size_v<storage::UrlDigest>> bytes{};
  if (text.size() != 2 * bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = digits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] << 4 | digit);
  }
  key.host.partition = static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
  std::copy_n(bytes.begin() + 2, key.host.host.size(), key.host.host.begin());
  std::copy_n(bytes.begin() + 2 + key.host.host.size(), key.url.size(), key.url.begin());
  return key;
}

}  // namespace

Result<void> Peer::note_crashes(const std::vector<storage::UrlKey>& at_work, storage::Commit& commit) {
  const auto rows = store_->meta_rows(std::string(meta_name::crashed));
  if (!rows) return tl::make_unexpected(error_of(rows.error()));
  for (const auto& [name, value] : *rows)
    if (const auto key = key_of(name); key && !value.empty())
      crashed_[*key] = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
  for (const storage::UrlKey& key : at_work)
    commit.meta.emplace_back(std::string(meta_name::crashed) + text_of(key), std::to_string(++crashed_[key]));
  return {};
}

bool Peer::failed_before(const storage::UrlKey& key) const {
  if (crashed_.empty()) return false;
  const auto found = crashed_.find(key);
  return found != crashed_.end() && found->second >= crashes_max;
}

void Peer::forget_crashes(const storage::UrlKey& key, storage::Commit& commit) {
  if (crashed_.empty() || crashed_.erase(key) == 0) return;
  commit.meta.emplace_back(std::string(meta_name::crashed) + text_of(key), "");
}

}  // namespace orbweaver
