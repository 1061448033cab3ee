// The rules that a response's header lines must keep before the crawl believes them; one line at a time, as they
// arrive. What libcurl 7.88 lets through and RFC 9110/9112 do not: a status outside 100-599, two lengths that differ, a
// 101 nobody asked for, interim responses forever. Pure; memory is bounded by bytes_max. Thread rule: a value of its
// transfer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orbweaver {

class ResponseHead {
 public:
  enum class Verdict : std::uint8_t {
    ok,
    too_large,   // more than bytes_max of header lines, those of interim responses counted
    bad_status,  // no status line where one was due, a status outside 100-599, or 101 (RFC 9110, 15.2.2: only when
                 // asked)
    bad_length,  // Content-Length is no number, or two of them differ (RFC 9112, 6.3)
  };

  void reset(std::size_t bytes_max);
  // One line with its line end. After a verdict other than ok the response is over.
  Verdict take(std::string_view line);

  bool whole() const { return whole_; }         // the final response's blank line has come
  std::size_t bytes() const { return bytes_; }  // of all header lines so far
  int status() const { return status_; }        // of the final response; 0 before its status line
  std::optional<std::uint64_t> content_length() const;
  const std::string& text() const { return text_; }  // the final response's lines
  std::string release_text();
  Verdict verdict() const { return verdict_; }

 private:
  Verdict judge(std::string_view line);
  Verdict end_of_head();
  bool take_length(std::string_view value);

  std::size_t bytes_max_ = 0;
  std::size_t bytes_ = 0;
  int status_ = 0;
  bool status_line_due_ = true;
  bool whole_ = false;
  bool coded_ = false;  // a Transfer-Encoding was seen: it decides the length (RFC 9112, 6.3), not Content-Length
  bool bad_length_ = false;
  std::string length_;  // Content-Length's digits
  std::string text_;
  Verdict verdict_ = Verdict::ok;
};

// "HTTP/1.1 200 OK" -> 200; nothing when it is not a status line (RFC 9112, 4) or the status is not three digits.
std::optional<int> status_of_line(std::string_view line);

}  // namespace orbweaver
