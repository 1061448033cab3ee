#include <libdeflate.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "storage/append_directory.h"
#include "storage/append_file.h"
#include "storage/sha1.h"
#include "storage/warc.h"
#include "storage/warc_format.h"
#include "storage/warc_repair.h"

namespace orbweaver::storage {
namespace {

constexpr std::string_view file_ending = ".warc.gz";
constexpr std::string_view open_ending = ".open";
// Scratch buffers larger than this are freed after the record that needed them.
constexpr std::size_t scratch_bytes_kept = 4u << 20;
// How many other names are tried when a file of the wanted name exists.
constexpr int max_name_tries = 1000;

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "<prefix>-<14 digits>-<digits>.warc.gz.open", and not one of a longer prefix.
bool left_open_by(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(open_ending)) return false;
  name.remove_prefix(prefix.size());
  name.remove_suffix(open_ending.size());
  if (!name.ends_with(file_ending) || !name.starts_with('-')) return false;
  name.remove_suffix(file_ending.size());
  name.remove_prefix(1);
  return name.size() > 15 && name[14] == '-' && all_digits(name.substr(0, 14)) && all_digits(name.substr(15));
}

bool is_address(std::string_view ip) {
  return !ip.empty() && ip.size() <= 45 && ip.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

std::string_view truncation(std::string_view why) {
  const bool known = why == "length" || why == "time" || why == "disconnect" || why == "unspecified";
  return known ? why : "unspecified";
}

void give_back(std::string& scratch) {
  if (scratch.capacity() > scratch_bytes_kept) scratch = std::string();
}

// Finishes a file that a dead process left:
// cut to whole records, renamed to its final name; removed when it has no captures.
Result<void> finish_left_open(const std::string& path, OpenWaiter* waiter) {
  auto locked = AppendFile::open_existing(path, waiter);
  if (!locked) return tl::make_unexpected(locked.error());
  const auto repaired = repair_open_warc(*locked);
  if (!repaired) return tl::make_unexpected(repaired.error());
  if (repaired->captures == 0) {
    if (::unlink(path.c_str()) != 0) return io_error("cannot remove", path, errno);
    return {};
  }
  if (auto synced = locked->sync(); !synced) return synced;
  return rename_durably(path, path.substr(0, path.size() - open_ending.size()), waiter);
}

}  // namespace

struct WarcWriter::Impl {
  WarcConfig config;
  std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor{nullptr,
                                                                                      libdeflate_free_compressor};
  RecordIds ids;
  AppendFile file;
  std::string file_name;    // final name, without directory
  std::string warcinfo_id;  // of the current file
  std::uint32_t serial = 0;
  std::uint64_t bytes_written = 0;
  std::string plain;  // one record before compression
  std::string out;    // members of one append

  Result<void> finish_leftovers();
  Result<void> begin_file(Time now);
  Result<void> finish_file();
  void add_member(const std::string& head, std::initializer_list<std::string_view> block);
  void add_warcinfo(Time now);
  std::string add_response(const WarcExchange& exchange);
  void add_request(const WarcExchange& exchange, const std::string& response_id);
};

// Compresses one record into `out`. libdeflate needs its input in one piece: one copy, in a buffer that is reused.
void WarcWriter::Impl::add_member(const std::string& head, std::initializer_list<std::string_view> block) {
  plain.assign(head);
  for (const std::string_view part : block) plain.append(part);
  plain.append(record_end);
  const std::size_t begin = out.size();
  out.resize(begin + libdeflate_gzip_compress_bound(compressor.get(), plain.size()));
  // libdeflate guarantees the bound: it does not fail.
  const std::size_t made =
      libdeflate_gzip_compress(compressor.get(), plain.data(), plain.size(), out.data() + begin, out.size() - begin);
  out.resize(begin + made);
}

void WarcWriter::Impl::add_warcinfo(Time now) {
  std::string fields;
  for (const auto& [name, value] : config.info) fields += safe_value(name) + ": " + safe_value(value) + "\r\n";
  warcinfo_id = ids.next();
  RecordHead head;
  head.field("WARC-Type", "warcinfo")
      .field("WARC-Record-ID", warcinfo_id)
      .field("WARC-Date", warc_date(now))
      .field("WARC-Filename", file_name)
      .field("WARC-Block-Digest", sha1_label({fields}))
      .field("Content-Type", "application/warc-fields");
  add_member(head.finish(fields.size()), {fields});
}

std::string WarcWriter::Impl::add_response(const WarcExchange& exchange) {
  std::string id = ids.next();
  RecordHead head;
  head.field("WARC-Type", exchange.not_modified ? "revisit" : "response")
      .field("WARC-Record-ID", id)
      .field("WARC-Date", warc_date(exchange.started))
      .field("WARC-Target-URI", safe_uri(exchange.target_uri));
  if (is_address(exchange.ip)) head.field("WARC-IP-Address", exchange.ip);
  head.field("WARC-Warcinfo-ID", warcinfo_id)
      .field("WARC-Block-Digest", sha1_label({exchange.response_head, exchange.body}));
  if (exchange.not_modified)
    head.field("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/server-not-modified");
  else
    head.field("WARC-Payload-Digest", sha1_label({exchange.payload}));
  if (!exchange.truncated.empty()) head.field("WARC-Truncated", truncation(exchange.truncated));
  head.field("Content-Type", "application/http; msgtype=response");
  add_member(head.finish(exchange.response_head.size() + exchange.body.size()),
             {exchange.response_head, exchange.body});
  return id;
}

void WarcWriter::Impl::add_request(const WarcExchange& exchange, const std::string& response_id) {
  RecordHead head;
  head.field("WARC-Type", "request")
      .field("WARC-Record-ID", ids.next())
      .field("WARC-Date", warc_date(exchange.started))
      .field("WARC-Target-URI", safe_uri(exchange.target_uri));
  if (is_address(exchange.ip)) head.field("WARC-IP-Address", exchange.ip);
  head.field("WARC-Warcinfo-ID", warcinfo_id)
      .field("WARC-Concurrent-To", response_id)
      .field("WARC-Block-Digest", sha1_label({exchange.request_head}))
      .field("Content-Type", "application/http; msgtype=request");
  add_member(head.finish(exchange.request_head.size()), {exchange.request_head});
}

Result<void> WarcWriter::Impl::begin_file(Time now) {
  for (int tries = 0; tries < max_name_tries; ++tries) {
    std::string number = std::to_string(serial++);
    number.insert(0, number.size() < 5 ? 5 - number.size() : 0, '0');
    std::string name = config.name_prefix + "-" + stamp_14(now) + "-" + number + std::string(file_ending);
    const std::string path = (std::filesystem::path(config.directory) / name).string();
    if (::access(path.c_str(), F_OK) == 0) continue;
    auto made = AppendFile::create(path + std::string(open_ending), config.waiter);
    if (!made) {
      if (::access((path + std::string(open_ending)).c_str(), F_OK) == 0) continue;  // another writer's
      return tl::make_unexpected(made.error());
    }
    if (config.sync_names)
      if (auto synced = sync_directory(config.directory, config.waiter); !synced) return synced;
    file = std::move(*made);
    file_name = std::move(name);
    return {};
  }
  return fail(ErrorKind::io, config.directory + ": no free file name for " + config.name_prefix);
}

Result<void> WarcWriter::Impl::finish_file() {
  if (!file.is_open()) return {};
  const std::string path = file.path();
  if (file.size() == 0) {  // every write into it failed
    file.close();
    if (::unlink(path.c_str()) != 0) return io_error("cannot remove", path, errno);
    return {};
  }
  if (auto synced = file.sync(); !synced) return synced;
  // Renamed before it is closed: the lock lasts until no ".open" file is left that another process could repair.
  const std::string whole = path.substr(0, path.size() - open_ending.size());
  auto renamed = rename_durably(path, whole, config.waiter);
  if (!renamed) return renamed;
  const std::uint64_t bytes = file.size();
  file.close();
  if (config.finished) config.finished(whole, bytes);
  return {};
}

Result<void> WarcWriter::Impl::finish_leftovers() {
  std::vector<std::string> left;
  std::error_code error;
  for (std::filesystem::directory_iterator at(config.directory, error), end; !error && at != end; at.increment(error)) {
    if (left_open_by(at->path().filename().string(), config.name_prefix)) left.push_back(at->path().string());
  }
  if (error) return io_error("cannot read directory", config.directory, error.value());
  std::sort(left.begin(), left.end());
  for (const std::string& path : left) {
    if (auto finished = finish_left_open(path, config.waiter); !finished) return finished;
    const std::string whole = path.substr(0, path.size() - open_ending.size());
    const std::uint64_t bytes = std::filesystem::file_size(whole, error);
    if (!error && config.finished) config.finished(whole, bytes);  // else nothing of it was whole
    error.clear();
  }
  return {};
}

WarcWriter::WarcWriter() : impl_(std::make_unique<Impl>()) {}

Result<std::unique_ptr<WarcWriter>> WarcWriter::open(WarcConfig config) {
  std::unique_ptr<WarcWriter> writer(new WarcWriter());
  Impl& impl = *writer->impl_;
  impl.config = std::move(config);
  impl.compressor.reset(libdeflate_alloc_compressor(std::clamp(impl.config.level, 1, 12)));
  if (!impl.compressor) return fail(ErrorKind::io, "no memory for the gzip compressor");
  if (auto made = make_directory(impl.config.directory); !made) return tl::make_unexpected(made.error());
  if (impl.config.sync_names)
    if (auto synced = sync_directories_to(impl.config.directory, impl.config.waiter); !synced)
      return tl::make_unexpected(synced.error());
  if (auto finished = impl.finish_leftovers(); !finished) return tl::make_unexpected(finished.error());
  return writer;
}

WarcWriter::~WarcWriter() { (void)close(); }

Result<WarcPosition> WarcWriter::write(const WarcExchange& exchange, Time now) {
  Impl& impl = *impl_;
  if (impl.file.is_open() && impl.file.size() >= impl.config.file_bytes) {
    if (auto finished = impl.finish_file(); !finished) return tl::make_unexpected(finished.error());
  }
  if (!impl.file.is_open()) {
    if (auto begun = impl.begin_file(now); !begun) return tl::make_unexpected(begun.error());
  }
  impl.out.clear();
  if (impl.file.size() == 0) impl.add_warcinfo(now);
  WarcPosition position{impl.file_name, impl.file.size() + impl.out.size(), 0};
  const std::size_t response_begin = impl.out.size();
  const std::string response_id = impl.add_response(exchange);
  position.length = impl.out.size() - response_begin;
  if (!exchange.request_head.empty()) impl.add_request(exchange, response_id);
  const Result<void> appended = impl.file.append(impl.out);
  if (appended) impl.bytes_written += impl.out.size();
  give_back(impl.plain);
  give_back(impl.out);
  if (!appended) return tl::make_unexpected(appended.error());
  return position;
}

Result<void> WarcWriter::close() { return impl_->finish_file(); }

std::uint64_t WarcWriter::bytes_written() const { return impl_->bytes_written; }

std::shared_ptr<SyncedFile> WarcWriter::synced_file() const { return impl_->file.synced_file(); }

}  // namespace orbweaver::storage
