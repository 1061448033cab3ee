#include "node/archive/zip_file.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "node/try.h"

namespace orbweaver::archive {

namespace {

constexpr int block_bytes = 1 << 20;

class Sha256 {
 public:
  Sha256() { restart(); }
  void restart() {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
    bytes_ = 0;
  }
  void add(const void* bytes, std::size_t size) {
    EVP_DigestUpdate(context_.get(), bytes, size);
    bytes_ += size;
  }
  Hashed finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    Hashed hashed{.bytes = bytes_, .sha256 = {}};
    constexpr std::string_view digits = "0123456789abcdef";
    for (unsigned i = 0; i < size; ++i) {
      hashed.sha256 += digits[digest[i] >> 4];
      hashed.sha256 += digits[digest[i] & 15];
    }
    return hashed;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(), EVP_MD_CTX_free};
  std::uint64_t bytes_ = 0;
};

ErrorCode code_of(int error) { return error == ENOSPC || error == EDQUOT ? ErrorCode::disk_full : ErrorCode::io; }

}  // namespace

Hashed hash_of(std::string_view text) {
  Sha256 hash;
  hash.add(text.data(), text.size());
  return hash.finish();
}

Result<Hashed> hash_of_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(ErrorCode::io, "cannot read " + path + ": " + std::strerror(errno));
  Sha256 hash;
  std::string piece(block_bytes, '\0');
  ssize_t got = 0;
  while ((got = ::read(descriptor, piece.data(), piece.size())) > 0)
    hash.add(piece.data(), static_cast<std::size_t>(got));
  const int error = errno;
  ::close(descriptor);
  if (got < 0) return fail(ErrorCode::io, "cannot read " + path + ": " + std::strerror(error));
  return hash.finish();
}

struct ZipFile::Impl {
  std::string path;
  std::string part;  // its name until it is whole
  int descriptor = -1;
  int write_error = 0;  // errno
  Sha256 whole;
  Sha256 entry_hash;
  std::string entry_name;
  std::uint64_t entry_left = 0;
  std::time_t time = 0;
  std::unique_ptr<::archive, decltype(&archive_write_free)> zip{nullptr, archive_write_free};

  ~Impl() {
    zip.reset();
    if (descriptor < 0) return;
    ::close(descriptor);
    ::unlink(part.c_str());
  }
  static la_ssize_t put(::archive*, void* self, const void* bytes, std::size_t size) {
    auto* const impl = static_cast<Impl*>(self);
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
    impl->whole.add(bytes, size);
    return static_cast<la_ssize_t>(size);
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
  impl->zip.reset(archive_write_new());
  if (archive_write_set_format_zip(impl->zip.get()) != ARCHIVE_OK ||
      archive_write_set_bytes_per_block(impl->zip.get(), block_bytes) != ARCHIVE_OK ||
      archive_write_set_bytes_in_last_block(impl->zip.get(), 1) != ARCHIVE_OK ||
      archive_write_open(impl->zip.get(), impl.get(), nullptr, &Impl::put, nullptr) != ARCHIVE_OK)
    return impl->failed();
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
  impl_->entry_hash.restart();
  return {};
}

Result<void> ZipFile::write(std::string_view bytes) {
  if (bytes.size() > impl_->entry_left)
    return fail(ErrorCode::internal, impl_->entry_name + " is longer than announced");
  impl_->entry_hash.add(bytes.data(), bytes.size());
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
  return impl_->entry_hash.finish();
}

Result<Hashed> ZipFile::add(const std::string& name, std::string_view bytes, bool stored) {
  ORBWEAVER_TRY(begin(name, bytes.size(), stored));
  ORBWEAVER_TRY(write(bytes));
  return end();
}

Result<Hashed> ZipFile::close() {
  if (archive_write_close(impl_->zip.get()) != ARCHIVE_OK) return impl_->failed();
  if (::fsync(impl_->descriptor) != 0 || ::rename(impl_->part.c_str(), impl_->path.c_str()) != 0)
    return fail(code_of(errno), "cannot write " + impl_->path + ": " + std::strerror(errno));
  ::close(std::exchange(impl_->descriptor, -1));
  return impl_->whole.finish();
}

}  // namespace orbweaver::archive
