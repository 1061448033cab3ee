// The screen of `orbweaver top`: which table is shown, where its cursor is, and what each key does. Pure. Thread rule:
// a value.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/cli/screen.h"
#include "node/cli/top_lines.h"
#include "node/ring_view/ring_view.h"

namespace orbweaver {

// What a key asks the ring for.
struct TopOrder {
  std::string verb;
  nlohmann::json body;
  std::string done;  // in words, when it is done
};

class TopScreen {
 public:
  struct Acted {
    bool ends = false;
    std::optional<TopOrder> order;
  };
  struct Page {
    std::vector<std::string> lines;
    std::size_t head = 0;
    std::optional<std::size_t> cursor;  // a line
  };

  explicit TopScreen(TopTable table) : table_(table) {}

  void see(RingView view);
  // Shown on the last line, until the next key or view.
  void say(std::string text) { news_ = std::move(text); }
  Acted press(const Screen::Pressed& pressed);
  // At most so many columns and lines.
  Page page(std::size_t width, std::size_t height);

 private:
  std::vector<const HostView*> hosts() const;  // that the filter lets pass
  std::size_t rows() const;
  Acted act_on_host(char letter) const;
  void type(const Screen::Pressed& pressed);
  std::string last_line() const;

  TopTable table_;
  RingView view_;
  std::string news_;
  PeerOrder order_ = PeerOrder::none;
  std::string filter_;   // part of hosts' names
  bool typing_ = false;  // it
  bool help_ = false;
  std::size_t cursor_ = 0;  // a row of the table
  std::size_t first_ = 0;   // the first row that is shown
  bool lost_ = false;       // the host at the cursor is not in the table any more: no key acts until it is moved
};

}  // namespace orbweaver
