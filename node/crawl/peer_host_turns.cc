// Turns of hosts (host_turns.h), under partition_by = url: before it asks a host a peer borrows it from the owner of
// the host's digest, renews the loan while it needs it, and gives it back with the wait that the host is due. On the
// way an ask is a TurnAsk whose address is a byte (1 ask, 2 renew, 3 give back) and MD5(host); good_for is the host's
// delay, or that wait. It goes out again under the same id until it is answered: the owner answers the same again.
#include <algorithm>

#include "node/crawl/peer.h"

namespace orbweaver {

namespace {

enum class LoanAsk : std::uint8_t { ask = 1, renew = 2, give_back = 3 };

constexpr std::size_t loan_address_bytes = 17;
constexpr Duration answer_timeout = std::chrono::seconds{1};
constexpr Duration renew_every = std::chrono::seconds{3};
// A loan whose last answer may have been to an earlier question is held to end so much sooner.
constexpr Duration unsure_time = std::chrono::seconds{2};
// A loan that is not used goes back: the peer may not fetch now, or the host has nothing to ask for any more.
constexpr Duration unused_max = std::chrono::seconds{2};
constexpr Duration later_max = std::chrono::hours{24};

Duration micros_of(std::uint64_t count) {
  return Duration(static_cast<std::int64_t>(std::min<std::uint64_t>(count, later_max / Duration{1})));
}

std::uint64_t count_of(Duration wait) { return static_cast<std::uint64_t>(std::max(wait, Duration{}).count()); }

}  // namespace

// `asked`: the host stays acquired until the owner has answered; `now`: it is this peer's, until give_host_back().
Peer::AddressTurn Peer::host_turn(Time now, BenchHost& host) {
  if (settings_.partition_by != PartitionBy::url) return AddressTurn::now;
  if (const auto number = loan_of_.find(host.key); number != loan_of_.end()) {
    HostLoan& loan = loans_.at(number->second);
    if (loan.state == HostLoan::State::held && loan.until > now + unsure_time) return AddressTurn::now;
    return_loan(now, number->second, loan.wait);
  }
  HostLoan loan;
  loan.key = host.key;
  loan.host = ring::md5(host.name);
  loan.wait = std::max(manners_of(site_of(host.name)).delay, host.crawl_delay);
  loan.sent = now;
  const std::uint64_t number = next_turn_++;
  loans_.emplace(number, loan);
  loan_of_[host.key] = number;
  loans_unsent_.push_back(number);
  return AddressTurn::asked;
}

// What was asked of the host is over.
void Peer::give_host_back(Time now, const storage::HostKey& key) {
  const auto number = loan_of_.find(key);
  if (number == loan_of_.end()) return;
  const BenchHost* const host = bench_.find(key);
  const Duration wait = loans_.at(number->second).wait;
  return_loan(now, number->second, host == nullptr ? wait : std::max(host->next_allowed - now, Duration{}));
}

void Peer::return_loan(Time now, std::uint64_t id, Duration wait) {
  HostLoan& loan = loans_.at(id);
  loan_of_.erase(loan.key);
  loan.state = HostLoan::State::returned;
  loan.until = now + wait;
  loan.sent = now;
  loans_unsent_.push_back(id);
}

void Peer::loans_tick(Time now) {
  std::vector<std::uint64_t> unused;
  for (auto& [id, loan] : loans_) {
    const bool held = loan.state == HostLoan::State::held;
    if (now - loan.sent < (held ? renew_every : answer_timeout)) continue;
    const BenchHost* const host = bench_.find(loan.key);
    if (held && (host == nullptr || (!host->busy && now > std::max(host->next_allowed, loan.given) + unused_max))) {
      unused.push_back(id);
      continue;
    }
    loan.sent = now;
    loans_unsent_.push_back(id);
  }
  for (const std::uint64_t id : unused) return_loan(now, id, Duration{});
}

void Peer::send_loan_asks(Time now, std::map<ring::PeerId, ring::TurnRequest>& requests, ring::Turns& own) {
  for (const std::uint64_t id : std::exchange(loans_unsent_, {})) {
    const auto found = loans_.find(id);
    if (found == loans_.end() || view_.empty()) continue;
    HostLoan& loan = found->second;
    const bool returned = loan.state == HostLoan::State::returned;
    const LoanAsk what = returned                              ? LoanAsk::give_back
                         : loan.state == HostLoan::State::held ? LoanAsk::renew
                                                               : LoanAsk::ask;
    std::string address(1, static_cast<char>(what));
    address.append(loan.host.begin(), loan.host.end());
    const ring::TurnAsk ask{
        .id = id, .address = std::move(address), .good_for = count_of(returned ? loan.until - now : loan.wait)};
    const ring::Partition partition = ring::partition_of(loan.host, view_.partitions());
    if (!view_.owns(partition)) {
      requests[view_.owner(partition)].asks.push_back(ask);
    } else if (const auto turn = lend(now, this->id(), ask)) {
      own.turns.push_back(*turn);
    }
  }
}

// The owner's part. Nothing: not an ask for a host, or another peer owns it, and the asker will hear of that.
std::optional<ring::Turn> Peer::lend(Time now, const ring::PeerId& from, const ring::TurnAsk& ask) {
  if (ask.address.size() != loan_address_bytes || view_.empty()) return std::nullopt;
  ring::Md5 host;
  std::transform(ask.address.begin() + 1, ask.address.end(), host.begin(),
                 [](char byte) { return static_cast<std::uint8_t>(byte); });
  const ring::Partition partition = ring::partition_of(host, view_.partitions());
  if (!view_.owns(partition)) return std::nullopt;
  const Time since = turns_since_[partition].value_or(now);
  const HostTurns::Loan loan{from, ask.id};
  switch (static_cast<LoanAsk>(ask.address.front())) {
    case LoanAsk::ask:
    case LoanAsk::renew: {
      const bool renews = static_cast<LoanAsk>(ask.address.front()) == LoanAsk::renew;
      const HostTurns::Answer answer = host_turns_.ask(host, loan, renews, micros_of(ask.good_for), since, now);
      return ring::Turn{ask.id, answer.given, answer.given ? 0 : count_of(answer.at - now)};
    }
    case LoanAsk::give_back:
      host_turns_.give_back(host, loan, micros_of(ask.good_for), since, now);
      return ring::Turn{ask.id, true, 0};
  }
  return std::nullopt;
}

// False: not an answer about a host.
bool Peer::on_loan(Time now, const ring::Turn& turn) {
  const auto found = loans_.find(turn.id);
  if (found == loans_.end()) return false;
  HostLoan& loan = found->second;
  if (loan.state == HostLoan::State::returned) {
    loans_.erase(found);
    return true;
  }
  if (loan.state == HostLoan::State::held) {
    if (turn.given) loan.until = loan.sent + HostTurns::loan_time;
    return true;
  }
  BenchHost* const host = bench_.find(loan.key);
  const bool waits = host != nullptr && host->busy;
  if (!turn.given) {
    const Time later = now + std::min(micros_of(turn.wait), later_max);
    loan_of_.erase(loan.key);
    loans_.erase(found);
    if (waits) bench_.release(*host, std::max(host->next_allowed, later));
    return true;
  }
  loan.state = HostLoan::State::held;
  loan.given = now;
  loan.until = loan.sent + HostTurns::loan_time;
  if (waits) {
    bench_.release(*host, host->next_allowed);
  } else {
    return_loan(now, turn.id, Duration{});
  }
  return true;
}

}  // namespace orbweaver
