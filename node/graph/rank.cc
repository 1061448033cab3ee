#include "node/graph/rank.h"

#include <bit>
#include <cmath>
#include <filesystem>

#include "storage/bytes.h"

namespace orbweaver {

namespace {

Error too_slow(const RankOptions& options, double change) {
  char text[160];
  std::snprintf(text, sizeof text,
                "after %u iterations two in a row still differ by %.3g; give a greater --tolerance or more iterations",
                options.max_iterations, change);
  return {ErrorCode::invalid_input, text};
}

Result<void> put_all(const std::string& path, std::uint32_t nodes, double value) {
  NumberFile<double> file;
  if (Result<void> opened = file.open(path, "wb"); !opened) return opened;
  for (std::uint32_t i = 0; i < nodes; ++i)
    if (!file.put(value)) return file.failed();
  return file.close();
}

Result<void> rename_file(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  return error ? fail(ErrorCode::io, "cannot rename " + from + ": " + error.message()) : Result<void>();
}

// Sums whose order does not affect the promised digits (Neumaier's form of Kahan's summation).
class Sum {
 public:
  void add(double value) {
    const double next = sum_ + value;
    lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  double total() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

// One side of HITS: `to` becomes the sums over `from`, not yet normalised; returns their sum.
Result<double> hits_step(const LinkGraph& graph, const std::string& from, const std::string& to, bool reverse) {
  NumberFile<double> out;
  if (Result<void> opened = out.open(graph.file(to), "wb"); !opened) return tl::make_unexpected(opened.error());
  Sum sum;
  const Result<void> done = graph.multiply(graph.file(from), reverse, [&](double value) -> Result<void> {
    sum.add(value);
    return out.put(value) ? Result<void>() : Result<void>(out.failed());
  });
  if (!done) return tl::make_unexpected(done.error());
  if (Result<void> closed = out.close(); !closed) return tl::make_unexpected(closed.error());
  return sum.total();
}

// `next`, divided by its sum, replaces `before`; returns how far they differ.
Result<double> normalise(const LinkGraph& graph, const std::string& next, const std::string& before, double sum) {
  NumberFile<double> in, old, out;
  for (const Result<void>& opened :
       {in.open(graph.file(next), "rb"), old.open(graph.file(before), "rb"), out.open(graph.file("normalised"), "wb")})
    if (!opened) return tl::make_unexpected(opened.error());
  Sum change;
  for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
    double value = 0;
    double was = 0;
    if (!in.get(value)) return in.failed();
    if (!old.get(was)) return old.failed();
    value /= sum;
    change.add(std::abs(value - was));
    if (!out.put(value)) return out.failed();
  }
  if (Result<void> closed = out.close(); !closed) return tl::make_unexpected(closed.error());
  if (Result<void> moved = rename_file(graph.file("normalised"), graph.file(before)); !moved)
    return tl::make_unexpected(moved.error());
  return change.total();
}

}  // namespace

Result<RankSummary> page_rank(const LinkGraph& graph, const RankOptions& options) {
  const double n = graph.nodes();
  RankSummary summary;
  // The amount that each node gives along each of its edges, and the amount of the nodes without edges.
  double dangling = 0;
  {
    NumberFile<std::uint32_t> degrees;
    NumberFile<double> gives;
    if (Result<void> opened = degrees.open(graph.file("degrees"), "rb"); !opened)
      return tl::make_unexpected(opened.error());
    if (Result<void> opened = gives.open(graph.file("gives"), "wb"); !opened)
      return tl::make_unexpected(opened.error());
    for (std::uint32_t i = 0; i < graph.nodes(); ++i) {
      std::uint32_t degree = 0;
      if (!degrees.get(degree)) return degrees.failed();
      if (degree == 0) ++summary.dangling;
      if (!gives.put(degree == 0 ? 0 : 1 / n / degree)) return gives.failed();
    }
    if (Result<void> closed = gives.close(); !closed) return tl::make_unexpected(closed.error());
    dangling = summary.dangling / n;
  }
  if (Result<void> made = put_all(graph.file("rank"), graph.nodes(), 1 / n); !made)
    return tl::make_unexpected(made.error());
  while (summary.iterations < options.max_iterations) {
    NumberFile<std::uint32_t> degrees;
    NumberFile<double> rank, next, gives;
    for (const Result<void>& opened :
         {degrees.open(graph.file("degrees"), "rb"), rank.open(graph.file("rank"), "rb"),
          next.open(graph.file("rank-next"), "wb"), gives.open(graph.file("gives-next"), "wb")})
      if (!opened) return tl::make_unexpected(opened.error());
    Sum change, dangling_next;
    const double all = (1 - options.damping) / n + options.damping * dangling / n;
    const Result<void> done = graph.multiply(graph.file("gives"), false, [&](double sum) -> Result<void> {
      std::uint32_t degree = 0;
      double before = 0;
      if (!degrees.get(degree)) return degrees.failed();
      if (!rank.get(before)) return rank.failed();
      const double value = all + options.damping * sum;
      change.add(std::abs(value - before));
      if (degree == 0) dangling_next.add(value);
      if (!next.put(value)) return next.failed();
      if (!gives.put(degree == 0 ? 0 : value / degree)) return gives.failed();
      return {};
    });
    if (!done) return tl::make_unexpected(done.error());
    for (const Result<void>& closed : {next.close(), gives.close()})
      if (!closed) return tl::make_unexpected(closed.error());
    for (const Result<void>& moved : {rename_file(graph.file("rank-next"), graph.file("rank")),
                                      rename_file(graph.file("gives-next"), graph.file("gives"))})
      if (!moved) return tl::make_unexpected(moved.error());
    dangling = dangling_next.total();
    ++summary.iterations;
    summary.change = change.total();
    if (summary.change < options.tolerance) return summary;
  }
  return tl::make_unexpected(too_slow(options, summary.change));
}

Result<RankSummary> hits(const LinkGraph& graph, const RankOptions& options) {
  RankSummary summary;
  for (const char* side : {"hub", "authority"})
    if (Result<void> made = put_all(graph.file(side), graph.nodes(), 1.0 / graph.nodes()); !made)
      return tl::make_unexpected(made.error());
  while (summary.iterations < options.max_iterations) {
    summary.change = 0;
    for (const bool reverse : {false, true}) {
      const std::string from = reverse ? "authority" : "hub";
      const std::string to = reverse ? "hub" : "authority";
      const Result<double> sum = hits_step(graph, from, to + "-next", reverse);
      if (!sum) return tl::make_unexpected(sum.error());
      const Result<double> change = normalise(graph, to + "-next", to, *sum);
      if (!change) return tl::make_unexpected(change.error());
      summary.change = std::max(summary.change, *change);
    }
    ++summary.iterations;
    if (summary.change < options.tolerance) return summary;
  }
  return tl::make_unexpected(too_slow(options, summary.change));
}

Result<void> each_by_rank(const LinkGraph& graph, const std::string& file, const std::string& second, std::uint64_t top,
                          const TakeRank& take) {
  NumberFile<double> scores, others;
  if (Result<void> opened = scores.open(file, "rb"); !opened) return opened;
  if (!second.empty())
    if (Result<void> opened = others.open(second, "rb"); !opened) return opened;
  // Non-negative doubles are in the order of their bits.
  ExternalSort sorted(std::filesystem::path(graph.file("x")).parent_path(), "by-rank", graph.memory(), false);
  std::string record;
  const Result<void> read = graph.each_name([&](std::string_view name) -> Result<void> {
    double score = 0;
    double other = 0;
    if (!scores.get(score)) return scores.failed();
    if (!second.empty() && !others.get(other)) return others.failed();
    record.clear();
    storage::put_be(record, ~std::bit_cast<std::uint64_t>(score));
    record.append(name).push_back('\0');
    storage::put_be(record, std::bit_cast<std::uint64_t>(other));
    return sorted.add(record);
  });
  if (!read) return tl::make_unexpected(read.error());
  if (Result<void> done = sorted.finish(); !done) return done;
  for (std::string_view at; top > 0; --top) {
    const Result<bool> more = sorted.next(at);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) return {};
    constexpr std::size_t number = sizeof(std::uint64_t);
    const double score = std::bit_cast<double>(~storage::get_be<std::uint64_t>(at, 0));
    const double other = std::bit_cast<double>(storage::get_be<std::uint64_t>(at, at.size() - number));
    if (Result<void> taken = take(at.substr(number, at.size() - 2 * number - 1), score, other); !taken) return taken;
  }
  return {};
}

}  // namespace orbweaver
