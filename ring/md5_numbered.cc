#include "ring/md5_numbered.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace orbweaver::ring {

namespace {

constexpr std::size_t lanes = 4;
using Lanes = std::uint32_t __attribute__((vector_size(lanes * sizeof(std::uint32_t))));

constexpr std::size_t block_bytes = 64;
using Block = std::array<std::uint8_t, block_bytes>;

// RFC 1321, section 3.4: floor(2^32 * abs(sin(i + 1))).
constexpr std::array<std::uint32_t, 64> sines{
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr std::array<std::uint32_t, 4> start{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

// One step: a = b + ((a + F(b, c, d) + word + sine) rotated left).
template <int Rotate>
void mix(Lanes& a, const Lanes& b, const Lanes& sum) {
  const Lanes all = a + sum;
  a = b + ((all << Rotate) | (all >> (32 - Rotate)));
}

// Four steps, in which the registers change places.
template <int R0, int R1, int R2, int R3, class Function, class Word>
void four(Lanes (&s)[4], std::size_t i, Function function, Word word) {
  mix<R0>(s[0], s[1], function(s[1], s[2], s[3]) + word(i) + sines[i]);
  mix<R1>(s[3], s[0], function(s[0], s[1], s[2]) + word(i + 1) + sines[i + 1]);
  mix<R2>(s[2], s[3], function(s[3], s[0], s[1]) + word(i + 2) + sines[i + 2]);
  mix<R3>(s[1], s[2], function(s[2], s[3], s[0]) + word(i + 3) + sines[i + 3]);
}

void digest_blocks(const std::array<Block, lanes>& blocks, std::array<Md5, lanes>& digests) {
  Lanes words[16];
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint8_t* const bytes = blocks[lane].data() + 4 * i;
      words[i][lane] = static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
                       static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
    }
  Lanes s[4];
  for (std::size_t i = 0; i < 4; ++i) s[i] = Lanes{} + start[i];
  const auto f = [](const Lanes& x, const Lanes& y, const Lanes& z) -> Lanes { return z ^ (x & (y ^ z)); };
  const auto g = [](const Lanes& x, const Lanes& y, const Lanes& z) -> Lanes { return y ^ (z & (x ^ y)); };
  const auto h = [](const Lanes& x, const Lanes& y, const Lanes& z) -> Lanes { return x ^ y ^ z; };
  const auto k = [](const Lanes& x, const Lanes& y, const Lanes& z) -> Lanes { return y ^ (x | ~z); };
  for (std::size_t i = 0; i < 16; i += 4) four<7, 12, 17, 22>(s, i, f, [&words](std::size_t n) { return words[n]; });
  for (std::size_t i = 16; i < 32; i += 4)
    four<5, 9, 14, 20>(s, i, g, [&words](std::size_t n) { return words[(5 * n + 1) % 16]; });
  for (std::size_t i = 32; i < 48; i += 4)
    four<4, 11, 16, 23>(s, i, h, [&words](std::size_t n) { return words[(3 * n + 5) % 16]; });
  for (std::size_t i = 48; i < 64; i += 4)
    four<6, 10, 15, 21>(s, i, k, [&words](std::size_t n) { return words[(7 * n) % 16]; });
  for (std::size_t i = 0; i < 4; ++i) s[i] += start[i];
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (std::size_t byte = 0; byte < 16; ++byte)
      digests[lane][byte] = static_cast<std::uint8_t>(s[byte / 4][lane] >> (8 * (byte % 4)));
}

}  // namespace

void md5_numbered(std::string_view prefix, std::uint32_t first, std::span<Md5> digests) {
  if (prefix.size() > max_numbered_prefix) {
    std::fputs("orbweaver: the digest of a prefix of more than one block was asked for\n", stderr);
    std::abort();
  }
  Block common{};
  std::copy(prefix.begin(), prefix.end(), common.begin());
  const std::size_t end = prefix.size() + 4;
  common[end] = 0x80;
  common[56] = static_cast<std::uint8_t>(end * 8 & 0xff);  // the length in bits, little-endian
  common[57] = static_cast<std::uint8_t>(end * 8 >> 8);
  std::array<Block, lanes> blocks;
  blocks.fill(common);
  std::array<Md5, lanes> four_digests;
  for (std::size_t done = 0; done < digests.size(); done += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t number = first + static_cast<std::uint32_t>(done + lane);
      for (std::size_t byte = 0; byte < 4; ++byte)
        blocks[lane][prefix.size() + byte] = static_cast<std::uint8_t>(number >> (24 - 8 * byte));
    }
    digest_blocks(blocks, four_digests);
    std::copy_n(four_digests.begin(), std::min(lanes, digests.size() - done),
                digests.begin() + static_cast<std::ptrdiff_t>(done));
  }
}

}  // namespace orbweaver::ring
