#include "node/tools/url_command.h"

#include <istream>
#include <ostream>
#include <string>

#include "node/config/settings_table.h"
#include "node/terminal/json_line.h"
#include "node/text/printable.h"
#include "node/url/canonical_url.h"
#include "node/url/percent_encode.h"
#include "node/url/registrable_domain.h"
#include "node/url/surt.h"
#include "node/url/url.h"
#include "ring/hash_ring.h"

namespace orbweaver {

namespace {

// Longest input line, in bytes: two URLs of max_url_input_bytes, each byte escaped as six.
constexpr std::size_t max_line_bytes = 256 * 1024;

Result<Url> resolve(std::string_view text, std::optional<std::string_view> base) {
  if (!base) return Url::parse(text);
  const Result<Url> base_url = Url::parse(*base);
  if (!base_url) return tl::make_unexpected(base_url.error());
  return Url::parse(text, &*base_url);
}

void add_keys(nlohmann::json& report, const CanonicalUrl& canonical) {
  report["canonical"] = canonical.text();
  report["host"] = canonical.host();
  report["port"] = canonical.port();
  report["registrable_domain"] = registrable_domain(canonical.host());
  report["surt"] = surt(canonical);
  report["cdx_key"] = cdx_key(canonical);
}

void add_canonical(nlohmann::json& report, const Url& url, const Canonicaliser& canonicaliser) {
  for (const char* name : {"canonical", "registrable_domain", "surt", "cdx_key", "partition"}) report[name] = nullptr;
  report["canonical_rules"] = canonicaliser.changes(url);
  const Result<CanonicalUrl> canonical = canonicaliser.from(url);
  if (!canonical) {
    report["refused"] = url_text::replace_invalid_utf8(canonical.error().message);
    return;
  }
  add_keys(report, *canonical);
  report["partition"] = ring::partition_of(canonical->host_digest(), ring::partitions_default);
}

// The answer to one line of a batch; `error` when the line itself is invalid.
nlohmann::json answer(const std::string& line) {
  const auto malformed = [](const char* why) { return nlohmann::json{{"href", nullptr}, {"error", why}}; };
  if (line.size() > max_line_bytes) return malformed("the line is too long");
  const std::optional<nlohmann::json> request = parse_json(line);
  if (!request || !request->is_object()) return malformed("the line is not a JSON object");
  const auto input = request->find("input");
  if (input == request->end() || !input->is_string()) return malformed("'input' is not a string");
  const auto base = request->find("base");
  const bool with_base = base != request->end() && !base->is_null();
  if (with_base && !base->is_string()) return malformed("'base' is neither a string nor null");
  std::optional<std::string_view> base_text;
  if (with_base) base_text = base->get_ref<const std::string&>();
  const Result<Url> url = resolve(input->get_ref<const std::string&>(), base_text);
  if (!url) return {{"href", nullptr}};
  return {{"href", url->href()}};
}

}  // namespace

Result<nlohmann::json> url_report(std::string_view text, std::optional<std::string_view> base,
                                  const Canonicaliser& canonicaliser) {
  const Result<Url> url = resolve(text, base);
  if (!url) return tl::make_unexpected(url.error());
  nlohmann::json report;
  report["input"] = url_text::replace_invalid_utf8(text);
  report["base"] = nullptr;
  if (base) report["base"] = url_text::replace_invalid_utf8(*base);
  report["href"] = url->href();
  report["scheme"] = url->scheme();
  report["host"] = nullptr;
  report["port"] = nullptr;
  if (url->host()) report["host"] = *url->host();
  if (url->port()) report["port"] = *url->port();
  add_canonical(report, *url, canonicaliser);
  return report;
}

void add_owner(nlohmann::json& report, const nlohmann::json& explained) {
  Settings keep = default_settings();
  keep.hash_bang = HashBang::keep;  // the ring's result must not be changed again
  const Result<CanonicalUrl> canonical = Canonicaliser(keep).parse(explained.value("url", std::string()));
  if (canonical) add_keys(report, *canonical);
  for (const char* name : {"canonical_rules", "partition", "owner", "owner_address"})
    report[name] = explained.contains(name) ? explained[name] : nlohmann::json();
}

int url_batch(std::istream& in, std::ostream& out) {
  int exit_code = 0;
  for (std::string line; read_line(in, line, max_line_bytes);) {
    const nlohmann::json reply = answer(line);
    if (reply.contains("error")) exit_code = static_cast<int>(ErrorCode::invalid_input);
    out << printable_json(reply.dump()) << '\n';
  }
  out.flush();
  return exit_code;
}

}  // namespace orbweaver
