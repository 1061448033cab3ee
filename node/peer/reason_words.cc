#include "node/peer/reason_words.h"

namespace orbweaver {
namespace {

using storage::Reason;

constexpr const char* record_faults = "fetch it nevertheless with --tls-verify record";

ReasonWords answered(std::uint16_t status) {
  const std::string what = "the server answered " + std::to_string(status);
  if (status == 401 || status == 403) return {what, "it refuses crawlers or wants a login (setting site_headers)"};
  if (status == 429 || status == 503) return {what, "it wants fewer requests: raise --delay, and visit it again later"};
  if (status >= 500) return {what, "the fault is the server's: visit it again later"};
  return {what, {}};
}

// A robots.txt could not be had for the same reasons as a page.
ReasonWords of_robots(Reason cause, std::uint16_t status) {
  if (cause == Reason::http_status && status == 0)
    return {"its robots.txt could not be had, which counts as 'disallow all'",
            "visit it again later; for your own sites: --robots no"};
  if (cause == Reason::http_status)
    return {words_of(cause, status).what + " to its robots.txt, which counts as 'disallow all'",
            "visit it again later; for your own sites: --robots no"};
  ReasonWords words = words_of(cause, status);
  words.what += ", so its robots.txt could not be had";
  if (cause == Reason::timeout) words.fix = "see robots_timeout, and visit it again later";
  return words;
}

}  // namespace

ReasonWords words_of(Reason reason, std::uint16_t status) {
  switch (reason) {
    case Reason::none:
      return {};
    case Reason::robots:
      return {"robots.txt disallows it", "for your own sites: --robots no"};
    case Reason::depth:
      return {"deeper than max_depth", "raise --max-depth; a shorter way to it would queue it too"};
    case Reason::redirects:
      return {"at the end of more than max_redirects redirects", "do they end? then raise --max-redirects"};
    case Reason::trap:
      return {"suspected to be a trap, beyond what trap_budget allows its host",
              "look with: orbweaver traps; queue again with: orbweaver traps --readmit"};
    case Reason::budget:
      return {"the pages or bytes that its host or domain may have are spent", "see max_pages_per_host and the like"};
    case Reason::noindex:
      return {"not kept, for the page asks for that (noindex)", "see obey_noindex"};
    case Reason::content_type:
      return {"its content type is not wanted", "see content_types_allow and content_types_deny"};
    case Reason::bad_port:
      return {"its port is another protocol's, by the Fetch standard's list of bad ports",
              "let it through with --allow-ports"};
    case Reason::operator_block:
      return {"an operator has blocked its host", "lift it with: orbweaver unblock HOST"};
    case Reason::http_status:
      return answered(status);
    case Reason::dns:
      return {"the host's name does not resolve", "is the name right, and does the DNS answer here?"};
    case Reason::connect:
      return {"the host does not take connections", "is the address right, and does the server run?"};
    case Reason::tls:
      return {"no TLS connection comes about", "does the server speak TLS on that port?"};
    case Reason::timeout:
      return {"the server was too slow", "see fetch_timeout, low_speed_bytes and average_speed_bytes"};
    case Reason::empty_reply:
      return {"the server closed the connection without an answer", "does it speak HTTP on that port?"};
    case Reason::broken:
      return {"the answer broke off or is malformed", "the fault is the server's: visit it again later"};
    case Reason::headers_too_large:
      return {"the answer's header lines are too long", "raise --max-header-bytes"};
    case Reason::bad_response:
      return {"the answer is not HTTP", "does a web server listen on that port?"};
    case Reason::address_refused:
      return {"refused: private address", "allow with --allow-private RANGE, its address's range"};
    case Reason::address_denied:
      return {"refused: its address is in deny_addresses", "take its range out of deny_addresses"};
    case Reason::no_contact:
      return {"refused: no contact is set", "name one with --contact https://example.org/bot"};
    case Reason::host_down:
      return {"its host did not answer ten times in a row", "does it run? then visit it again with --recrawl 0s"};
    case Reason::internal:
      return {"a fault of Orbweaver's own", "report it, with the peer's log"};
    case Reason::crashes_crawler:
      return {"the crawler died twice in a row while it read this page", "report it, with the page"};
    case Reason::links_over_budget:
      return {"it has more links than a page may have, and the last were left out", "raise --max-link-bytes"};
    case Reason::tls_expired:
      return {"the host's certificate is not valid now", record_faults};
    case Reason::tls_wrong_name:
      return {"the host's certificate is for other names", record_faults};
    case Reason::tls_self_signed:
      return {"the host's certificate is signed by itself only", record_faults};
    case Reason::tls_untrusted:
      return {"the host's certificate is not one of an authority that is trusted (ca_file)", record_faults};
    case Reason::robots_unreachable:
    case Reason::robots_dns:
    case Reason::robots_connect:
    case Reason::robots_tls:
    case Reason::robots_timeout:
    case Reason::robots_empty_reply:
    case Reason::robots_broken:
    case Reason::robots_headers_too_large:
    case Reason::robots_bad_response:
    case Reason::robots_internal:
    case Reason::robots_tls_expired:
    case Reason::robots_tls_wrong_name:
    case Reason::robots_tls_self_signed:
    case Reason::robots_tls_untrusted:
      return of_robots(storage::robots_cause(reason), status);
  }
  return {std::string(storage::reason_name(reason)), {}};  // a reason of a newer version
}

}  // namespace orbweaver
