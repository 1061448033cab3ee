#include "node/cli/top_command.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "node/cli/ask.h"
#include "node/cli/order_commands.h"
#include "node/cli/ring_commands.h"
#include "node/cli/screen.h"
#include "node/cli/top_lines.h"
#include "node/cli/top_screen.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"

namespace orbweaver {

namespace {

using nlohmann::json;

// Two answers this far apart show rates at once. A peer makes its status anew four times a second at most.
constexpr Duration first_wait = std::chrono::seconds{1};
// What an order led to is shown for so long.
constexpr Duration news_time = std::chrono::seconds{3};
// Columns of a line where output is no terminal.
constexpr std::size_t wide = 160;

struct Options {
  PeerTarget target;
  double interval = 2;  // seconds
  bool as_json = false;
  bool once = false;
  bool hosts = false;
  TopTable table() const { return hosts ? TopTable::hosts : TopTable::peers; }
};

// The ring, asked again and again.
class Watch {
 public:
  explicit Watch(PeerTarget target) : target_(std::move(target)) {}

  Result<RingView> look() {
    Result<json> answer = ask_peer(target_, "status", json::object(), true);
    if (!answer) return tl::make_unexpected(answer.error());
    // A ring of an earlier release has no answer to it.
    const Result<json> hosts = ask_peer(target_, "hosts", {{"limit", hosts_of_each(parts_of(*answer).size())}}, true);
    try {
      RingView view = ring_view(before_ ? &*before_ : nullptr, *answer, hosts ? &*hosts : nullptr);
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
  if (options.as_json) {
    json shown = to_json(view);
    shown["hosts"] = to_json(view.hosts);
    return say_json(shown, options.once ? 2 : -1);
  }
  for (const std::string& line : to_lines(view, wide, options.table()).lines) say("%s\n", line.c_str());
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

std::string given(const Options& options, const TopOrder& order) {
  const Result<json> answer = give_order(options.target, order.verb, order.body);
  return answer ? order.done + "; " + known_words(*answer) : "not done: " + answer.error().message;
}

int show_all(const Options& options) {
  Watch watch(options.target);
  Result<RingView> first = watch.look();
  if (!first) return failed(first.error());  // a wrong directory, say
  TopScreen shown(options.table());
  shown.see(std::move(*first));
  Result<std::unique_ptr<Screen>> screen = Screen::open();
  if (!screen) return failed(screen.error());
  const auto draw = [&] {
    const TopScreen::Page page = shown.page((*screen)->width(), (*screen)->height());
    (*screen)->show(page.lines, page.head, page.cursor);
  };
  auto next_look = std::chrono::steady_clock::now() + first_wait;
  for (;;) {
    draw();
    const auto left = next_look - std::chrono::steady_clock::now();
    if (left > std::chrono::steady_clock::duration{}) {
      const Screen::Pressed pressed = (*screen)->wait(std::chrono::duration_cast<Duration>(left));
      if (pressed.key == Screen::Key::gone) return 0;
      const TopScreen::Acted acted = shown.press(pressed);
      if (acted.ends) return 0;
      if (!acted.order) continue;
      shown.say("asking the ring");
      draw();
      const std::string news = given(options, *acted.order);
      if (Result<RingView> view = watch.look(); view) shown.see(std::move(*view));
      shown.say(news);
      next_look = std::chrono::steady_clock::now() + std::max(interval_of(options), news_time);
      continue;
    }
    if (Result<RingView> view = watch.look(); view) {
      shown.see(std::move(*view));
    } else {
      shown.say("no answer: " + view.error().message);
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
  CLI::App* command = app.add_subcommand(
      "top", "a running ring at a glance: rates, what holds it back, when it ends, its peers and hosts");
  add_target_options(*command, options->target);
  command->add_option("--interval", options->interval, "seconds between two looks")
      ->check(CLI::Range(0.25, 3600.0))
      ->capture_default_str();
  command->add_flag("--once", options->once, "two looks a second apart, printed, and the end");
  command->add_flag("--hosts", options->hosts, "the table of hosts that need longest, in place of the peers");
  command->add_flag("--json", options->as_json, "as JSON; without --once a line for each look");
  command->callback([options, &code] { code = top(*options); });
}

}  // namespace orbweaver
