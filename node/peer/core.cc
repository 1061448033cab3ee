#include "node/peer/core.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "node/config/settings_table.h"
#include "node/crawl/meta_names.h"
#include "node/errors/storage_error.h"
#include "node/peer/meta_row.h"
#include "node/try.h"
#include "ring/codec.h"

namespace orbweaver {

namespace {

// A peer that had left asks this many members of its earlier run to be let in again.
constexpr std::size_t max_join_addresses = 16;

ring::MembershipConfig membership_config(const Settings& s) {
  ring::MembershipConfig config = ring::preset(s.network);
  config.probe_every = s.probe_every;
  config.probe_timeout = s.probe_timeout;
  config.suspicion_time = s.suspicion_time;
  return config;
}

// Starts of a directory: one each second for half a year. rising_number.h has room for as many.
constexpr std::uint64_t max_lives = std::uint64_t{1} << 24;

std::uint64_t micros(Time time) { return static_cast<std::uint64_t>(time.time_since_epoch().count()); }

// Raised on the disk by every start, before the process says anything: what it numbers is above all that an earlier
// process numbered.
Result<std::uint64_t> begin_life(storage::Store& store) {
  const auto row = meta_row(store, meta_name::life);
  if (!row) return tl::make_unexpected(row.error());
  std::uint64_t life = 0;
  if (*row) {
    const std::string& text = **row;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), life);
    if (error != std::errc{} || end != text.data() + text.size() || life >= max_lives)
      return fail(ErrorCode::io, "the number of starts in the data directory cannot be read: '" + text +
                                     "'; use a new directory, or a copy of this one from before the damage");
  }
  storage::Commit commit;
  commit.synced = true;
  commit.meta.emplace_back(meta_name::life, std::to_string(++life));
  if (const auto written = store.commit(commit); !written) return tl::make_unexpected(error_of(written.error()));
  return life;
}

// The incarnation with which the last run ended, by the view that it stored.
std::uint64_t last_incarnation(const std::optional<std::string>& members) {
  if (!members) return 0;
  const ring::Result<ring::Message> view = ring::decode(*members);
  return view && view->incarnation <= ring::max_first_incarnation ? view->incarnation : 0;
}

// Takes the ring's values from a directory that has them: everything else is made with them.
Result<void> take_stored_settings(const std::string& stored, LoadedSettings& settings) {
  ring::Settings values;
  try {
    values = nlohmann::json::parse(stored).get<ring::Settings>();
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::io,
                std::string("the ring's settings in the data directory cannot be read: ") + error.what());
  }
  for (const auto& [name, value] : values) {
    const auto asked = settings.given.find(name);
    if (asked == settings.given.end() || setting_text(settings.values, name) == value) continue;
    return fail(ErrorCode::mismatch, "ring-wide setting '" + name + "' is " + value +
                                         " in this directory's crawl, but " + asked->second + " says " +
                                         setting_text(settings.values, name) +
                                         "; leave it out to continue the crawl, or use a new directory");
  }
  return apply_ring_wide(settings.values, values);
}

Result<ring::Member> own_member(const PeerStart& start, storage::Store& store,
                                const std::optional<std::string>& members, std::uint64_t life, Time now) {
  ring::Member self;
  self.id = start.fresh_id;
  const auto stored = meta_row(store, meta_name::peer);
  if (!stored) return tl::make_unexpected(stored.error());
  if (*stored) {
    const auto id = ring::PeerId::from_hex(**stored);
    if (!id) return fail(ErrorCode::io, "the identity in the data directory cannot be read: '" + **stored + "'");
    self.id = *id;
  }
  self.address = start.address;
  self.capacity = start.settings.values.capacity;
  self.started = micros(now);
  // Above all that it ever used. A life that others suspect often may use more incarnations than it has. A copy of the
  // directory has the same lives; where its process begins, its start decides, so that the others see two.
  self.incarnation = std::max(life * ring::incarnations_a_life + self.started % (ring::incarnations_a_life / 2),
                              last_incarnation(members) + 1);
  return self;
}

// The last view, as far as it can be read and believed. A member that is not in it is learned again from the others.
void restore_members(const std::string& stored, Time now, RingEntry& entry) {
  std::vector<std::string> left_out;
  auto members = ring::decode_stored_members(stored, left_out);
  if (!members) {
    left_out.push_back(members.error().message);
    members.emplace();
  }
  for (const ring::Member& member : entry.membership.restore(*members, now))
    left_out.push_back("member " + member.id.brief() + " has incarnation " + std::to_string(member.incarnation) +
                       ", which no peer reaches");
  entry.members_left_out = !left_out.empty();
  for (std::string& cause : left_out) entry.left_out.push_back({meta_name::members, std::move(cause)});
}

}  // namespace

Result<std::unique_ptr<Core>> Core::open(PeerStart start, storage::Store& store, Time now) {
  const auto settings = meta_row(store, meta_name::settings);
  const auto ring = meta_row(store, meta_name::ring);
  const auto left = meta_row(store, meta_name::left);
  const auto members = meta_row(store, meta_name::members);
  for (const auto* read : {&settings, &ring, &left, &members})
    if (!*read) return tl::make_unexpected(read->error());
  const Result<std::uint64_t> life = begin_life(store);
  if (!life) return tl::make_unexpected(life.error());
  Result<ring::Member> self = own_member(start, store, *members, *life, now);
  if (!self) return tl::make_unexpected(self.error());
  if (*settings) ORBWEAVER_TRY(take_stored_settings(**settings, start.settings));
  ring::Membership membership(*self, membership_config(start.settings.values), start.random_seed);
  std::map<std::string, std::string> given = start.settings.given;
  std::vector<std::string> addresses = start.settings.values.join;
  RingEntry entry(std::move(start), store, std::move(membership), *life, now);
  if (*members) restore_members(**members, now, entry);
  ring::RingId known;
  bool joins = !*ring && !addresses.empty();
  if (*ring) {
    const auto id = ring::RingId::from_hex(**ring);
    if (!id) return fail(ErrorCode::io, "the ring's identity in the data directory cannot be read: '" + **ring + "'");
    known = *id;
    entry.how = RingEntry::How::restored;
    entry.restarted = now;
    // A peer that has left holds nothing, and comes back as a newcomer does.
    joins = *left && **left == "yes";
    if (joins)
      for (const auto& [peer, member] : entry.membership.members())
        if (peer != self->id && addresses.size() < max_join_addresses) addresses.push_back(member.address);
  }
  entry.ring = *ring ? known : entry.start.fresh_ring;
  entry.admission = Admission(std::move(given), std::move(addresses));
  std::unique_ptr<Core> core(new Core(store, entry.start.settings.values.partitions));
  if (joins) {
    core->joiner_ = std::make_unique<Joiner>(std::move(entry), known);
    ORBWEAVER_TRY(core->joiner_->start());
    return core;
  }
  Commands nothing_said;
  auto peer = Peer::enter(std::move(entry), {now, nothing_said});
  if (!peer) return tl::make_unexpected(peer.error());
  if (const auto& failure = store.failure()) return tl::make_unexpected(error_of(*failure));
  core->peer_ = std::move(*peer);
  return core;
}

// A part that asks the store may treat a failed read as "not there": a host without its wait, say. Nothing is written
// after it (Store::failure), and nothing that the step says leaves.
Result<void> Core::take_read(const Step& step, Event& event) {
  ORBWEAVER_TRY(take(step, event));
  if (const auto& failure = store_->failure()) return tl::make_unexpected(error_of(*failure));
  return {};
}

Result<void> Core::take(const Step& step, Event& event) {
  if (joiner_) {
    std::optional<RingEntry> entry = joiner_->step(step, event);
    if (!entry) return {};
    auto peer = Peer::enter(std::move(*entry), step);
    if (!peer) return tl::make_unexpected(peer.error());
    peer_ = std::move(*peer);
    joiner_.reset();
    const auto& welcome = std::get<ring::Welcome>(std::get<MessageEvent>(event).message.body);
    step.log(LogLevel::info, "ring", "joined",
             {{"ring", welcome.ring.hex()}, {"members", std::to_string(welcome.members.size())}});
  }
  return peer_->step(step, event);
}

// When the store cannot be read, or it or the archive not written, nothing more is accepted and what is durable stays.
// The process ends and says why. Nothing that the step would have sent leaves: it may concern what is not durable.
void Core::step(Time now, Event event, Commands& out) {
  if (failed_ || lifecycle().has_exited()) return;
  const Step step{now, out};
  const Result<void> done = take_read(step, event);
  if (done) return;
  failed_ = true;
  std::erase_if(out, [](const Command& command) { return !std::holds_alternative<LogEntry>(command); });
  step.log(LogLevel::error, "node", "cannot continue", {{"cause", done.error().message}});
  out.push_back(Exit{static_cast<int>(done.error().code), done.error().message, false, {}});
}

nlohmann::json Core::own_status() const { return peer_ ? peer_->status().status() : joiner_->own_status(); }

void Core::note_link_trace(std::map<std::string, std::uint64_t> counts) {
  if (peer_) return peer_->status().note_link_trace(std::move(counts));
  joiner_->note_link_trace(std::move(counts));
}

std::map<std::string_view, std::uint64_t> Core::memory_use() const {
  return peer_ ? peer_->status().memory_use() : std::map<std::string_view, std::uint64_t>{};
}

void Core::note_use(MemoryUse memory, ProcessUse process) {
  if (peer_) peer_->note_use(std::move(memory), process);
}

}  // namespace orbweaver
