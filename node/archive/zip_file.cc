#include "node/archive/zip_file.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <utility>

#include "node/digest/sha256.h"
#include "node/try.h"

namespace orbweaver::archive {

namespace {

constexpr int block_bytes = 1 << 20;

ErrorCode code_of(int error) { return error == ENOSPC || error == EDQUOT ? ErrorCode::disk_full : ErrorCode::io; }

Hashed finish(Sha256& hash) {
  const std::uint64_t bytes = hash.bytes();
  return {.bytes = bytes, .sha256 = hash.hex()};
}

// The file's first bytes, a piece at a time.
Result<void> for_each_piece(const OpenFile& file, std::uint64_t bytes,
                            const std::function<Result<void>(std::string_view)>& take) {
  std::string piece(block_bytes, '\0');
  for (std::uint64_t at = 0; at < bytes;) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), bytes - at));
    const Result<std::size_t> got = file.read(at, piece.data(), wanted);
    if (!got) return tl::make_unexpected(got.error());
    if (*got < wanted) return fail(ErrorCode::io, file.path() + " became shorter while it was read");
    ORBWEAVER_TRY(take(std::string_view(piece).substr(0, wanted)));
    at += wanted;
  }
  return {};
}

}  // namespace

Result<Hashed> hash_of_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(ErrorCode::io, "cannot read " + path + ": " + std::strerror(errno));
  const OpenFile file(descriptor, path);
  Sha256 hash;
  std::string piece(block_bytes, '\0');
  for (;;) {
    const Result<std::size_t> got = file.read(hash.bytes(), piece.data(), piece.size());
    if (!got) return tl::make_unexpected(got.error());
    if (*got == 0) return finish(hash);
    hash.add(std::string_view(piece).substr(0, *got));
  }
}

struct ZipFile::Impl {
  std::string path;
  std::string part;  // its name until it is whole
  int descriptor = -1;
  int write_error = 0;  // errno
  ByteView* view = nullptr;
  std::shared_ptr<const OpenFile> own;  // of a view: what is in no other file
  std::uint64_t own_bytes = 0;
  std::shared_ptr<const OpenFile> source;  // what is written now is there
  std::uint64_t source_offset = 0;
  Sha256 whole;
  Sha256 entry_hash;
  std::string entry_name;
  std::uint64_t entry_left = 0;
  std::time_t time = 0;
  std::unique_ptr<::archive, decltype(&archive_write_free)> zip{nullptr, archive_write_free};

  ~Impl() {
    zip.reset();
    if (descriptor < 0 || own != nullptr) return;
    ::close(descriptor);
    ::unlink(part.c_str());
  }
  static la_ssize_t put(::archive*, void* self, const void* bytes, std::size_t size) {
    auto* const impl = static_cast<Impl*>(self);
    impl->whole.add({static_cast<const char*>(bytes), size});
    if (impl->source != nullptr) {
      impl->view->append(impl->source, std::exchange(impl->source_offset, impl->source_offset + size), size);
      return static_cast<la_ssize_t>(size);
    }
    const auto* at = static_cast<const char*>(bytes);
    for (std::size_t left = size; left > 0;) {
      const ssize_t wrote = ::write(impl->descriptor, at, left);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) {
        impl->write_error = errno;
        return -1;
      }
      at += wrote;
      left -= static_cast<std::size_t>(wrote);
    }
    if (impl->view != nullptr)
      impl->view->append(impl->own, std::exchange(impl->own_bytes, impl->own_bytes + size), size);
    return static_cast<la_ssize_t>(size);
  }
  // Bytes go to `put` at once, or in blocks.
  Result<void> begin(bool at_once) {
    zip.reset(archive_write_new());
    if (archive_write_set_format_zip(zip.get()) != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(zip.get(), at_once ? 0 : block_bytes) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(zip.get(), 1) != ARCHIVE_OK ||
        archive_write_open(zip.get(), this, nullptr, &Impl::put, nullptr) != ARCHIVE_OK)
      return failed();
    return {};
  }
  tl::unexpected<Error> failed() const {
    if (write_error != 0) return fail(code_of(write_error), "cannot write " + part + ": " + std::strerror(write_error));
    const char* const why = archive_error_string(zip.get());
    return fail(ErrorCode::io, "cannot write " + part + ": " + (why == nullptr ? "unknown error" : why));
  }
};

ZipFile::ZipFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ZipFile::~ZipFile() = default;

Result<std::unique_ptr<ZipFile>> ZipFile::create(const std::string& path, Time time) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->part = path + ".part";
  impl->time = std::chrono::system_clock::to_time_t(time);
  impl->descriptor = ::open(impl->part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (impl->descriptor < 0) return fail(code_of(errno), "cannot write " + impl->part + ": " + std::strerror(errno));
  ORBWEAVER_TRY(impl->begin(false));
  return std::unique_ptr<ZipFile>(new ZipFile(std::move(impl)));
}

Result<std::unique_ptr<ZipFile>> ZipFile::create_view(const std::string& path, Time time, ByteView& view) {
  auto impl = std::make_unique<Impl>();
  impl->path = impl->part = path;
  impl->time = std::chrono::system_clock::to_time_t(time);
  impl->view = &view;
  impl->descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (impl->descriptor < 0) return fail(code_of(errno), "cannot write " + path + ": " + std::strerror(errno));
  ::unlink(path.c_str());
  impl->own = std::make_shared<OpenFile>(impl->descriptor, path);
  ORBWEAVER_TRY(impl->begin(true));
  return std::unique_ptr<ZipFile>(new ZipFile(std::move(impl)));
}

Result<void> ZipFile::begin(const std::string& name, std::uint64_t bytes, bool stored) {
  const int set = stored ? archive_write_zip_set_compression_store(impl_->zip.get())
                         : archive_write_zip_set_compression_deflate(impl_->zip.get());
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(), archive_entry_free);
  if (set != ARCHIVE_OK || !entry) return impl_->failed();
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes));
  archive_entry_set_mtime(entry.get(), impl_->time, 0);
  if (archive_write_header(impl_->zip.get(), entry.get()) != ARCHIVE_OK) return impl_->failed();
  impl_->entry_name = name;
  impl_->entry_left = bytes;
  return {};
}

Result<void> ZipFile::write(std::string_view bytes) {
  if (bytes.size() > impl_->entry_left)
    return fail(ErrorCode::internal, impl_->entry_name + " is longer than announced");
  impl_->entry_hash.add(bytes);
  impl_->entry_left -= bytes.size();
  while (!bytes.empty()) {
    const la_ssize_t wrote = archive_write_data(impl_->zip.get(), bytes.data(), bytes.size());
    if (wrote <= 0) return impl_->failed();
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

Result<Hashed> ZipFile::end() {
  if (impl_->entry_left > 0) return fail(ErrorCode::internal, impl_->entry_name + " is shorter than announced");
  if (archive_write_finish_entry(impl_->zip.get()) != ARCHIVE_OK) return impl_->failed();
  return finish(impl_->entry_hash);
}

Result<Hashed> ZipFile::add(const std::string& name, std::string_view bytes, bool stored) {
  ORBWEAVER_TRY(begin(name, bytes.size(), stored));
  ORBWEAVER_TRY(write(bytes));
  return end();
}

Result<Hashed> ZipFile::add_file(const std::string& name, const std::shared_ptr<const OpenFile>& file,
                                 std::uint64_t bytes) {
  ORBWEAVER_TRY(begin(name, bytes, true));
  if (impl_->view != nullptr) impl_->source = file;
  impl_->source_offset = 0;
  const Result<void> written = for_each_piece(*file, bytes, [this](std::string_view piece) { return write(piece); });
  impl_->source.reset();
  if (!written) return tl::make_unexpected(written.error());
  return end();
}

Result<Hashed> ZipFile::close() {
  if (archive_write_close(impl_->zip.get()) != ARCHIVE_OK) return impl_->failed();
  if (impl_->view != nullptr) return finish(impl_->whole);
  if (::fsync(impl_->descriptor) != 0 || ::rename(impl_->part.c_str(), impl_->path.c_str()) != 0)
    return fail(code_of(errno), "cannot write " + impl_->path + ": " + std::strerror(errno));
  ::close(std::exchange(impl_->descriptor, -1));
  return finish(impl_->whole);
}

}  // namespace orbweaver::archive
