#include "node/lab/link_stream.h"

#include <unistd.h>

#include <cstring>
#include <unordered_map>

#include "node/errors/storage_error.h"
#include "node/lab/progress.h"
#include "node/settings/settings.h"
#include "node/system/memory_available.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

namespace {

struct DigestHash {
  std::size_t operator()(const ring::Md5& digest) const {
    std::size_t value = 0;
    std::memcpy(&value, digest.data(), sizeof value);
    return value;
  }
};

// A digest, a node of the map with its bucket, a host's number.
constexpr std::uint64_t bytes_per_url = 16 + 16 + 4 + 8 + 24;
constexpr std::uint64_t bytes_per_link = 5;

class Reader {
 public:
  Reader(const StreamLimits& limits, LinkStreams& streams) : limits_(limits), streams_(streams) {
    max_memory_ = limits.memory_bytes > 0 ? limits.memory_bytes : machine_memory() / 4 * 3;
  }

  Result<void> read(const std::string& file) {
    auto reader = storage::LinkTraceReader::open(file);
    if (!reader) return tl::make_unexpected(error_of_input(reader.error()));
    const auto& facts = reader->facts();
    const auto peer = facts.find("peer");
    PeerStream& stream = stream_of(peer == facts.end() ? "?" : peer->second);
    stream.facts = facts;
    storage::TracePage page;
    for (;;) {
      const auto more = reader->next(page);
      if (!more) return tl::make_unexpected(error_of_input(more.error()));
      if (!*more) return {};
      if (limits_.max_links > 0 && stream.targets.size() >= limits_.max_links) return {};
      add(page, stream);
      progress_.at(links_);
      if (streams_.digests.size() * bytes_per_url + links_ * bytes_per_link > max_memory_)
        return fail(ErrorCode::invalid_input, file + ": " + std::to_string(links_) + " links with " +
                                                  std::to_string(streams_.digests.size()) + " URLs take more than " +
                                                  bytes_text(max_memory_) + " of memory; --links reads fewer");
    }
  }

 private:
  PeerStream& stream_of(const std::string& peer) {
    for (PeerStream& stream : streams_.peers)
      if (stream.peer == peer) return stream;
    PeerStream& stream = streams_.peers.emplace_back();
    stream.peer = peer;
    return stream;
  }

  void add(const storage::TracePage& page, PeerStream& stream) {
    stream.pages.push_back({number_of(page.url), page.worker, stream.targets.size(), page.at});
    for (const storage::TraceLink& link : page.links) {
      if (limits_.in_scope_only && !link.has(storage::LinkFlag::in_scope)) continue;
      stream.targets.push_back(number_of(link.url));
      stream.flags.push_back(link.flags);
      ++links_;
    }
  }

  std::uint32_t number_of(const std::string& url) {
    const auto [at, fresh] = numbers_.try_emplace(ring::md5(url), static_cast<std::uint32_t>(streams_.digests.size()));
    if (!fresh) return at->second;
    streams_.digests.push_back(at->first);
    const std::string host(CanonicalUrl::host_in(url));
    const auto [known, new_host] = hosts_.try_emplace(host, static_cast<std::uint32_t>(streams_.hosts.size()));
    if (new_host) streams_.hosts.push_back(host);
    streams_.host_of.push_back(known->second);
    return at->second;
  }

  StreamLimits limits_;
  LinkStreams& streams_;
  std::uint64_t max_memory_ = 0;
  std::uint64_t links_ = 0;
  std::unordered_map<ring::Md5, std::uint32_t, DigestHash> numbers_;
  std::unordered_map<std::string, std::uint32_t> hosts_;
  Progress progress_{"links read"};
};

}  // namespace

std::uint64_t LinkStreams::pages() const {
  std::uint64_t sum = 0;
  for (const PeerStream& peer : peers) sum += peer.pages.size();
  return sum;
}

std::uint64_t LinkStreams::links() const {
  std::uint64_t sum = 0;
  for (const PeerStream& peer : peers) sum += peer.targets.size();
  return sum;
}

Result<LinkStreams> read_streams(const std::vector<std::string>& paths, const StreamLimits& limits) {
  const auto files = storage::link_trace_files(paths);
  if (!files) return fail(ErrorCode::invalid_input, files.error().message);
  LinkStreams streams;
  {
    Reader reader(limits, streams);
    for (const std::string& file : *files)
      if (Result<void> read = reader.read(file); !read) return tl::make_unexpected(read.error());
  }
  streams.files = files->size();
  if (streams.links() == 0)
    return fail(ErrorCode::invalid_input, files->front() +
                                              (files->size() > 1 ? " and the other traces hold" : " holds") +
                                              " no link: there is nothing to replay");
  return streams;
}

std::uint64_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) : 0;
}

}  // namespace orbweaver
