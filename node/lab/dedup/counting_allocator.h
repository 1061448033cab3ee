// An allocator that counts what the heap really allocates: glibc's malloc_usable_size plus the word of book-keeping
// before each block. Thread rule: one thread; all copies share one counter, which outlives them.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace orbweaver {

template <class T>
class CountingAllocator {
 public:
  using value_type = T;

  explicit CountingAllocator(std::uint64_t* bytes) : bytes_(bytes) {}
  template <class Other>
  CountingAllocator(const CountingAllocator<Other>& other) : bytes_(other.counter()) {}

  T* allocate(std::size_t n) {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    void* const block = std::malloc(n * sizeof(T));  // NOLINT(bugprone-sizeof-expression)
    if (block == nullptr) throw std::bad_alloc();
    *bytes_ += heap_bytes(block);
    return static_cast<T*>(block);
  }
  void deallocate(T* block, std::size_t) {
    *bytes_ -= heap_bytes(block);
    std::free(block);
  }
  std::uint64_t* counter() const { return bytes_; }

  friend bool operator==(const CountingAllocator& a, const CountingAllocator& b) { return a.bytes_ == b.bytes_; }

 private:
  static std::uint64_t heap_bytes(void* block) { return ::malloc_usable_size(block) + sizeof(std::size_t); }
  std::uint64_t* bytes_;
};

}  // namespace orbweaver
