// SHA-256 (FIPS 180-4) of bytes that come in pieces. Thread rule: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace orbweaver {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  std::uint64_t bytes() const { return bytes_; }
  // 64 hexadecimal digits. A new digest begins.
  std::string hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::uint64_t bytes_ = 0;
};

std::string sha256_of(std::string_view text);

}  // namespace orbweaver
