#include "node/frontier/crash_book.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include "node/crawl/meta_names.h"
#include "node/errors/storage_error.h"

namespace orbweaver {

namespace {

constexpr std::uint32_t max_ends = 2;
constexpr std::string_view digits = "0123456789abcdef";

}  // namespace

std::string CrashBook::text_of(const storage::UrlKey& key) {
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

std::optional<storage::UrlKey> CrashBook::key_of(std::string_view text) {
  storage::UrlKey key;
  std::array<std::uint8_t, 2 + std::tuple_size_v<storage::HostDigest> + std::tuple_size_v<storage::UrlDigest>> bytes{};
  if (text.size() != 2 * bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = digits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    bytes[i / 2] = static_cast<std::uint8_t>(unsigned{bytes[i / 2]} << 4 | digit);
  }
  key.host.partition = static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
  std::copy_n(bytes.begin() + 2, key.host.host.size(), key.host.host.begin());
  std::copy_n(bytes.begin() + 2 + key.host.host.size(), key.url.size(), key.url.begin());
  return key;
}

Result<void> CrashBook::restore(storage::Store& store, const std::vector<storage::UrlKey>& at_work,
                                storage::Commit& commit) {
  const auto rows = store.meta_rows(std::string(meta_name::crashed));
  if (!rows) return tl::make_unexpected(error_of(rows.error()));
  for (const auto& [name, value] : *rows)
    if (const auto key = key_of(name); key && !value.empty())
      ends_[*key] = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
  for (const storage::UrlKey& page : at_work)
    commit.meta.emplace_back(std::string(meta_name::crashed) + text_of(page), std::to_string(++ends_[page]));
  return {};
}

bool CrashBook::given_up(const storage::UrlKey& page) const {
  if (ends_.empty()) return false;
  const auto found = ends_.find(page);
  return found != ends_.end() && found->second >= max_ends;
}

void CrashBook::clear(const storage::UrlKey& page, storage::Commit& commit) {
  if (ends_.empty() || ends_.erase(page) == 0) return;
  commit.meta.emplace_back(std::string(meta_name::crashed) + text_of(page), "");
}

}  // namespace orbweaver
