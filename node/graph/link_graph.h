// A link graph on disk, for graphs that do not fit in memory: nodes numbered by the order of their names' MD5, each
// edge once, in blocks (Haveliwala: "Efficient Computation of PageRank", 1999). A block has the edges into a range of
// nodes, sorted by their source. The range is small enough for one number per node in memory. So one pass over a vector
// on disk multiplies a block by it.
//
// Bounds: `memory` bytes for sorting and for a block's numbers, at least graph_memory_min. On disk: while it is made,
// about 60 bytes per edge, and 16 bytes plus the name per node; after that 8 bytes per edge (16 with the reverse) and
// the name per node. Up to 2^32 - 1 nodes. The files are in the graph's own directory, deleted with it.
// Errors name the file. Thread rule: one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/graph/edge_file.h"
#include "node/sort/external_sort.h"

namespace orbweaver {

inline constexpr std::uint64_t graph_memory_min = 1u << 20;

// Numbers of one type in a file, read or written from first to last, 32 KiB at a time.
template <class T>
class NumberFile {
 public:
  Result<void> open(const std::string& path, const char* mode) {
    path_ = path;
    writes_ = mode[0] == 'w';
    file_.reset(std::fopen(path.c_str(), mode));
    if (!file_) return failed();
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);
    at_ = end_ = 0;
    return {};
  }
  bool get(T& value) {
    if (at_ == end_) {
      end_ = std::fread(buffer_.data(), sizeof(T), buffer_.size(), file_.get());
      at_ = 0;
      if (end_ == 0) return false;
    }
    value = buffer_[at_++];
    return true;
  }
  bool put(const T& value) {
    buffer_[at_++] = value;
    return at_ < buffer_.size() || write_out();
  }
  bool rewind() {
    at_ = end_ = 0;
    return std::fseek(file_.get(), 0, SEEK_SET) == 0;
  }
  Result<void> close() {
    const bool good = !writes_ || write_out();
    file_.reset();
    return good ? Result<void>() : Result<void>(failed());
  }
  tl::unexpected<Error> failed() const {
    return fail(ErrorCode::io, "cannot read or write " + path_ + "; is the disk full?");
  }

 private:
  bool write_out() {
    const bool good = std::fwrite(buffer_.data(), sizeof(T), at_, file_.get()) == at_;
    at_ = 0;
    return good;
  }
  std::string path_;
  File file_;
  std::vector<T> buffer_ = std::vector<T>((32u << 10) / sizeof(T));
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  bool writes_ = false;
};

struct GraphEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

class LinkGraph {
 public:
  // `read_edges` passes all edges to its argument. `with_reverse`: both directions can be multiplied (HITS).
  using ReadEdges = std::function<Result<void>(const TakeEdge&)>;
  static Result<std::unique_ptr<LinkGraph>> make(const std::string& directory, std::uint64_t memory, bool with_reverse,
                                                 const ReadEdges& read_edges);
  ~LinkGraph();
  LinkGraph(const LinkGraph&) = delete;

  std::uint32_t nodes() const { return nodes_; }
  std::uint64_t edges() const { return edges_; }              // each counted once
  std::uint64_t repeated() const { return given_ - edges_; }  // left out because they were already there
  std::uint32_t block_nodes() const { return block_nodes_; }
  std::string file(const std::string& name) const { return directory_ + "/" + name; }
  std::uint64_t memory() const { return memory_; }

  // For every node in order: passes to `take` the sum of vector[from] over its edges (over [to] of the reverse ones).
  // The vector is a file of one double per node.
  Result<void> multiply(const std::string& vector, bool reverse, const std::function<Result<void>(double)>& take) const;
  // Out-degrees in the order of nodes are in file("degrees"), as u32. Names in that order:
  Result<void> each_name(const std::function<Result<void>(std::string_view)>& take) const;

 private:
  LinkGraph(std::string directory, std::uint64_t memory);
  Result<void> take_edges(const ReadEdges& read_edges, ExternalSort& names, ExternalSort& by_source);
  Result<void> number_names(ExternalSort& names);
  Result<void> number_sources(ExternalSort& by_source, ExternalSort& by_target);
  Result<void> number_targets(ExternalSort& by_target, ExternalSort& forward, ExternalSort* reverse);
  Result<void> write_blocks(ExternalSort& sorted, const std::string& name, std::vector<std::uint64_t>& blocks);

  std::string directory_;
  std::uint64_t memory_;
  std::uint32_t nodes_ = 0;
  std::uint32_t block_nodes_ = 0;
  std::uint64_t edges_ = 0;
  std::uint64_t given_ = 0;
  std::vector<std::uint64_t> forward_blocks_;  // edges in each
  std::vector<std::uint64_t> reverse_blocks_;
};

}  // namespace orbweaver
