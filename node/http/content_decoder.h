// Undoing one content coding: zlib, brotli and zstd have their home here. Streaming, so that output stops at the limit
// whatever the input claims; the decoders' own memory is bounded by their window (zlib 32 KiB, brotli 16 MiB, zstd 8
// MiB). Internal to node/fetch; callers use decode_content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "node/http/http_message.h"

namespace orbweaver {

enum class ContentCoding : std::uint8_t { identity, gzip, deflate, brotli, zstd };

// More codings on one body than anybody uses (RFC 9110 has no bound): each costs a pass.
inline constexpr std::size_t content_codings_max = 5;

// The coding of that name, any case; empty, "identity" and "none" are identity.
std::optional<ContentCoding> content_coding(std::string_view name);
Decoded decode_one(std::string_view body, ContentCoding coding, std::size_t bytes_max);

}  // namespace orbweaver
