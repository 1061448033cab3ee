// A ring as lines of text, for `orbweaver top`. Pure. Thread rule: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "node/ring_view/ring_view.h"

namespace orbweaver {

enum class TopTable : std::uint8_t { peers, hosts, failed, excluded };

// Lines of at most `width` characters: on the ring, and a table.
struct TopLines {
  std::vector<std::string> lines;
  std::size_t head = 0;  // the line with the names of the table's columns; the first row follows
};
// Of the tables `failed` and `excluded`.
std::vector<OutcomeView> outcomes_of(const RingView& view, TopTable table);
TopLines to_lines(const RingView& view, std::size_t width, TopTable table);

}  // namespace orbweaver
