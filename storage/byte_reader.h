// Reads fields as storage/record.h lists them: numbers and times, written one after the other and taken from the front
// of the remaining bytes. Private to storage/. Pure.
#pragma once

#include <string>
#include <string_view>

#include "storage/bytes.h"
#include "storage/types.h"

namespace orbweaver::storage {

inline void put_time(Time time, std::string& out) {
  put_be(out, static_cast<std::uint64_t>(time.time_since_epoch().count()));
}

// False: the bytes end too early, and nothing was taken; or the value is not the expected one.
class ByteReader {
 public:
  // Taken bytes are removed from `bytes`, which must outlive this.
  explicit ByteReader(std::string_view& bytes) : bytes_(&bytes) {}

  template <class Number>
  bool take(Number& value) {
    if (bytes_->size() < sizeof(Number)) return false;
    value = get_be<Number>(*bytes_, 0);
    bytes_->remove_prefix(sizeof(Number));
    return true;
  }
  bool take(Time& time) {
    std::uint64_t micros = 0;
    if (!take(micros)) return false;
    time = Time(Duration(static_cast<std::int64_t>(micros)));
    return true;
  }
  // A field that is written only when it is not 0.
  template <class Number>
  bool take_some(Number& value) {
    return take(value) && value != Number{};
  }

 private:
  std::string_view* bytes_;
};

}  // namespace orbweaver::storage
