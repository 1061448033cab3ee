// The only code that uses CLD2, whose header uses FILE and does not include it.
#include "node/text/language.h"

// clang-format off
#include <cstdio>  // before CLD2
#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>
// clang-format on

#include <algorithm>
#include <limits>

namespace orbweaver {

Language guess_language(std::string_view text) {
  CLD2::CLDHints hints{nullptr, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  CLD2::Language languages[3] = {};
  int percents[3] = {};
  double scores[3] = {};
  int text_bytes = 0;
  int valid_bytes = 0;
  bool reliable = false;
  const auto bytes = static_cast<int>(std::min<std::size_t>(text.size(), std::numeric_limits<int>::max()));
  const auto detect = [&](int length) {
    return CLD2::ExtDetectLanguageSummaryCheckUTF8(text.data(), length, true, &hints, 0, languages, percents, scores,
                                                   nullptr, &text_bytes, &reliable, &valid_bytes);
  };
  CLD2::Language language = detect(bytes);
  if (valid_bytes < bytes) language = detect(valid_bytes);
  if (language == CLD2::UNKNOWN_LANGUAGE) return {};
  return {CLD2::LanguageCode(language), percents[0], reliable};
}

}  // namespace orbweaver
