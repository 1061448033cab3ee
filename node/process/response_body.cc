#include "node/process/response_body.h"

#include "node/http/http_message.h"

namespace orbweaver {

namespace {

// More than one is rare; more than this is not an honest mistake.
constexpr int max_transfer_codings = 3;

}  // namespace

std::string_view without_transfer_codings(const FetchResponse& response, std::size_t max_bytes, DecodeLease& lease,
                                          bool& cut, std::string& buffer) {
  std::string codings;
  for (const std::string& value : header_values(response.response_head, "transfer-encoding"))
    codings += (codings.empty() ? "" : ",") + value;
  std::string_view body = response.body;
  std::string_view rest = codings;
  for (int i = 0; i < max_transfer_codings && !rest.empty(); ++i) {
    const std::size_t comma = rest.rfind(',');
    const std::string_view coding = comma == std::string_view::npos ? rest : rest.substr(comma + 1);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(0, comma);
    const bool chunked = coding.find("chunked") != std::string_view::npos;
    std::string next = unpacked(lease, max_bytes, cut, [&](std::size_t most) {
      return chunked ? decode_chunked(body, most) : decode_content(body, coding, most);
    });
    buffer = std::move(next);
    lease.set_taken(buffer.capacity());
    body = buffer;
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
