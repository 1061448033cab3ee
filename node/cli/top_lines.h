// A ring as lines of text, for `orbweaver top`. Pure. Thread rule: a value.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "node/ring_view/ring_view.h"

namespace orbweaver {

// Lines of at most `width` characters: on the ring, and a table of its peers.
struct TopLines {
  std::vector<std::string> lines;
  std::size_t head = 0;  // the line with the names of the table's columns; the first peer follows
};
TopLines to_lines(const RingView& view, std::size_t width);

}  // namespace orbweaver
