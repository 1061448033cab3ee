#include "node/cli/top_screen.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "node/settings/units.h"

namespace orbweaver {

namespace {

using nlohmann::json;

constexpr std::size_t max_filter = 100;
// Of the delays that keys set, in seconds.
constexpr double delay_min = 0.05;
constexpr double delay_max = 24 * 3600.0;

std::vector<std::string> help_lines() {
  return {"q  ends              ?  this help",
          "p  peers             s  sorts them: by id, pages a second, queue, processor, memory",
          "h  hosts that need longest, and why they are not asked now",
          "e  why URLs failed, since each peer began        x  why they were excluded; orbweaver report names them",
          "/  only hosts with these letters in their names; Enter ends it, Esc takes it back",
          "arrows  move through the table",
          "",
          "in the table of hosts, for the host at the cursor:",
          "space  pauses it, or lets it go on        r  asks again for what failed of it",
          "+ -    twice and half the delay           =  the delay of the settings again",
          "",
          "limit: what most of the hosts with URLs to fetch wait for, over the last interval (docs/how-to/limit.md)",
          "end: when the crawl ends if it finds no more URLs. politeness: what the fetcher measured at each host",
          "CPU: of one processor. LIMIT: of this peer alone. MOVING: partitions that change peers or lack a copy",
          "NEEDS: QUEUED times DELAY; a + says that more of the host's URLs are on disk"};
}

TopOrder order(const std::string& kind, const std::string& host, const std::string& value, std::string done) {
  return {"order", {{"kind", kind}, {"host", host}, {"value", value}}, std::move(done)};
}

TopOrder delay_order(const HostView& host, double factor) {
  const double seconds = std::clamp(std::max(host.delay_seconds, delay_min) * factor, delay_min, delay_max);
  const Duration delay{std::llround(seconds * 1e6)};
  return order("delay", host.host, std::to_string(delay.count()),
               host.host + " is left alone for " + duration_text(delay) + " after each request");
}

}  // namespace

// The cursor stays at its host, wherever that is in the table now: a key must not reach another.
void TopScreen::see(RingView view) {
  const std::vector<const HostView*> before = hosts();
  const bool at_host = table_ == TopTable::hosts && cursor_ < before.size();
  const std::string name = at_host ? before[cursor_]->host : "";
  const std::string peer = at_host ? before[cursor_]->peer : "";
  view_ = std::move(view);
  sort_peers(view_, order_);
  news_.clear();
  if (!at_host) return;
  const std::vector<const HostView*> now = hosts();
  const auto same = std::find_if(now.begin(), now.end(),
                                 [&](const HostView* host) { return host->host == name && host->peer == peer; });
  lost_ = same == now.end();
  if (!lost_) cursor_ = static_cast<std::size_t>(same - now.begin());
}

std::vector<const HostView*> TopScreen::hosts() const {
  std::vector<const HostView*> found;
  for (const HostView& host : view_.hosts)
    if (host.host.find(filter_) != std::string::npos) found.push_back(&host);
  return found;
}

std::size_t TopScreen::rows() const {
  switch (table_) {
    case TopTable::peers:
      return view_.peers.size() + view_.silent.size();
    case TopTable::hosts:
      return hosts().size();
    case TopTable::failed:
    case TopTable::excluded:
      return outcomes_of(view_, table_).size();
  }
  return 0;
}

TopScreen::Acted TopScreen::act_on_host(char letter) const {
  const std::vector<const HostView*> found = hosts();
  if (table_ != TopTable::hosts || cursor_ >= found.size() || lost_) return {};
  const HostView& host = *found[cursor_];
  switch (letter) {
    case ' ':
      return host.state == "paused" ? Acted{false, order("pause", host.host, "", host.host + " goes on")}
                                    : Acted{false, order("pause", host.host, "yes", host.host + " is paused")};
    case '+':
      return {false, delay_order(host, 2)};
    case '-':
      return {false, delay_order(host, 0.5)};
    case '=':
      return {false, order("delay", host.host, "", host.host + " has the delay of the settings again")};
    case 'r':
      return {false, TopOrder{"retry",
                              {{"states", {"failed"}}, {"host", host.host}},
                              "what failed of " + host.host + " is asked for again"}};
    default:
      return {};
  }
}

void TopScreen::type(const Screen::Pressed& pressed) {
  using Key = Screen::Key;
  if (pressed.key == Key::escape) filter_.clear();
  if (pressed.key == Key::escape || pressed.key == Key::enter) typing_ = false;
  if (pressed.key == Key::backspace && !filter_.empty()) filter_.pop_back();
  if (pressed.key == Key::other && pressed.letter > ' ' && filter_.size() < max_filter) filter_ += pressed.letter;
  cursor_ = first_ = 0;
  lost_ = false;
}

TopScreen::Acted TopScreen::press(const Screen::Pressed& pressed) {
  using Key = Screen::Key;
  if (pressed.key == Key::none || pressed.key == Key::resized) return {};
  news_.clear();
  if (typing_) {
    type(pressed);
    return {};
  }
  if (pressed.key == Key::up || pressed.key == Key::down) lost_ = false;
  if (pressed.key == Key::up && cursor_ > 0) --cursor_;
  if (pressed.key == Key::down) ++cursor_;  // page() holds it to the rows
  const auto to_first = [this] {
    cursor_ = first_ = 0;
    lost_ = false;
  };
  if (pressed.key == Key::escape && !filter_.empty()) {
    filter_.clear();
    to_first();  // the row is another host's now
  }
  const auto show = [&](TopTable table) {
    if (table_ != table) to_first();
    table_ = table;
    help_ = false;
  };
  switch (pressed.letter) {
    case 'q':
      return {true, {}};
    case '?':
      help_ = !help_;
      return {};
    case 'p':
      show(TopTable::peers);
      return {};
    case 'h':
      show(TopTable::hosts);
      return {};
    case 'e':
      show(TopTable::failed);
      return {};
    case 'x':
      show(TopTable::excluded);
      return {};
    case '/':
      show(TopTable::hosts);
      typing_ = true;
      return {};
    case 's':
      show(TopTable::peers);
      order_ = order_ == PeerOrder::memory ? PeerOrder::none : static_cast<PeerOrder>(static_cast<int>(order_) + 1);
      sort_peers(view_, order_);
      return {};
    default:
      return help_ ? Acted{} : act_on_host(pressed.letter);
  }
}

std::string TopScreen::last_line() const {
  if (typing_) return "/" + filter_ + "_";
  if (!news_.empty()) return news_;
  return "q ends, ? helps, p peers, h hosts, e failed, x excluded" +
         (filter_.empty() ? "" : "; only with '" + filter_ + "' (Esc: all)");
}

TopScreen::Page TopScreen::page(std::size_t width, std::size_t height) {
  if (height == 0) return {};
  if (help_) {
    std::vector<std::string> lines = help_lines();
    lines.resize(height - 1);
    lines.push_back(last_line());
    return {std::move(lines), height, std::nullopt};
  }
  RingView shown = view_;
  if (!filter_.empty())
    std::erase_if(shown.hosts, [this](const HostView& h) { return h.host.find(filter_) == std::string::npos; });
  TopLines text = to_lines(shown, width, table_);
  cursor_ = std::min(cursor_, rows() - std::min<std::size_t>(rows(), 1));
  const std::size_t begin = text.head + 1;
  const std::size_t room = height > begin + 1 ? height - begin - 1 : 1;
  first_ = std::clamp(first_, cursor_ - std::min(cursor_, room - 1), cursor_);
  const auto row = text.lines.begin() + static_cast<std::ptrdiff_t>(begin);
  text.lines.erase(row, row + static_cast<std::ptrdiff_t>(std::min(first_, text.lines.size() - begin)));
  text.lines.resize(height - 1);
  text.lines.push_back(last_line());
  Page page{std::move(text.lines), text.head, std::nullopt};
  const std::size_t line = begin + cursor_ - first_;
  if (table_ == TopTable::hosts && rows() > 0 && line + 1 < height && !lost_) page.cursor = line;
  return page;
}

}  // namespace orbweaver
