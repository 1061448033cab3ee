// Decodes one content coding; the only home of zlib, brotli and zstd. It works on streams, so output stops at the limit
// whatever the input claims. The decoders' own memory is bounded by their window (zlib 32 KiB, brotli 16 MiB, zstd 8
// MiB). Internal to node/http; callers use decode_content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "node/http/http_message.h"

namespace orbweaver {

enum class ContentCoding : std::uint8_t { identity, gzip, deflate, brotli, zstd };

// More codings on one body than real servers use (RFC 9110 has no bound): each costs a pass.
inline constexpr std::size_t max_content_codings = 5;

// The coding with that name, in any case; the empty name, "identity" and "none" are identity.
std::optional<ContentCoding> content_coding(std::string_view name);
Decoded decode_one(std::string_view body, ContentCoding coding, std::size_t max_bytes);

}  // namespace orbweaver
