#include "node/crawl/outside_json.h"

#include <algorithm>

namespace orbweaver {

using nlohmann::json;

namespace {

struct Extent {
  std::size_t depth = 0;   // the deepest nesting of arrays and objects
  std::size_t values = 1;  // values and names of fields, or more: each but the first has one of [ { , : before it
};

// Counts the marks outside strings: exact for JSON; for other text the numbers do no harm.
Extent extent(std::string_view text) {
  Extent found;
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      found.depth = std::max(found.depth, ++depth);
      ++found.values;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == ',' || c == ':') {
      ++found.values;
    }
  }
  return found;
}

tl::unexpected<Error> wrong(std::string_view name, std::string_view wanted) {
  return fail(ErrorCode::invalid_input, "\"" + std::string(name) + "\" is not " + std::string(wanted));
}

// Nothing: there is no such field, or it is not an object.
const json* field(const json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(name));
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

Result<json> parse_outside_json(std::string_view text, std::size_t max_values) {
  const Extent all = extent(text);
  if (all.depth > max_json_depth)
    return fail(ErrorCode::invalid_input, "JSON nested deeper than " + std::to_string(max_json_depth));
  if (all.values > max_values)
    return fail(ErrorCode::invalid_input, "JSON of more than " + std::to_string(max_values) +
                                              " values; ask for less at a time, with several questions");
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded() || !value.is_object()) return fail(ErrorCode::invalid_input, "it is not a JSON object");
  return value;
}

std::string json_text(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

Result<std::string> text_field(const json& object, std::string_view name) {
  const json* found = field(object, name);
  if (found == nullptr) return std::string();
  if (!found->is_string()) return wrong(name, "a text");
  return found->get<std::string>();
}

Result<bool> flag_field(const json& object, std::string_view name) {
  const json* found = field(object, name);
  if (found == nullptr) return false;
  if (!found->is_boolean()) return wrong(name, "true or false");
  return found->get<bool>();
}

Result<std::int64_t> number_field(const json& object, std::string_view name, std::int64_t fallback, std::int64_t least,
                                  std::int64_t most) {
  const json* found = field(object, name);
  if (found == nullptr) return fallback;
  if (!found->is_number_integer()) return wrong(name, "a whole number");
  const bool beyond = found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX;
  const std::int64_t number = beyond ? INT64_MAX : found->get<std::int64_t>();
  if (beyond || number < least || number > most)
    return wrong(name, "from " + std::to_string(least) + " to " + std::to_string(most));
  return number;
}

Result<std::span<const json>> list_field(const json& object, std::string_view name) {
  const json* found = field(object, name);
  if (found == nullptr) return std::span<const json>();
  if (!found->is_array()) return wrong(name, "a list");
  return std::span<const json>(found->get_ref<const json::array_t&>());
}

}  // namespace orbweaver
