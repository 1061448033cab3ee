#include "node/control/routes.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "node/crawl/outside_json.h"
#include "node/url/percent_encode.h"

namespace orbweaver {

using nlohmann::json;

namespace {

using Type = RouteParameter::Type;
using Reach = Route::Reach;

constexpr RouteParameter states = {"states", Type::texts, "queued, fetched, failed, excluded"};
constexpr RouteParameter reason = {"reason", Type::text, "why it is so, as reports name it"};
constexpr RouteParameter status = {"status", Type::number, "the HTTP status of the last answer"};
constexpr RouteParameter host = {"host", Type::text, "of this host"};
constexpr RouteParameter match = {"match", Type::text, "an RE2 expression that the URL matches somewhere"};

constexpr std::array url_of_explain = {RouteParameter{"url", Type::text, "the URL", true}};
constexpr std::array of_urls = {
    states,
    reason,
    status,
    host,
    match,
    RouteParameter{"after", Type::object, "where each peer goes on: {identity: its \"last\" in the answer before}"}};
constexpr std::array of_events = {
    RouteParameter{"after", Type::object, "where each peer goes on: {identity: its \"last\" in the answer before}"}};
constexpr std::array of_hosts = {RouteParameter{"limit", Type::number, "of each peer; 100 unless given, 500 at most"}};
constexpr std::array of_traps = {host, RouteParameter{"rule", Type::text, "of this rule"}};
constexpr std::array of_order = {
    RouteParameter{"kind", Type::text, "pause, block or delay", true},
    RouteParameter{"host", Type::text,
                   "the host, or *.HOST for it and all below it; of pause: empty for the whole ring"},
    RouteParameter{"value", Type::text, "pause and block: yes, delay: microseconds; empty takes the order back"}};
constexpr std::array of_retry = {states, reason, status, host, match};
constexpr std::array of_recrawl = {
    reason, status, host, match,
    RouteParameter{"older_than_us", Type::number, "only what ended longer ago than this, in microseconds"}};
constexpr std::array of_seeds = {RouteParameter{"urls", Type::texts, "the URLs", true}};
constexpr std::array of_peer = {RouteParameter{"peer", Type::text, "the identity of a member, or its beginning", true}};
constexpr std::array of_forget = {
    RouteParameter{"id", Type::text, "the identity of a member that is down, or its beginning", true}};

constexpr std::array all_routes = {
    Route{"GET", "/api/v1/peer", "status", Reach::peer, "the status of this peer"},
    Route{"GET", "/api/v1/ring", "status", Reach::ring, "the status of all peers"},
    Route{"GET", "/api/v1/settings", "settings", Reach::ring, "the settings of all peers"},
    Route{"GET", "/api/v1/events", "events", Reach::ring, "what has happened at each peer, the last 500", of_events},
    Route{"GET", "/api/v1/history", "history", Reach::ring,
          "pages, bytes, queue and failures of each peer over the last hour and the last two days"},
    Route{"GET", "/api/v1/orders", "orders", Reach::peer, "what operators have ordered"},
    Route{"GET", "/api/v1/explain", "explain", Reach::ring, "what happened to one URL, and why", url_of_explain},
    Route{"GET", "/api/v1/urls", "urls", Reach::ring, "the URLs of some states, reasons or hosts, part by part",
          of_urls},
    Route{"GET", "/api/v1/hosts", "hosts", Reach::ring, "hosts in memory, when each is asked again, and why not now",
          of_hosts},
    Route{"GET", "/api/v1/traps", "traps", Reach::ring, "what the trap rules have kept out", of_traps},
    Route{"POST", "/api/v1/orders", "order", Reach::order, "gives an order about the ring or a host", of_order},
    Route{"POST", "/api/v1/retry", "retry", Reach::order, "asks again for URLs that failed or were excluded", of_retry},
    Route{"POST", "/api/v1/recrawl", "recrawl", Reach::order, "visits again what was fetched or failed", of_recrawl},
    Route{"POST", "/api/v1/seeds", "seed", Reach::ring, "adds URLs to start from", of_seeds},
    Route{"POST", "/api/v1/readmit", "traps", Reach::ring, "takes back what the trap rules have kept out", of_traps,
          true},
    Route{"POST", "/api/v1/leave", "leave", Reach::peer, "makes a peer hand its partitions to the others and end",
          of_peer},
    Route{"POST", "/api/v1/forget", "forget", Reach::ring, "declares a peer that is down gone for good", of_forget},
    Route{"POST", "/api/v1/stop", "stop", Reach::ring, "stops the whole ring; nothing is lost"},
};

Result<json> value_of(const RouteParameter& parameter, std::string_view text) {
  const auto wrong = [&](const char* kind) {
    return fail(ErrorCode::invalid_input, std::string(parameter.name) + " is not " + kind);
  };
  switch (parameter.type) {
    case Type::text:
      return json(text);
    case Type::number: {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size()) return wrong("an integer");
      return json(number);
    }
    case Type::texts: {
      json list = json::array();
      while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        list.push_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
      }
      return list;
    }
    case Type::object: {
      const Result<json> object = parse_outside_json(text);
      if (!object) return wrong("a JSON object");
      return *object;
    }
  }
  return wrong("known");
}

bool has_type(const RouteParameter& parameter, const json& value) {
  switch (parameter.type) {
    case Type::text:
      return value.is_string();
    case Type::number:
      return value.is_number_integer();
    case Type::texts:
      return value.is_array() && std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_string(); });
    case Type::object:
      return value.is_object();
  }
  return false;
}

const RouteParameter* parameter_of(const Route& route, std::string_view name) {
  const auto at = std::find_if(route.parameters.begin(), route.parameters.end(),
                               [&](const RouteParameter& parameter) { return parameter.name == name; });
  return at == route.parameters.end() ? nullptr : &*at;
}

tl::unexpected<Error> unknown_parameter(const Route& route, const std::string& name) {
  return fail(ErrorCode::invalid_input, std::string(route.path) + " has no parameter '" + name.substr(0, 64) + "'");
}

// application/x-www-form-urlencoded (URL standard, 5.1).
std::string decoded(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return url_text::replace_invalid_utf8(url_text::percent_decode(spaced));
}

Result<json> fields_of_query(const Route& route, std::string_view query) {
  json fields = json::object();
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t sign = std::min(pair.find('='), pair.size());
    const std::string name = decoded(pair.substr(0, sign));
    const RouteParameter* const parameter = parameter_of(route, name);
    if (parameter == nullptr) return unknown_parameter(route, name);
    Result<json> value = value_of(*parameter, decoded(pair.substr(std::min(sign + 1, pair.size()))));
    if (!value) return value;
    fields[name] = std::move(*value);
  }
  return fields;
}

Result<json> fields_of_body(const Route& route, std::string_view body) {
  Result<json> fields = parse_outside_json(body.empty() ? "{}" : body);
  if (!fields) return fail(ErrorCode::invalid_input, "the body is not a JSON object: " + fields.error().message);
  for (const auto& [name, value] : fields->items()) {
    const RouteParameter* const parameter = parameter_of(route, name);
    if (parameter == nullptr) return unknown_parameter(route, name);
    if (!has_type(*parameter, value)) return fail(ErrorCode::invalid_input, name + " has another type");
  }
  return fields;
}

json schema_of(const RouteParameter& parameter) {
  switch (parameter.type) {
    case Type::text:
      return {{"type", "string"}};
    case Type::number:
      return {{"type", "integer"}, {"format", "int64"}};
    case Type::texts:
      return {{"type", "array"}, {"items", {{"type", "string"}}}};
    case Type::object:
      return {{"type", "object"}};
  }
  return {};
}

json operation_of(const Route& route) {
  json operation = {{"summary", route.what}, {"security", {{{"token", json::array()}}}}};
  if (route.method == "GET") {
    for (const RouteParameter& parameter : route.parameters) {
      json described = {
          {"name", parameter.name}, {"in", "query"}, {"description", parameter.what}, {"required", parameter.required}};
      if (parameter.type == Type::object) {
        described["content"]["application/json"]["schema"] = schema_of(parameter);
      } else {
        described["schema"] = schema_of(parameter);
        if (parameter.type == Type::texts) described["explode"] = false;
      }
      operation["parameters"].push_back(std::move(described));
    }
  } else {
    json schema = {{"type", "object"}, {"additionalProperties", false}};
    for (const RouteParameter& parameter : route.parameters) {
      schema["properties"][std::string(parameter.name)] = schema_of(parameter);
      schema["properties"][std::string(parameter.name)]["description"] = parameter.what;
      if (parameter.required) schema["required"].push_back(parameter.name);
    }
    operation["requestBody"]["content"]["application/json"]["schema"] = std::move(schema);
  }
  const json error = {{"$ref", "#/components/responses/error"}};
  operation["responses"] = {
      {"200", {{"description", "the answer"}, {"content", {{"application/json", {{"schema", {{"type", "object"}}}}}}}}},
      {"400", error},
      {"401", error},
      {"503", error}};
  return operation;
}

json view_operation(const char* what, const char* type) {
  return {{"summary", what},
          {"responses",
           {{"200", {{"description", "the view"}, {"content", {{type, json::object()}}}}},
            {"503", {{"$ref", "#/components/responses/error"}}}}}};
}

}  // namespace

std::span<const Route> routes() { return all_routes; }

const Route* find_route(std::string_view method, std::string_view path) {
  const auto at = std::find_if(all_routes.begin(), all_routes.end(),
                               [&](const Route& route) { return route.method == method && route.path == path; });
  return at == all_routes.end() ? nullptr : &*at;
}

Result<PeerQuestion> question_of(const Route& route, std::string_view query, std::string_view body) {
  Result<json> fields = route.method == "GET" ? fields_of_query(route, query) : fields_of_body(route, body);
  if (!fields) return tl::make_unexpected(fields.error());
  for (const RouteParameter& parameter : route.parameters)
    if (parameter.required && !fields->contains(parameter.name))
      return fail(ErrorCode::invalid_input,
                  std::string(parameter.name) + " is missing: " + std::string(parameter.what));
  if (route.readmits) (*fields)["readmit"] = true;
  return PeerQuestion{
      .verb = std::string(route.verb), .body = std::move(*fields), .for_ring = route.reach != Reach::peer};
}

json openapi() {
  json paths = json::object();
  for (const Route& route : all_routes)
    paths[std::string(route.path)][route.method == "GET" ? "get" : "post"] = operation_of(route);
  paths["/api/v1/view"]["get"] = view_operation("the ring at a glance, as the dashboard shows it", "application/json");
  paths["/api/v1/view/stream"]["get"] =
      view_operation("the same each time that it is new, as server-sent events", "text/event-stream");
  return {{"openapi", "3.0.3"},
          {"info",
           {{"title", "Orbweaver's control API"},
            {"version", ORBWEAVER_VERSION},
            {"description",
             "Each peer serves it at its status_address. The token is in the file control-token of its data directory, "
             "and changes when the peer starts again."}}},
          {"paths", std::move(paths)},
          {"components",
           {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}},
            {"responses",
             {{"error",
               {{"description", "it was not done, and why"},
                {"content",
                 {{"application/json",
                   {{"schema", {{"type", "object"}, {"properties", {{"error", {{"type", "string"}}}}}}}}}}}}}}}}}};
}

}  // namespace orbweaver
