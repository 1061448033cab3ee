#include "node/graph/link_graph.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "ring/md5.h"
#include "storage/bytes.h"

namespace orbweaver {

namespace {

using storage::get_be;
using storage::put_be;

constexpr std::size_t digest_bytes = 16;
// Recently seen names are not given to the sort again: pages name the same targets repeatedly.
constexpr std::size_t lately_entries = 4096;

std::string_view bytes_of(const ring::Md5& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// The names in the order of their digests, each with its number.
class NameCursor {
 public:
  Result<void> open(const std::string& path) {
    path_ = path;
    file_.reset(std::fopen(path.c_str(), "rb"));
    if (!file_) return fail(ErrorCode::io, "cannot read " + path);
    return {};
  }
  // Names are looked up in order; the number of the name with this digest.
  Result<std::uint32_t> number_of(std::string_view digest) {
    while (!has_ || digest_ < digest) {
      std::string name;
      const Result<bool> more = next(name);
      if (!more) return tl::make_unexpected(more.error());
      if (!*more) break;
    }
    if (!has_ || digest_ != digest) return fail(ErrorCode::internal, "a name is missing in " + path_);
    return number_;
  }
  Result<bool> next(std::string& name) {
    std::uint32_t size = 0;
    digest_.resize(digest_bytes);
    if (std::fread(digest_.data(), digest_bytes, 1, file_.get()) != 1) return false;
    if (std::fread(&size, sizeof size, 1, file_.get()) != 1) return fail(ErrorCode::io, "cannot read " + path_);
    name.resize(size);
    if (size > 0 && std::fread(name.data(), size, 1, file_.get()) != 1)
      return fail(ErrorCode::io, "cannot read " + path_);
    number_ = has_ ? number_ + 1 : 0;
    has_ = true;
    return true;
  }

 private:
  std::string path_;
  File file_;
  std::string digest_;
  std::uint32_t number_ = 0;
  bool has_ = false;
};

}  // namespace

LinkGraph::LinkGraph(std::string directory, std::uint64_t memory)
    : directory_(std::move(directory)), memory_(std::max(memory, graph_memory_min)) {}

LinkGraph::~LinkGraph() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

Result<std::unique_ptr<LinkGraph>> LinkGraph::make(const std::string& directory, std::uint64_t memory,
                                                   bool with_reverse, const ReadEdges& read_edges) {
  std::string own = directory + "/orbweaver-graph-XXXXXX";
  if (::mkdtemp(own.data()) == nullptr)
    return fail(ErrorCode::io, "cannot make a directory in " + directory + ": " + std::strerror(errno));
  std::unique_ptr<LinkGraph> graph(new LinkGraph(own, memory));
  // Two sorts are filled at a time, and one is read while others are filled.
  const std::uint64_t part = graph->memory_ / 4;
  ExternalSort by_source(own, "by-source", part, true);
  {
    ExternalSort names(own, "names", part * 2, true);
    if (Result<void> done = graph->take_edges(read_edges, names, by_source); !done)
      return tl::make_unexpected(done.error());
    if (Result<void> done = graph->number_names(names); !done) return tl::make_unexpected(done.error());
  }
  graph->block_nodes_ =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(graph->memory_ / 2 / sizeof(double), graph->nodes_));
  ExternalSort by_target(own, "by-target", part, false);
  if (Result<void> done = graph->number_sources(by_source, by_target); !done) return tl::make_unexpected(done.error());
  ExternalSort forward(own, "forward", part, false);
  ExternalSort reverse(own, "reverse", part, false);
  if (Result<void> done = graph->number_targets(by_target, forward, with_reverse ? &reverse : nullptr); !done)
    return tl::make_unexpected(done.error());
  if (Result<void> done = graph->write_blocks(forward, "edges", graph->forward_blocks_); !done)
    return tl::make_unexpected(done.error());
  if (with_reverse)
    if (Result<void> done = graph->write_blocks(reverse, "edges-reverse", graph->reverse_blocks_); !done)
      return tl::make_unexpected(done.error());
  return graph;
}

Result<void> LinkGraph::take_edges(const ReadEdges& read_edges, ExternalSort& names, ExternalSort& by_source) {
  std::vector<ring::Md5> lately(lately_entries);
  std::string record;
  const auto add_name = [&](const ring::Md5& digest, std::string_view name) -> Result<void> {
    ring::Md5& seen = lately[get_be<std::uint16_t>(bytes_of(digest), 0) % lately_entries];
    if (seen == digest) return {};
    seen = digest;
    record.assign(bytes_of(digest)).append(name);
    return names.add(record);
  };
  const Result<void> read = read_edges([&](std::string_view from, std::string_view to) -> Result<void> {
    ++given_;
    const ring::Md5 source = ring::md5(from);
    const ring::Md5 target = ring::md5(to);
    if (Result<void> added = add_name(source, from); !added) return added;
    if (Result<void> added = add_name(target, to); !added) return added;
    record.assign(bytes_of(source)).append(bytes_of(target));
    return by_source.add(record);
  });
  if (!read) return tl::make_unexpected(read.error());
  if (Result<void> done = names.finish(); !done) return done;
  return by_source.finish();
}

Result<void> LinkGraph::number_names(ExternalSort& names) {
  const std::string path = file("names.tab");
  File out(std::fopen(path.c_str(), "wb"));
  if (!out) return fail(ErrorCode::io, "cannot write " + path);
  std::uint64_t count = 0;
  for (std::string_view record;; ++count) {
    const Result<bool> more = names.next(record);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    const auto size = static_cast<std::uint32_t>(record.size() - digest_bytes);
    if (std::fwrite(record.data(), digest_bytes, 1, out.get()) != 1 ||
        std::fwrite(&size, sizeof size, 1, out.get()) != 1 ||
        (size > 0 && std::fwrite(record.data() + digest_bytes, size, 1, out.get()) != 1))
      return fail(ErrorCode::io, "cannot write " + path + "; is the disk full?");
  }
  if (std::fflush(out.get()) != 0) return fail(ErrorCode::io, "cannot write " + path + "; is the disk full?");
  if (count >= UINT32_MAX) return fail(ErrorCode::invalid_input, "the graph has more than 2^32 - 2 nodes");
  nodes_ = static_cast<std::uint32_t>(count);
  return {};
}

// Reads edges by their source's digest: finds the sources' numbers, and how many edges each has.
Result<void> LinkGraph::number_sources(ExternalSort& by_source, ExternalSort& by_target) {
  NameCursor names;
  NumberFile<std::uint32_t> degrees;
  if (Result<void> opened = names.open(file("names.tab")); !opened) return opened;
  if (Result<void> opened = degrees.open(file("degrees"), "wb"); !opened) return opened;
  std::uint32_t at = 0;
  std::uint32_t degree = 0;
  std::string out;
  for (std::string_view record;; ++edges_) {
    const Result<bool> more = by_source.next(record);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    const Result<std::uint32_t> source = names.number_of(record.substr(0, digest_bytes));
    if (!source) return tl::make_unexpected(source.error());
    for (; at < *source; ++at, degree = 0)
      if (!degrees.put(degree)) return degrees.failed();
    ++degree;
    out.assign(record.substr(digest_bytes));
    put_be(out, *source);
    if (Result<void> added = by_target.add(out); !added) return added;
  }
  for (; at < nodes_; ++at, degree = 0)
    if (!degrees.put(degree)) return degrees.failed();
  if (Result<void> closed = degrees.close(); !closed) return closed;
  return by_target.finish();
}

Result<void> LinkGraph::number_targets(ExternalSort& by_target, ExternalSort& forward, ExternalSort* reverse) {
  NameCursor names;
  if (Result<void> opened = names.open(file("names.tab")); !opened) return opened;
  const auto key = [&](std::uint32_t row, std::uint32_t column) {
    std::string out;
    put_be(out, row / block_nodes_);
    put_be(out, column);
    put_be(out, row);
    return out;
  };
  for (std::string_view record;;) {
    const Result<bool> more = by_target.next(record);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    const Result<std::uint32_t> target = names.number_of(record.substr(0, digest_bytes));
    if (!target) return tl::make_unexpected(target.error());
    const auto source = get_be<std::uint32_t>(record, digest_bytes);
    if (Result<void> added = forward.add(key(*target, source)); !added) return added;
    if (reverse != nullptr)
      if (Result<void> added = reverse->add(key(source, *target)); !added) return added;
  }
  if (Result<void> done = forward.finish(); !done) return done;
  return reverse == nullptr ? Result<void>() : reverse->finish();
}

// In a block the node whose sum is computed is second; the node that is read from the vector is first.
Result<void> LinkGraph::write_blocks(ExternalSort& sorted, const std::string& name,
                                     std::vector<std::uint64_t>& blocks) {
  blocks.assign((nodes_ + block_nodes_ - 1) / block_nodes_, 0);
  NumberFile<GraphEdge> out;
  if (Result<void> opened = out.open(file(name), "wb"); !opened) return opened;
  for (std::string_view record;;) {
    const Result<bool> more = sorted.next(record);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    ++blocks.at(get_be<std::uint32_t>(record, 0));
    if (!out.put({get_be<std::uint32_t>(record, 4), get_be<std::uint32_t>(record, 8)})) return out.failed();
  }
  return out.close();
}

Result<void> LinkGraph::multiply(const std::string& vector, bool reverse,
                                 const std::function<Result<void>(double)>& take) const {
  NumberFile<GraphEdge> edges;
  if (Result<void> opened = edges.open(file(reverse ? "edges-reverse" : "edges"), "rb"); !opened) return opened;
  NumberFile<double> values;
  if (Result<void> opened = values.open(vector, "rb"); !opened) return opened;
  std::vector<double> sums;
  std::uint32_t first = 0;
  for (const std::uint64_t count : reverse ? reverse_blocks_ : forward_blocks_) {
    sums.assign(std::min(block_nodes_, nodes_ - first), 0.0);
    std::uint32_t read = 0;  // how many numbers of the vector were read
    double value = 0;
    if (!values.rewind()) return values.failed();
    GraphEdge edge;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!edges.get(edge)) return edges.failed();
      for (; read <= edge.from; ++read)
        if (!values.get(value)) return values.failed();
      sums[edge.to - first] += value;
    }
    for (const double sum : sums)
      if (Result<void> taken = take(sum); !taken) return taken;
    first += static_cast<std::uint32_t>(sums.size());
  }
  return {};
}

Result<void> LinkGraph::each_name(const std::function<Result<void>(std::string_view)>& take) const {
  NameCursor names;
  if (Result<void> opened = names.open(file("names.tab")); !opened) return opened;
  for (std::string name;;) {
    const Result<bool> more = names.next(name);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) return {};
    if (Result<void> taken = take(name); !taken) return taken;
  }
}

}  // namespace orbweaver
