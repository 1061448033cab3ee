// The invariants, one file each.
#pragma once

#include <memory>
#include <optional>

#include "storage/store.h"
#include "tests/sim/checkers/checker.h"

namespace orbweaver::sim {

std::unique_ptr<Checker> make_lost();
std::unique_ptr<Checker> make_links_first();
std::unique_ptr<Checker> make_obeys();
std::unique_ptr<Checker> make_one_owner();
std::unique_ptr<Checker> make_waits();
std::unique_ptr<Checker> make_twice();
std::unique_ptr<Checker> make_polite();
std::unique_ptr<Checker> make_address();
std::unique_ptr<Checker> make_shares();
std::unique_ptr<Checker> make_bounded();
std::unique_ptr<Checker> make_ledger();
std::unique_ptr<Checker> make_ends();
std::unique_ptr<Checker> make_page_limit();
std::unique_ptr<Checker> make_disk();
std::unique_ptr<Checker> make_budget();
std::unique_ptr<Checker> make_handed_over();
std::unique_ptr<Checker> make_archived();
std::unique_ptr<Checker> make_copies();
std::unique_ptr<Checker> make_recovers();
std::unique_ptr<Checker> make_moves();
std::unique_ptr<Checker> make_equal();

std::unique_ptr<Checker> make_follow(std::string url);  // only on request

// Counts of a store, record by record; nothing when the store cannot be read.
std::optional<storage::Counts> recount(storage::Store& store, std::uint32_t partitions);

}  // namespace orbweaver::sim
