#include "storage/warc_format.h"

#include <sys/random.h>

#include <bit>
#include <cstdio>
#include <cstdlib>

namespace orbweaver::storage {
namespace {

struct CivilTime {
  int year;
  unsigned month, day;
  int hour, minute, second, micros;
};

CivilTime civil(Time when) {
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<Duration> clock(when - day);
  return {static_cast<int>(date.year()),
          static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day()),
          static_cast<int>(clock.hours().count()),
          static_cast<int>(clock.minutes().count()),
          static_cast<int>(clock.seconds().count()),
          static_cast<int>(clock.subseconds().count())};
}

}  // namespace

RecordIds::RecordIds() {
  const ::ssize_t got = ::getrandom(state_.data(), sizeof state_, 0);
  if (got != static_cast<::ssize_t>(sizeof state_)) {  // cannot happen for 32 bytes on Linux (getrandom(2))
    std::fputs("warc: no random bytes from the operating system\n", stderr);
    std::abort();
  }
  state_[0] |= 1;  // xoshiro must not start at all zeros
}

// xoshiro256** (Blackman and Vigna, 2018).
std::uint64_t RecordIds::draw() {
  const std::uint64_t drawn = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return drawn;
}

std::string RecordIds::next() {
  const std::uint64_t high = (draw() & ~0xF000ULL) | 0x4000ULL;               // version 4
  const std::uint64_t low = (draw() & 0x3FFFFFFFFFFFFFFFULL) | (1ULL << 63);  // variant 10
  char text[64];
  std::snprintf(text, sizeof text, "<urn:uuid:%08x-%04x-%04x-%04x-%012llx>", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>((high >> 16) & 0xFFFF), static_cast<unsigned>(high & 0xFFFF),
                static_cast<unsigned>(low >> 48), static_cast<unsigned long long>(low & 0xFFFFFFFFFFFFULL));
  return text;
}

std::string warc_date(Time when) {
  const CivilTime t = civil(when);
  char text[80];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", t.year, t.month, t.day, t.hour, t.minute,
                t.second, t.micros);
  return text;
}

std::string stamp_14_of(std::string_view date) {
  std::string digits;
  for (const char c : date) {
    if (c >= '0' && c <= '9' && digits.size() < 14)
      digits += c;
    else if (c == '.' || c == 'Z')
      break;
  }
  return digits.size() == 14 ? digits : std::string();
}

std::string stamp_14(Time when) {
  const CivilTime t = civil(when);
  char text[80];
  std::snprintf(text, sizeof text, "%04d%02u%02u%02d%02d%02d", t.year, t.month, t.day, t.hour, t.minute, t.second);
  return text;
}

std::string safe_uri(std::string_view uri) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  out.reserve(uri.size());
  for (const char c : uri) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet <= 0x20 || octet >= 0x7F || c == '<' || c == '>') {
      out += '%';
      out += hex[octet >> 4];
      out += hex[octet & 15];
    } else {
      out += c;
    }
  }
  return out;
}

std::string safe_value(std::string_view value) {
  std::string out(value);
  for (char& c : out) {
    if (c == '\r' || c == '\n' || c == '\0') c = ' ';
  }
  return out;
}

RecordHead& RecordHead::field(std::string_view name, std::string_view value) {
  text_.append(name).append(": ").append(value).append("\r\n");
  return *this;
}

std::string RecordHead::finish(std::uint64_t block_bytes) {
  field("Content-Length", std::to_string(block_bytes));
  text_ += "\r\n";
  return std::move(text_);
}

}  // namespace orbweaver::storage
