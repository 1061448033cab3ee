#include "ring/suspicion.h"

#include <algorithm>
#include <array>

namespace orbweaver::ring {

void Suspicion::confirm(const PeerId& by) {
  if (confirmed_by.size() >= max_confirmations) return;
  if (std::find(confirmed_by.begin(), confirmed_by.end(), by) == confirmed_by.end()) confirmed_by.push_back(by);
}

std::size_t confirmations_wanted(std::size_t reachable) {
  if (reachable < 4) return 0;
  return std::min(reachable - 2, max_confirmations);
}

Duration suspicion_wait(Duration min, std::uint32_t factor, std::size_t reachable, std::size_t confirmations) {
  const std::size_t wanted = confirmations_wanted(reachable);
  if (confirmations >= wanted || factor <= 1) return min;
  // log(C + 1) / log(K + 1) for C below K, in 1/10000.
  constexpr std::array<int, 2> of_two{0, 6309};
  constexpr std::array<int, 3> of_three{0, 5000, 7925};
  const int fallen = wanted == 2 ? of_two.at(confirmations) : of_three.at(confirmations);
  const Duration span = min * (factor - 1);
  return min + span - span * fallen / 10000;
}

}  // namespace orbweaver::ring
