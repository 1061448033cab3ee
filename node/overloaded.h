// Handlers for std::visit: one lambda for each alternative of a variant.
// An alternative without a lambda does not compile. Thread rule: a value.
#pragma once

#include <type_traits>

namespace orbweaver {

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;  // clang before 17 does not deduce it

template <class Type, class... Types>
concept one_of = (std::is_same_v<std::remove_cvref_t<Type>, Types> || ...);

}  // namespace orbweaver
