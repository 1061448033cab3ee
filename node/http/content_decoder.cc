#include "node/http/content_decoder.h"

#include <brotli/decode.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>
#include <memory>

namespace orbweaver {
namespace {

// The output grows in steps between these sizes: small pages take one step, large ones few.
constexpr std::size_t step_bytes_min = 16 * 1024;
constexpr std::size_t max_step_bytes = 1024 * 1024;
// The largest zstd window that is accepted: 8 MiB, the maximum for the "zstd" content coding (RFC 9659).
constexpr int max_zstd_window_log = 23;
// Deflate makes at most 1032 bytes from one, so a gzip trailer that claims more is wrong.
constexpr std::size_t max_deflate_ratio = 1032;

// The decoders' output: it grows in steps, never beyond the limit.
class Output {
 public:
  Output(std::string& bytes, std::size_t max_bytes) : bytes_(bytes), max_bytes_(max_bytes) {}

  bool full() const { return used_ == max_bytes_; }
  std::size_t used() const { return used_; }
  // Room to write to; at least one byte unless full().
  std::size_t room() {
    if (used_ == bytes_.size()) {
      const std::size_t step = std::clamp(used_, step_bytes_min, max_step_bytes);
      bytes_.resize(used_ + std::min(step, max_bytes_ - used_));
    }
    return bytes_.size() - used_;
  }
  char* at() { return bytes_.data() + used_; }
  void wrote(std::size_t count) { used_ += count; }
  void finish() { bytes_.resize(used_); }

 private:
  std::string& bytes_;
  std::size_t max_bytes_;
  std::size_t used_ = 0;
};

enum class End { whole, cut, truncated, corrupt };

Decoded result(std::string bytes, End end, const char* coding) {
  Decoded decoded;
  decoded.bytes = std::move(bytes);
  decoded.cut = end == End::cut;
  decoded.damaged = end == End::truncated || end == End::corrupt;
  const char* what = end == End::cut         ? " body unpacks to more than the limit"
                     : end == End::truncated ? " body is truncated"
                                             : " body is corrupt";
  if (end != End::whole) decoded.problem = std::string(coding) + what;
  return decoded;
}

struct Inflater {
  z_stream stream{};
  bool ready = false;
  explicit Inflater(int window_bits) { ready = inflateInit2(&stream, window_bits) == Z_OK; }
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
};

// Decodes one zlib, gzip or raw deflate stream and removes the bytes that it read from `body`.
End inflate_stream(std::string_view& body, int window_bits, Output& out) {
  Inflater inflater(window_bits);
  if (!inflater.ready) return End::corrupt;
  z_stream& z = inflater.stream;
  char beyond = 0;  // shows whether a stream that filled the limit has more
  for (;;) {
    const bool probing = out.full();
    const std::size_t room = probing ? 1 : std::min<std::size_t>(out.room(), UINT_MAX);
    z.next_out = reinterpret_cast<Bytef*>(probing ? &beyond : out.at());
    z.avail_out = static_cast<uInt>(room);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
    z.avail_in = static_cast<uInt>(std::min<std::size_t>(body.size(), UINT_MAX));
    const std::size_t given = z.avail_in;
    const int status = inflate(&z, Z_NO_FLUSH);
    body.remove_prefix(given - z.avail_in);
    const std::size_t made = room - z.avail_out;
    if (probing && made > 0) return End::cut;
    if (!probing) out.wrote(made);
    if (status == Z_STREAM_END) return End::whole;
    if (status == Z_BUF_ERROR || (status == Z_OK && body.empty() && z.avail_out > 0)) return End::truncated;
    if (status != Z_OK) return End::corrupt;
  }
}

// The common case in one call: a single gzip member whose trailer has a believable size. Two to three times as fast as
// zlib.
bool gunzip_at_once(std::string_view body, std::string& bytes, std::size_t max_bytes) {
  if (body.size() < 18) return false;
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= std::size_t{static_cast<unsigned char>(body[body.size() - 4 + i])} << (8 * i);
  if (size > max_bytes || size / max_deflate_ratio > body.size()) return false;
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!decompressor) return false;
  bytes.resize(size);
  std::size_t read = 0;
  std::size_t made = 0;
  const libdeflate_result status = libdeflate_gzip_decompress_ex(decompressor.get(), body.data(), body.size(),
                                                                 bytes.data(), bytes.size(), &read, &made);
  if (status == LIBDEFLATE_SUCCESS && read == body.size() && made == size) return true;
  bytes.clear();
  return false;
}

Decoded decode_gzip(std::string_view body, std::size_t max_bytes) {
  std::string bytes;
  if (gunzip_at_once(body, bytes, max_bytes)) return result(std::move(bytes), End::whole, "gzip");
  bytes.clear();
  Output out(bytes, max_bytes);
  End end = End::truncated;
  do {
    end = inflate_stream(body, 16 + MAX_WBITS, out);
    // Data after a whole member that is not another member is padding; browsers ignore it too.
  } while (end == End::whole && body.starts_with("\x1F\x8B"));
  out.finish();
  return result(std::move(bytes), end, "gzip");
}

// "deflate" is the zlib format (RFC 9110, 8.4.1.2), but servers have always sent raw deflate too.
Decoded decode_deflate(std::string_view body, std::size_t max_bytes) {
  const auto byte = [body](std::size_t i) { return i < body.size() ? static_cast<unsigned char>(body[i]) : 0u; };
  const bool wrapped = (byte(0) & 0x0F) == 8 && (byte(0) * 256 + byte(1)) % 31 == 0;
  std::string bytes;
  if (wrapped) {
    std::string_view rest = body;
    Output out(bytes, max_bytes);
    const End end = inflate_stream(rest, MAX_WBITS, out);
    out.finish();
    if (end != End::corrupt || !bytes.empty()) return result(std::move(bytes), end, "deflate");
  }
  bytes.clear();
  Output out(bytes, max_bytes);
  const End end = inflate_stream(body, -MAX_WBITS, out);
  out.finish();
  return result(std::move(bytes), end, "deflate");
}

Decoded decode_brotli(std::string_view body, std::size_t max_bytes) {
  const std::unique_ptr<BrotliDecoderState, void (*)(BrotliDecoderState*)> state(
      BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), BrotliDecoderDestroyInstance);
  std::string bytes;
  if (!state) return result(std::move(bytes), End::corrupt, "br");
  Output out(bytes, max_bytes);
  std::size_t in_left = body.size();
  const auto* in = reinterpret_cast<const std::uint8_t*>(body.data());
  End end = End::whole;
  std::uint8_t beyond = 0;
  for (;;) {
    const bool probing = out.full();
    const std::size_t room = probing ? 1 : out.room();
    std::size_t out_left = room;
    std::uint8_t* to = probing ? &beyond : reinterpret_cast<std::uint8_t*>(out.at());
    const BrotliDecoderResult status =
        BrotliDecoderDecompressStream(state.get(), &in_left, &in, &out_left, &to, nullptr);
    if (probing && out_left == 0) {
      end = End::cut;
      break;
    }
    if (!probing) out.wrote(room - out_left);
    if (status == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) continue;
    if (status == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) end = End::truncated;
    if (status == BROTLI_DECODER_RESULT_ERROR) end = End::corrupt;
    break;
  }
  out.finish();
  return result(std::move(bytes), end, "br");
}

Decoded decode_zstd(std::string_view body, std::size_t max_bytes) {
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  std::string bytes;
  if (!context) return result(std::move(bytes), End::corrupt, "zstd");
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, max_zstd_window_log);
  Output out(bytes, max_bytes);
  ZSTD_inBuffer in{body.data(), body.size(), 0};
  End end = body.empty() ? End::truncated : End::whole;
  char beyond = 0;
  while (end == End::whole) {
    const bool probing = out.full();
    const std::size_t room = probing ? 1 : out.room();
    ZSTD_outBuffer to{probing ? &beyond : out.at(), room, 0};
    const std::size_t hint = ZSTD_decompressStream(context.get(), &to, &in);
    if (!probing) out.wrote(to.pos);
    if (ZSTD_isError(hint))
      end = End::corrupt;
    else if (probing && to.pos > 0)
      end = End::cut;
    else if (hint == 0 && in.pos == in.size)
      break;  // a frame has ended and nothing follows it
    else if (in.pos == in.size && to.pos < to.size)
      end = End::truncated;
  }
  out.finish();
  return result(std::move(bytes), end, "zstd");
}

}  // namespace

std::optional<ContentCoding> content_coding(std::string_view name) {
  std::string low(name);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (low.empty() || low == "identity" || low == "none") return ContentCoding::identity;
  if (low == "gzip" || low == "x-gzip") return ContentCoding::gzip;
  if (low == "deflate") return ContentCoding::deflate;
  if (low == "br") return ContentCoding::brotli;
  if (low == "zstd") return ContentCoding::zstd;
  return std::nullopt;
}

Decoded decode_one(std::string_view body, ContentCoding coding, std::size_t max_bytes) {
  switch (coding) {
    case ContentCoding::gzip:
      return decode_gzip(body, max_bytes);
    case ContentCoding::deflate:
      return decode_deflate(body, max_bytes);
    case ContentCoding::brotli:
      return decode_brotli(body, max_bytes);
    case ContentCoding::zstd:
      return decode_zstd(body, max_bytes);
    case ContentCoding::identity:
      break;
  }
  return {std::string(body.substr(0, max_bytes)), body.size() > max_bytes, false, {}};
}

}  // namespace orbweaver
