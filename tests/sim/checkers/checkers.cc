#include "tests/sim/checkers/checkers.h"

namespace orbweaver::sim {

std::vector<std::unique_ptr<Checker>> all_checkers() {
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(make_one_owner());  // before the checkers that use its findings
  checkers.push_back(make_obeys());
  checkers.push_back(make_twice());
  checkers.push_back(make_polite());
  checkers.push_back(make_address());
  checkers.push_back(make_shares());
  checkers.push_back(make_bounded());
  checkers.push_back(make_ledger());
  checkers.push_back(make_page_limit());
  checkers.push_back(make_budget());
  checkers.push_back(make_disk());
  checkers.push_back(make_waits());
  checkers.push_back(make_recovers());
  checkers.push_back(make_moves());
  checkers.push_back(make_handed_over());
  checkers.push_back(make_archived());
  checkers.push_back(make_copies());
  checkers.push_back(make_ends());
  checkers.push_back(make_links_first());
  checkers.push_back(make_lost());
  checkers.push_back(make_equal());
  return checkers;
}

}  // namespace orbweaver::sim
