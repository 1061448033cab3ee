// The texts of WARC records: ids, dates, header blocks (ISO 28500:2017, clauses 5 and 6). Values only; no files.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/types.h"

namespace orbweaver::storage {

// Record ids: version 4 UUIDs (RFC 9562, 5.4) from xoshiro256**, seeded once from the operating system. 122 random
// bits: no two are equal over all peers of any crawl. Thread rule: one owner.
class RecordIds {
 public:
  RecordIds();
  std::string next();  // "<urn:uuid:…>"

 private:
  std::uint64_t draw();
  std::array<std::uint64_t, 4> state_{};
};

std::string warc_date(Time when);  // "2026-01-02T03:04:05.678901Z"
// As indexes write it: "20260102030405". Empty when it is no date.
std::string stamp_14_of(std::string_view date);
std::string stamp_14(Time when);  // "20260102030405"
// The target URI with characters that WARC-Target-URI forbids percent-encoded: spaces, controls, angle brackets.
std::string safe_uri(std::string_view uri);
// The value without line ends, so that no text from outside can add a field.
std::string safe_value(std::string_view value);

// Builds one record's header block: the version line, the fields in the order given, the blank line.
class RecordHead {
 public:
  RecordHead() : text_("WARC/1.1\r\n") {}
  RecordHead& field(std::string_view name, std::string_view value);
  std::string finish(std::uint64_t block_bytes);  // adds Content-Length

 private:
  std::string text_;
};

// The end of every record.
inline constexpr std::string_view record_end = "\r\n\r\n";

}  // namespace orbweaver::storage
