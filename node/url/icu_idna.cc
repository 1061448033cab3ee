#include "node/url/icu_idna.h"

#include <unicode/uidna.h>

#include <array>
#include <memory>
#include <utility>

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

// What VerifyDnsLength and CheckHyphens would report: both are off in the URL standard.
constexpr std::uint32_t tolerated = UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG |
                                    UIDNA_ERROR_DOMAIN_NAME_TOO_LONG | UIDNA_ERROR_LEADING_HYPHEN |
                                    UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;

}  // namespace

std::optional<std::string> idna_to_ascii(std::string_view domain) {
  const UIDNA* const handle = idna();
  if (handle == nullptr || domain.size() > idna_input_bytes_max) return std::nullopt;
  const std::string mapped = apply_newer_idna_mappings(domain);
  std::array<char, 512> buffer;
  UIDNAInfo info = UIDNA_INFO_INITIALIZER;
  UErrorCode status = U_ZERO_ERROR;
  const auto size = static_cast<std::int32_t>(mapped.size());
  std::int32_t length = uidna_nameToASCII_UTF8(handle, mapped.data(), size, buffer.data(),
                                               static_cast<std::int32_t>(buffer.size()), &info, &status);
  std::string ascii;
  if (status == U_BUFFER_OVERFLOW_ERROR) {
    ascii.resize(static_cast<std::size_t>(length));
    info = UIDNA_INFO_INITIALIZER;
    status = U_ZERO_ERROR;
    length = uidna_nameToASCII_UTF8(handle, mapped.data(), size, ascii.data(), length, &info, &status);
  } else if (U_SUCCESS(status)) {
    ascii.assign(buffer.data(), static_cast<std::size_t>(length));
  }
  if (U_FAILURE(status) || (info.errors & ~tolerated) != 0) return std::nullopt;
  ascii.resize(static_cast<std::size_t>(length));
  return ascii;
}

}  // namespace orbweaver
