// Protects tidy-html5 from pages that would overrun its stack, make it hang or use up the memory. Tidy calls itself for
// each level of nesting, compares a tag's attributes with each other, and copies open inline elements into every block
// that follows.
#pragma once

#include <tidy/tidy.h>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <string_view>

namespace orbweaver::html {

inline constexpr std::size_t max_tidy_page_bytes = std::size_t{2} << 20;
// The number of elements open at once, as a bound on nesting.
inline constexpr std::size_t max_tidy_open_elements = 500;
inline constexpr std::size_t max_tidy_attributes_per_tag = 200;
// Each tag may be an error to tidy, and an error costs it about 10 µs even if no code reads it.
inline constexpr std::size_t max_tidy_tags = 50'000;
// The number of copies of open inline elements into the blocks that follow, as the guard counts them.
inline constexpr std::size_t max_tidy_inline_copies = 100'000;
// Bounds on tidy's memory for one page and on its allocations: some broken pages of a few hundred bytes make it loop
// forever and add a node or a message each time. Real pages: up to 39 bytes and 0.4 allocations per byte.
constexpr std::size_t max_tidy_memory_bytes(std::size_t page_bytes) { return (std::size_t{4} << 20) + 64 * page_bytes; }
constexpr std::size_t max_tidy_allocations(std::size_t page_bytes) { return 20'000 + 4 * page_bytes; }
// The bound on the thread's stack (8 MiB by default), checked in each allocation: every level of nesting makes a node.
inline constexpr std::size_t max_tidy_stack_bytes = std::size_t{1} << 20;

// Whether tidy may be given the page. One pass of the tokenizer.
bool tidy_can_take(std::string_view html);

// Tidy's memory for one page: allocated in blocks, freed all at once, bounded. When a bound is reached, or tidy panics
// (which would end the process), it jumps to `panic_exit`. That frame must still be live, and nothing of the document
// may be touched afterwards.
class TidyArena : public TidyAllocator {
 public:
  explicit TidyArena(std::size_t page_bytes);
  ~TidyArena();
  TidyArena(const TidyArena&) = delete;
  TidyArena& operator=(const TidyArena&) = delete;

  std::jmp_buf panic_exit;
  bool panic_exit_is_set = false;  // otherwise a panic aborts

 private:
  struct Block;
  static void* TIDY_CALL allocate(TidyAllocator* self, size_t bytes);
  static void* TIDY_CALL reallocate(TidyAllocator* self, void* old, size_t bytes);
  static void TIDY_CALL release(TidyAllocator* self, void* old);
  static void TIDY_CALL panic(TidyAllocator* self, ctmbstr message);
  static std::size_t kind_of(void* place);
  static const TidyAllocatorVtbl functions;

  Block* blocks_ = nullptr;
  std::array<void*, 48> released_{};  // lists of places to reuse, by the logarithm of their size
  std::size_t used_ = 0;              // bytes of the newest block
  const char* stack_begin_;           // the stack pointer when the arena was made
  std::size_t max_bytes_;
  std::size_t bytes_left_;
  std::size_t allocations_left_;
};

}  // namespace orbweaver::html
