// Parts of a body that a client may ask for (RFC 9110, 14). Pure. Thread rule: free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "node/http_server/http_server.h"
#include "node/http_server/request_head.h"

namespace orbweaver {

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;  // at least 1
};

enum class RangeKind {
  whole,          // none is asked for, or several, or one that cannot be read: the whole body is the answer
  part,           // `out` says which
  unsatisfiable,  // it begins after the end
};
// `field`: the Range field. `bytes`: of the whole body.
RangeKind read_range(std::string_view field, std::uint64_t bytes, ByteRange& out);

// 200 with the whole, 206 with the part that the request asks for, or 416.
HttpAnswer content_answer(const RequestHead& head, HttpContent content, const std::string& content_type);

}  // namespace orbweaver
