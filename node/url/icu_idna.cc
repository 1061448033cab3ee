#include "node/url/icu_idna.h"

#include <unicode/uidna.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "node/url/idna_mapping.h"

namespace orbweaver {

namespace {

struct CloseIdna {
  void operator()(UIDNA* handle) const { uidna_close(handle); }
};

// Null when ICU's data is missing: then no international name is accepted.
const UIDNA* idna() {
  static const std::unique_ptr<UIDNA, CloseIdna> handle = [] {
    UErrorCode status = U_ZERO_ERROR;
    const std::uint32_t options =
        UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII | UIDNA_NONTRANSITIONAL_TO_UNICODE;
    UIDNA* opened = uidna_openUTS46(options, &status);
    return std::unique_ptr<UIDNA, CloseIdna>(U_SUCCESS(status) ? opened : nullptr);
  }();
  return handle.get();
}

// Errors of VerifyDnsLength and CheckHyphens: both are off in the URL standard.
constexpr std::uint32_t tolerated = UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG |
                                    UIDNA_ERROR_DOMAIN_NAME_TOO_LONG | UIDNA_ERROR_LEADING_HYPHEN |
                                    UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;

using Convert = decltype(&uidna_nameToASCII_UTF8);

std::optional<std::string> converted(std::string_view domain, Convert convert) {
  const UIDNA* const handle = idna();
  if (handle == nullptr) return std::nullopt;
  std::array<char, 512> buffer;
  UIDNAInfo info = UIDNA_INFO_INITIALIZER;
  UErrorCode status = U_ZERO_ERROR;
  const auto size = static_cast<std::int32_t>(domain.size());
  std::int32_t length =
      convert(handle, domain.data(), size, buffer.data(), static_cast<std::int32_t>(buffer.size()), &info, &status);
  std::string out;
  if (status == U_BUFFER_OVERFLOW_ERROR) {
    out.resize(static_cast<std::size_t>(length));
    info = UIDNA_INFO_INITIALIZER;
    status = U_ZERO_ERROR;
    length = convert(handle, domain.data(), size, out.data(), length, &info, &status);
  } else if (U_SUCCESS(status)) {
    out.assign(buffer.data(), static_cast<std::size_t>(length));
  }
  if (U_FAILURE(status) || (info.errors & ~tolerated) != 0) return std::nullopt;
  out.resize(static_cast<std::size_t>(length));
  return out;
}

// RFC 3492, 6.3, for well-formed UTF-8.
std::string punycode(std::string_view label) {
  std::vector<std::uint32_t> points;
  std::string out;
  for (std::size_t at = 0; at < label.size();) {
    const auto lead = static_cast<unsigned char>(label[at]);
    const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::uint32_t c = bytes == 1 ? lead : lead & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes && at + i < label.size(); ++i)
      c = c << 6 | (static_cast<unsigned char>(label[at + i]) & 0x3FU);
    points.push_back(c);
    if (c < 0x80) out.push_back(static_cast<char>(c));
    at += bytes;
  }
  std::uint64_t handled = out.size();
  const std::uint64_t basic = handled;
  if (basic > 0) out.push_back('-');
  std::uint64_t delta = 0;
  std::uint64_t bias = 72;
  for (std::uint32_t n = 0x80; handled < points.size(); ++n, ++delta) {
    std::uint32_t next = 0xFFFFFFFF;
    for (const std::uint32_t c : points)
      if (c >= n && c < next) next = c;
    delta += (next - n) * (handled + 1);
    n = next;
    for (const std::uint32_t c : points) {
      if (c < n) ++delta;
      if (c != n) continue;
      std::uint64_t q = delta;
      for (std::uint64_t k = 36;; k += 36) {
        const std::uint64_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        const std::uint64_t digit = q < t ? q : t + (q - t) % (36 - t);
        out.push_back(static_cast<char>(digit < 26 ? 'a' + digit : '0' + digit - 26));
        if (q < t) break;
        q = (q - t) / (36 - t);
      }
      delta = handled == basic ? delta / 700 : delta / 2;
      delta += delta / (handled + 1);
      for (bias = 0; delta > 455; bias += 36) delta /= 35;
      bias += 36 * delta / (delta + 38);
      delta = 0;
      ++handled;
    }
  }
  return out;
}

// Replaces each `from` in `text` by `to`; returns how many there were.
std::size_t replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t count = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()), ++count)
    text.replace(at, from.size(), to);
  return count;
}

// U+1806, the Mongolian todo soft hyphen, is valid since Unicode 16; today's ICU refuses it. In all that UTS #46 checks
// (direction, joining, composition) it equals U+2012, which replaces it meanwhile.
constexpr std::string_view todo_hyphen = "\u1806";
constexpr std::string_view stand_in = "\u2012";

std::optional<std::string> with_todo_hyphens(std::string domain) {
  if (domain.find(stand_in) != std::string::npos) return std::nullopt;
  const std::size_t count = replace_all(domain, todo_hyphen, stand_in);
  std::optional<std::string> valid = converted(domain, uidna_nameToUnicodeUTF8);
  // A label that was already punycode contained more of them.
  if (!valid || replace_all(*valid, stand_in, todo_hyphen) != count) return std::nullopt;
  std::string out;
  for (std::size_t begin = 0; begin <= valid->size();) {
    const std::size_t end = std::min(valid->find('.', begin), valid->size());
    const std::string_view label = std::string_view(*valid).substr(begin, end - begin);
    if (begin > 0) out.push_back('.');
    if (label.find(todo_hyphen) != std::string_view::npos) {
      out.append("xn--").append(punycode(label));
    } else if (const auto ascii = converted(label, uidna_nameToASCII_UTF8)) {
      out.append(*ascii);
    } else {
      return std::nullopt;
    }
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::optional<std::string> idna_to_ascii(std::string_view domain) {
  if (domain.size() > max_idna_input_bytes) return std::nullopt;
  const std::string mapped = apply_newer_idna_mappings(domain);
  if (mapped.find(todo_hyphen) != std::string::npos) return with_todo_hyphens(mapped);
  return converted(mapped, uidna_nameToASCII_UTF8);
}

}  // namespace orbweaver
