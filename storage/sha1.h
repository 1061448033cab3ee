// SHA-1 as WARC digests use it: "sha1:" and base32. OpenSSL's EVP, fetched once per thread. Thread rule: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace orbweaver::storage {

using Sha1 = std::array<std::uint8_t, 20>;

// The digest of the parts, one after another.
Sha1 sha1(std::initializer_list<std::string_view> parts);
// RFC 4648, 6, upper case; 32 characters.
std::string base32(const Sha1& digest);
// "sha1:" and the base32 of the parts' digest.
std::string sha1_label(std::initializer_list<std::string_view> parts);

}  // namespace orbweaver::storage
