#include "node/archive/byte_view.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace orbweaver::archive {

OpenFile::~OpenFile() { ::close(descriptor_); }

Result<std::size_t> OpenFile::read(std::uint64_t offset, char* to, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(descriptor_, to + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::io, "cannot read " + path_ + ": " + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void ByteView::append(const std::shared_ptr<const OpenFile>& file, std::uint64_t offset, std::uint64_t count) {
  if (count == 0) return;
  if (!pieces_.empty() && pieces_.back().file == file && pieces_.back().offset + pieces_.back().bytes == offset) {
    pieces_.back().bytes += count;
    return;
  }
  pieces_.push_back({.begin = bytes(), .bytes = count, .offset = offset, .file = file});
}

Result<std::string> ByteView::read(std::uint64_t offset, std::size_t count) const {
  std::string out;
  if (offset >= bytes()) return out;
  out.resize(static_cast<std::size_t>(std::min<std::uint64_t>(count, bytes() - offset)));
  auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                [](std::uint64_t at, const Piece& one) { return at < one.begin; }) -
               1;
  for (std::size_t done = 0; done < out.size(); ++piece) {
    const std::uint64_t inside = offset + done - piece->begin;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(out.size() - done, piece->bytes - inside));
    const Result<std::size_t> got = piece->file->read(piece->offset + inside, out.data() + done, wanted);
    if (!got) return tl::make_unexpected(got.error());
    if (*got < wanted) return fail(ErrorCode::io, piece->file->path() + " became shorter while it was read");
    done += wanted;
  }
  return out;
}

}  // namespace orbweaver::archive
