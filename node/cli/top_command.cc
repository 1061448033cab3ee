#include "node/cli/top_command.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "node/cli/ask.h"
#include "node/cli/ring_commands.h"
#include "node/cli/screen.h"
#include "node/cli/top_lines.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"

namespace orbweaver {

namespace {

using nlohmann::json;

// Two answers this far apart show rates at once. A peer makes its status anew four times a second at most.
constexpr Duration first_wait = std::chrono::seconds{1};
// Columns of a line where output is no terminal.
constexpr std::size_t wide = 160;

struct Options {
  PeerTarget target;
  double interval = 2;  // seconds
  bool as_json = false;
  bool once = false;
};

// The ring, asked again and again.
class Watch {
 public:
  explicit Watch(PeerTarget target) : target_(std::move(target)) {}

  Result<RingView> look() {
    Result<json> answer = ask_peer(target_, "status", json::object(), true);
    if (!answer) return tl::make_unexpected(answer.error());
    try {
      RingView view = ring_view(before_ ? &*before_ : nullptr, *answer);
      before_ = std::move(*answer);
      return view;
    } catch (const json::exception& cause) {  // health and ledger read what members say
      return fail(ErrorCode::invalid_input,
                  "a peer's answer is not what this program expects: " + std::string(cause.what()));
    }
  }
  // Two looks, for rates.
  Result<RingView> first_look() {
    if (const Result<RingView> first = look(); !first) return first;
    std::this_thread::sleep_for(first_wait);
    return look();
  }

 private:
  PeerTarget target_;
  std::optional<json> before_;
};

void print(const RingView& view, const Options& options) {
  if (options.as_json) return say_json(to_json(view), options.once ? 2 : -1);
  for (const std::string& line : to_lines(view, wide).lines) say("%s\n", line.c_str());
}

Duration interval_of(const Options& options) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(options.interval));
}

// One after the other, until it is interrupted or nobody reads.
int print_all(const Options& options) {
  Watch watch(options.target);
  Result<RingView> view = watch.first_look();
  if (!view) return failed(view.error());  // a wrong directory, say
  for (;;) {
    if (view) {
      print(*view, options);
    } else {
      complain("%s", view.error().message.c_str());
    }
    if (options.once || !all_said()) return 0;
    std::this_thread::sleep_for(interval_of(options));
    view = watch.look();
  }
}

// What is shown, and how.
struct Shown {
  RingView view;
  std::string error;  // of the last look; empty: it was answered
  PeerOrder order = PeerOrder::none;
  std::size_t first_peer = 0;
  bool help = false;
};

std::vector<std::string> help_lines() {
  return {"q  ends",
          "i, p, u, c, m  sort peers by id, pages per second, URLs in their queues, processor, memory",
          "arrows  move through the peers",
          "?  this help",
          "",
          "limit: what most of the hosts with URLs to fetch wait for, over the last interval (docs/how-to/limit.md)",
          "CPU: of one processor. LIMIT: of this peer alone. MOVING: partitions that change peers or lack a copy"};
}

void draw(Screen& screen, Shown& shown) {
  TopLines text;
  if (shown.help) {
    text = {.lines = help_lines(), .head = screen.height()};
  } else {
    sort_peers(shown.view, shown.order);
    text = to_lines(shown.view, screen.width());
    const std::size_t first = text.head + 1;
    shown.first_peer = std::min(shown.first_peer, text.lines.size() - std::min(first + 1, text.lines.size()));
    const auto peers = text.lines.begin() + static_cast<std::ptrdiff_t>(first);
    text.lines.erase(peers, peers + static_cast<std::ptrdiff_t>(shown.first_peer));
  }
  text.lines.resize(screen.height() - 1);
  text.lines.push_back(shown.error.empty() ? "q ends, ? helps" : "no answer: " + shown.error);
  screen.show(text.lines, text.head);
}

// False: it ends.
bool act(Screen::Pressed pressed, Shown& shown) {
  if (pressed.key == Screen::Key::up && shown.first_peer > 0) --shown.first_peer;
  if (pressed.key == Screen::Key::down) ++shown.first_peer;
  switch (pressed.letter) {
    case 'q':
      return false;
    case '?':
      shown.help = !shown.help;
      break;
    case 'i':
      shown.order = PeerOrder::none;
      break;
    case 'p':
      shown.order = PeerOrder::pages;
      break;
    case 'u':
      shown.order = PeerOrder::queued;
      break;
    case 'c':
      shown.order = PeerOrder::processors;
      break;
    case 'm':
      shown.order = PeerOrder::memory;
      break;
    default:
      break;
  }
  return true;
}

int show_all(const Options& options) {
  Watch watch(options.target);
  Result<RingView> first = watch.look();
  if (!first) return failed(first.error());  // a wrong directory, say
  Shown shown;
  shown.view = std::move(*first);
  Result<std::unique_ptr<Screen>> screen = Screen::open();
  if (!screen) return failed(screen.error());
  auto next_look = std::chrono::steady_clock::now() + first_wait;
  for (;;) {
    draw(**screen, shown);
    const auto left = next_look - std::chrono::steady_clock::now();
    if (left > std::chrono::steady_clock::duration{}) {
      const Screen::Pressed pressed = (*screen)->wait(std::chrono::duration_cast<Duration>(left));
      if (pressed.key == Screen::Key::gone || !act(pressed, shown)) return 0;
      continue;
    }
    if (Result<RingView> view = watch.look(); view) {
      shown.view = std::move(*view);
      shown.error.clear();
    } else {
      shown.error = view.error().message;
    }
    next_look = std::chrono::steady_clock::now() + interval_of(options);
  }
}

int top(const Options& options) {
  if (options.once || options.as_json || ::isatty(STDOUT_FILENO) == 0 || ::isatty(STDIN_FILENO) == 0)
    return print_all(options);
  return show_all(options);
}

}  // namespace

void add_top_command(CLI::App& app, int& code) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("top", "a running ring at a glance: rates, what holds it back, its peers");
  add_target_options(*command, options->target);
  command->add_option("--interval", options->interval, "seconds between two looks")
      ->check(CLI::Range(0.25, 3600.0))
      ->capture_default_str();
  command->add_flag("--once", options->once, "two looks a second apart, printed, and the end");
  command->add_flag("--json", options->as_json, "as JSON; without --once a line for each look");
  command->callback([options, &code] { code = top(*options); });
}

}  // namespace orbweaver
