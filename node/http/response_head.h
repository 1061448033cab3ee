// Rules for a response's header lines, checked one line at a time as they arrive. They refuse what libcurl
// 7.88 accepts but RFC 9110/9112 forbid: a status outside 100-599, two different lengths, an unrequested
// 101, endless interim responses. Pure; memory is bounded by max_bytes. Thread rule: a value of its
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
    too_large,   // more than max_bytes of header lines, interim responses included
    bad_status,  // no status line where one was expected, a status outside 100-599, or 101 (RFC 9110, 15.2.2: only
                 // if requested)
    bad_length,  // Content-Length is not a number, or two of them differ (RFC 9112, 6.3)
  };

  void reset(std::size_t max_bytes);
  // Takes one line with its line end. After a verdict other than ok the response is over.
  Verdict take(std::string_view line);

  bool whole() const { return whole_; }         // the final response's blank line arrived
  std::size_t bytes() const { return bytes_; }  // of all header lines so far
  int status() const { return status_; }        // of the final response; 0 before its status line arrives
  std::optional<std::uint64_t> content_length() const;
  const std::string& text() const { return text_; }  // the final response's lines
  std::string release_text();
  Verdict verdict() const { return verdict_; }

 private:
  Verdict judge(std::string_view line);
  Verdict end_of_head();
  bool take_length(std::string_view value);

  std::size_t max_bytes_ = 0;
  std::size_t bytes_ = 0;
  int status_ = 0;
  bool status_line_due_ = true;
  bool whole_ = false;
  bool coded_ = false;  // a Transfer-Encoding was seen: then Content-Length does not count (RFC 9112, 6.3)
  bool bad_length_ = false;
  std::string length_;  // Content-Length's digits
  std::string text_;
  Verdict verdict_ = Verdict::ok;
};

// "HTTP/1.1 200 OK" -> 200; nothing when it is not a status line (RFC 9112, 4) or the status is not three digits.
std::optional<int> status_of_line(std::string_view line);

}  // namespace orbweaver
