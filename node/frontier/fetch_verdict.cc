#include "node/frontier/fetch_verdict.h"

#include <algorithm>

namespace orbweaver {

namespace {

using storage::Reason;

struct Row {
  Reason reason;
  bool may_pass;
  bool host_failed;
};

Row row_of(FetchError error) {
  switch (error) {
    case FetchError::dns:
      return {Reason::dns, true, true};
    case FetchError::connect:
      return {Reason::connect, true, true};
    case FetchError::tls:
      return {Reason::tls, false, false};
    case FetchError::tls_expired:
      return {Reason::tls_expired, false, false};
    case FetchError::tls_wrong_name:
      return {Reason::tls_wrong_name, false, false};
    case FetchError::tls_self_signed:
      return {Reason::tls_self_signed, false, false};
    case FetchError::tls_untrusted:
      return {Reason::tls_untrusted, false, false};
    case FetchError::timeout:
      return {Reason::timeout, true, true};
    case FetchError::empty_reply:
      return {Reason::empty_reply, true, true};
    case FetchError::broken:
      return {Reason::broken, true, false};
    case FetchError::headers_too_large:
      return {Reason::headers_too_large, false, false};
    case FetchError::address_refused:
      return {Reason::address_refused, false, false};
    case FetchError::address_denied:
      return {Reason::address_denied, false, false};
    case FetchError::no_contact:
      return {Reason::no_contact, false, false};
    case FetchError::bad_response:
      return {Reason::bad_response, false, false};
    case FetchError::none:
    case FetchError::cancelled:
    case FetchError::internal:
      break;
  }
  return {Reason::internal, false, false};
}

bool status_may_pass(int status) {
  for (const int passing : {408, 425, 429, 500, 502, 503, 504})
    if (status == passing) return true;
  return false;
}

}  // namespace

storage::UrlRecord record_of(const storage::QueuedUrl& queued, storage::UrlState state, storage::Reason reason,
                             Time at) {
  storage::UrlRecord record;
  record.state = state;
  record.reason = reason;
  record.depth = queued.depth;
  record.steps = queued.steps;
  record.attempts = queued.attempts;
  record.since = at;
  record.url = queued.url;
  record.off_site = queued.off_site;
  record.visit = queued.visit;
  record.score = queued.score;
  return record;
}

storage::Reason reason_of(FetchError error) { return error == FetchError::none ? Reason::none : row_of(error).reason; }

Duration retry_wait(std::uint8_t attempts, const Settings& settings) {
  return std::min(settings.retry_delay * (std::int64_t{1} << std::min<int>(attempts, 16)), max_wait);
}

FetchVerdict judge_fetch(FetchError error, int status, std::optional<Duration> retry_after, std::uint8_t attempts,
                         const Settings& settings) {
  FetchVerdict verdict;
  bool may_pass = false;
  if (error == FetchError::none) {
    if (status >= 200 && status < 400) return verdict;
    verdict.reason = Reason::http_status;
    may_pass = status_may_pass(status);
  } else {
    const Row row = row_of(error);
    verdict.reason = row.reason;
    verdict.host_failed = row.host_failed;
    may_pass = row.may_pass;
  }
  verdict.kind = may_pass && attempts < settings.max_retries ? FetchVerdict::Kind::retry : FetchVerdict::Kind::failed;
  verdict.wait = std::min(std::max(retry_wait(attempts, settings), retry_after.value_or(Duration{})), max_wait);
  return verdict;
}

}  // namespace orbweaver
