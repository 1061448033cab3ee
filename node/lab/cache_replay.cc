#include "node/lab/cache_replay.h"

#include <algorithm>

namespace orbweaver {

std::uint64_t misses_of_infinite(const UrlStream& stream, std::size_t urls) {
  std::vector<bool> seen(urls);
  std::uint64_t misses = 0;
  for (const std::uint32_t url : stream) {
    if (!seen[url]) ++misses;
    seen[url] = true;
  }
  return misses;
}

std::vector<std::uint32_t> next_places(const UrlStream& stream, std::size_t urls) {
  std::vector<std::uint32_t> next(stream.size());
  std::vector<std::uint32_t> last(urls, no_next);
  for (std::size_t i = stream.size(); i-- > 0;) {
    next[i] = last[stream[i]];
    last[stream[i]] = static_cast<std::uint32_t>(i);
  }
  return next;
}

// The heap contains each cached URL under its next place. When a URL occurs again, its old entry is outdated: its place
// is past and below any other, so it never reaches the top. Outdated entries are removed when they are half.
std::uint64_t misses_of_min(const UrlStream& stream, const std::vector<std::uint32_t>& next, std::size_t urls,
                            std::uint32_t size) {
  if (size == 0) return stream.size();
  using Entry = std::uint64_t;  // next place, URL
  std::vector<Entry> heap;
  std::vector<bool> cached(urls);
  std::uint32_t filled = 0;
  std::uint64_t misses = 0;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const std::uint32_t url = stream[i];
    if (!cached[url]) {
      ++misses;
      if (filled == size) {
        std::pop_heap(heap.begin(), heap.end());
        cached[heap.back() & 0xffffffff] = false;
        heap.pop_back();
      } else {
        ++filled;
      }
      cached[url] = true;
    }
    heap.push_back(Entry{next[i]} << 32 | url);
    std::push_heap(heap.begin(), heap.end());
    if (heap.size() > 2 * std::size_t{size} + 1024) {
      std::erase_if(heap, [i](Entry entry) { return (entry >> 32) <= i; });
      std::make_heap(heap.begin(), heap.end());
    }
  }
  return misses;
}

std::vector<std::uint64_t> misses_of_static(const UrlStream& stream, std::size_t urls, std::size_t known,
                                            const std::vector<std::uint32_t>& sizes) {
  std::vector<std::uint64_t> total(urls);
  std::vector<std::uint64_t> early(urls);
  std::vector<std::uint32_t> order;  // of first appearance
  for (std::size_t i = 0; i < stream.size(); ++i) {
    ++total[stream[i]];
    if (i < known && early[stream[i]]++ == 0) order.push_back(stream[i]);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return early[a] > early[b]; });
  std::vector<std::uint64_t> hits(order.size() + 1);  // of the first n URLs
  for (std::size_t i = 0; i < order.size(); ++i) hits[i + 1] = hits[i] + total[order[i]];
  std::vector<std::uint64_t> misses;
  misses.reserve(sizes.size());
  for (const std::uint32_t size : sizes)
    misses.push_back(stream.size() - hits[std::min<std::size_t>(size, order.size())]);
  return misses;
}

std::size_t knee_of(const std::vector<std::pair<double, double>>& points) {
  if (points.size() < 3) return points.empty() ? 0 : points.size() - 1;
  const auto [x0, y0] = points.front();
  const double width = points.back().first - x0;
  const double height = points.back().second - y0;
  std::size_t best = points.size() - 1;
  double farthest = 0;
  for (std::size_t i = 0; i < points.size() && width > 0 && height > 0; ++i) {
    const double above = (points[i].second - y0) / height - (points[i].first - x0) / width;
    if (above > farthest) {
      farthest = above;
      best = i;
    }
  }
  return best;
}

}  // namespace orbweaver
