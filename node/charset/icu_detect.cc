// Guesses a charset through ICU's detector, for pages that declare none and are not UTF-8.
#include <unicode/ucsdet.h>

#include <algorithm>
#include <memory>

#include "node/charset/charset.h"
#include "node/charset/encoding_sniffer.h"

namespace orbweaver::html {
namespace {

// How many bytes are examined, from a little before the first non-ASCII byte on: the detector's cost grows with them.
constexpr std::size_t max_sample_bytes = 16 * 1024;
constexpr std::size_t lead_in_bytes = 64;
// Fewer such bytes show nothing: a name with an accent must not be treated as Chinese.
constexpr std::ptrdiff_t high_bytes_min = 24;
// In percent. Texts of some lines get 60 and more; guesses among Western charsets get 10 to 45.
constexpr std::int32_t confidence_min = 50;

struct CloseDetector {
  void operator()(UCharsetDetector* detector) const { ucsdet_close(detector); }
};

}  // namespace

std::optional<std::string> charset_from_detection(std::string_view bytes) {
  const auto is_high = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  const auto first = static_cast<std::size_t>(std::find_if(bytes.begin(), bytes.end(), is_high) - bytes.begin());
  if (first == bytes.size()) return std::nullopt;
  bytes = bytes.substr(first - std::min(first, lead_in_bytes), max_sample_bytes);
  if (std::count_if(bytes.begin(), bytes.end(), is_high) < high_bytes_min) return std::nullopt;
  UErrorCode error = U_ZERO_ERROR;
  const std::unique_ptr<UCharsetDetector, CloseDetector> detector(ucsdet_open(&error));
  if (U_FAILURE(error) != 0) return std::nullopt;
  ucsdet_enableInputFilter(detector.get(), 1);  // ignores tags
  ucsdet_setText(detector.get(), bytes.data(), static_cast<std::int32_t>(bytes.size()), &error);
  const UCharsetMatch* const match = ucsdet_detect(detector.get(), &error);
  if (U_FAILURE(error) != 0 || match == nullptr) return std::nullopt;
  const std::int32_t confidence = ucsdet_getConfidence(match, &error);
  const char* const name = ucsdet_getName(match, &error);
  if (U_FAILURE(error) != 0 || name == nullptr || confidence < confidence_min) return std::nullopt;
  std::optional<std::string> charset = charset_from_label(name);
  // These never occur without a mark of their own; UTF-8 was ruled out before.
  if (charset && (charset->starts_with("utf-") || *charset == "replacement" || *charset == "iso-2022-jp"))
    return std::nullopt;
  return charset;
}

}  // namespace orbweaver::html
