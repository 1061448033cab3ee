#include "node/process/response_body.h"

#include "node/http/http_message.h"

namespace orbweaver {

namespace {

// More than one is rare, more than this nobody's mistake.
constexpr int transfer_codings_max = 3;

}  // namespace

std::string_view without_transfer_codings(const FetchResponse& response, std::size_t bytes_max, DecodeLease& lease,
                                          bool& cut, std::string& held) {
  std::string codings;
  for (const std::string& value : header_values(response.response_head, "transfer-encoding"))
    codings += (codings.empty() ? "" : ",") + value;
  std::string_view body = response.body;
  std::string_view rest = codings;
  for (int i = 0; i < transfer_codings_max && !rest.empty(); ++i) {
    const std::size_t comma = rest.rfind(',');
    const std::string_view coding = comma == std::string_view::npos ? rest : rest.substr(comma + 1);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(0, comma);
    const bool chunked = coding.find("chunked") != std::string_view::npos;
    std::string next = unpacked(lease, bytes_max, cut, [&](std::size_t most) {
      return chunked ? decode_chunked(body, most) : decode_content(body, coding, most);
    });
    held = std::move(next);
    lease.set_taken(held.capacity());
    body = held;
  }
  return body;
}

std::string content_codings(const FetchResponse& response) {
  std::string list;
  for (const std::string& value : header_values(response.response_head, "content-encoding"))
    list += (list.empty() ? "" : ", ") + value;
  return list;
}

}  // namespace orbweaver
