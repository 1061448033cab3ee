// What the control API knows: a table of routes, each a question to the peer or its ring (node/peer/questions.h). The
// server, the OpenAPI document and the reference are made from it. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "node/base.h"
#include "node/control/peer_question.h"

namespace orbweaver {

struct RouteParameter {
  enum class Type : std::uint8_t {
    text,
    number,  // an integer
    texts,   // in a query: with commas between them
    object,  // in a query: as JSON
  };
  std::string_view name;
  Type type = Type::text;
  std::string_view what;
  bool required = false;
};

struct Route {
  enum class Reach : std::uint8_t {
    peer,   // this peer answers alone
    ring,   // all members answer
    order,  // as ring, and again until all that answer have taken it
  };
  std::string_view method;  // GET: parameters are in the query; POST: a JSON object in the body
  std::string_view path;
  std::string_view verb;
  Reach reach = Reach::peer;
  std::string_view what;
  std::span<const RouteParameter> parameters{};
  bool readmits = false;  // the question has {"readmit": true}
};

inline constexpr std::string_view api_root = "/api/v1/";

std::span<const Route> routes();
// Null: there is none.
const Route* find_route(std::string_view method, std::string_view path);

// The question that a request asks. Only what the route names is taken. Errors (invalid_input) name the parameter.
Result<PeerQuestion> question_of(const Route& route, std::string_view query, std::string_view body);

// OpenAPI 3.0.
nlohmann::json openapi();

}  // namespace orbweaver
