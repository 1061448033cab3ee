#include "node/frontier/link_scores.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace orbweaver {

namespace {

constexpr std::size_t set_entries = 4;
constexpr unsigned steps_bits = 2;  // 2^2 steps to each doubling
constexpr std::uint16_t max_score = 64u << steps_bits;

}  // namespace

std::uint16_t score_of_amount(std::uint64_t amount) {
  if (amount == 0) return 0;
  const auto top = static_cast<unsigned>(std::bit_width(amount)) - 1;
  const std::uint64_t below = amount - (std::uint64_t{1} << top);
  const std::uint64_t step = top >= steps_bits ? below >> (top - steps_bits) : below << (steps_bits - top);
  return static_cast<std::uint16_t>((top << steps_bits) + step + 1);
}

std::uint64_t amount_of_score(std::uint16_t score) {
  if (score == 0) return 0;
  const unsigned place = std::min(score, max_score) - 1u;
  const unsigned top = place >> steps_bits;
  const std::uint64_t step = place & ((1u << steps_bits) - 1);
  const std::uint64_t first = std::uint64_t{1} << top;
  if (top < steps_bits) return first + (step >> (steps_bits - top));
  const std::uint64_t width = std::uint64_t{1} << (top - steps_bits);
  return first + step * width + width / 2;
}

namespace {
std::size_t places(std::uint32_t entries) {
  return entries == 0 ? 0 : std::bit_ceil(std::max<std::size_t>(entries, set_entries));
}
}  // namespace

LinkScores::LinkScores(std::uint32_t entries) : entries_(places(entries)) {}
std::uint64_t LinkScores::bytes(std::uint32_t entries) { return places(entries) * sizeof(Entry); }

LinkScores::Entry* LinkScores::entry_of(const ring::Md5& url, bool& is_new) {
  is_new = false;
  if (entries_.empty()) return nullptr;
  std::uint64_t tag = 0;
  std::uint64_t place = 0;
  std::memcpy(&tag, url.data(), sizeof tag);
  std::memcpy(&place, url.data() + sizeof tag, sizeof place);
  tag |= 1;  // 0 is free
  Entry* const first = entries_.data() + (place & (entries_.size() / set_entries - 1)) * set_entries;
  Entry* least = first;
  for (Entry* entry = first; entry != first + set_entries; ++entry) {
    if (entry->tag == tag) return entry;
    if (entry->tag == 0) {
      *entry = {tag, 0};
      is_new = true;
      return entry;
    }
    if (entry->amount < least->amount) least = entry;
  }
  ++evictions_;
  *least = {tag, 0};
  is_new = true;
  return least;
}

std::optional<std::uint16_t> LinkScores::add(const ring::Md5& url, std::uint64_t amount) {
  bool is_new = false;
  Entry* const entry = entry_of(url, is_new);
  if (entry == nullptr) return score_of_amount(amount);
  return change(*entry, is_new, entry->amount > UINT64_MAX - amount ? UINT64_MAX : entry->amount + amount);
}

std::optional<std::uint16_t> LinkScores::at_least(const ring::Md5& url, std::uint64_t amount) {
  bool is_new = false;
  Entry* const entry = entry_of(url, is_new);
  if (entry == nullptr) return score_of_amount(amount);
  return change(*entry, is_new, std::max(entry->amount, amount));
}

std::optional<std::uint16_t> LinkScores::change(Entry& entry, bool is_new, std::uint64_t amount) {
  const std::uint16_t before = score_of_amount(entry.amount);
  entry.amount = amount;
  const std::uint16_t now = score_of_amount(amount);
  if (!is_new && now <= before) return std::nullopt;
  return now;
}

std::optional<std::uint16_t> LinkScores::raise(const ring::Md5& url, std::uint16_t score) {
  bool is_new = false;
  Entry* const entry = entry_of(url, is_new);
  if (entry == nullptr) return score;
  if (!is_new && score <= entry->amount) return std::nullopt;
  entry->amount = score;
  return score;
}

}  // namespace orbweaver
