#include "node/process/fetch_ended.h"

#include "node/http/http_message.h"

namespace orbweaver {

FetchEnded ended_of(const FetchResponse& response) {
  FetchEnded ended;
  ended.id = response.id;
  ended.error = response.error;
  ended.error_text = response.error_text;
  ended.tls_fault = response.tls_fault;
  ended.status = response.status;
  ended.ended = response.ended;
  ended.bytes = response.response_head.size() + response.body.size();
  ended.retry_after = retry_after(response.response_head, response.ended);
  ended.set_cookies = header_values(response.response_head, "set-cookie");
  // A body that the server did not finish is not the page, so the page is tried again. A body that this peer cut at its
  // limit is kept.
  if (ended.error == FetchError::none && response.truncated == Truncated::disconnect) ended.error = FetchError::broken;
  if (ended.error == FetchError::none && response.truncated == Truncated::time) ended.error = FetchError::timeout;
  return ended;
}

}  // namespace orbweaver
