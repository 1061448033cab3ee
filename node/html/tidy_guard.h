// Keeps tidy-html5 from being given what would overrun its stack, hang it or eat the memory: it calls itself for each
// level of nesting, compares a tag's attributes with each other, and copies open inline elements into every block that
// follows.
#pragma once

#include <tidy/tidy.h>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <string_view>

namespace orbweaver::html {

inline constexpr std::size_t tidy_page_bytes_max = std::size_t{2} << 20;
// Elements open at once, as a bound on nesting.
inline constexpr std::size_t tidy_open_elements_max = 500;
inline constexpr std::size_t tidy_attributes_per_tag_max = 200;
// Each may be an error to tidy, and an error takes it about 10 µs even when nobody reads it.
inline constexpr std::size_t tidy_tags_max = 50'000;
// Copies of open inline elements into the blocks that follow, as counted by the guard.
inline constexpr std::size_t tidy_inline_copies_max = 100'000;
// Of tidy's own memory for one page, and how many places it may ask for: some broken pages of a few hundred bytes make
// it go round forever, adding a node or a message each time. Real pages: up to 39 bytes and 0.4 places a byte.
constexpr std::size_t tidy_memory_bytes_max(std::size_t page_bytes) { return (std::size_t{4} << 20) + 64 * page_bytes; }
constexpr std::size_t tidy_allocations_max(std::size_t page_bytes) { return 20'000 + 4 * page_bytes; }
// Of the thread's stack (8 MiB by default), looked at in each allocation: every level of nesting makes a node.
inline constexpr std::size_t tidy_stack_bytes_max = std::size_t{1} << 20;

// Whether tidy may be given the page. One pass of the tokenizer.
bool tidy_can_take(std::string_view html);

// Tidy's memory for one page: taken in blocks, given back all at once, bounded. When a bound is reached, or tidy panics
// (it would end the process), it jumps to `panic_exit`, whose frame must be live; nothing of that document may be
// touched afterwards.
class TidyArena : public TidyAllocator {
 public:
  explicit TidyArena(std::size_t page_bytes);
  ~TidyArena();
  TidyArena(const TidyArena&) = delete;
  TidyArena& operator=(const TidyArena&) = delete;

  std::jmp_buf panic_exit;
  bool panic_exit_is_set = false;  // without it a panic aborts

 private:
  struct Block;
  static void* TIDY_CALL allocate(TidyAllocator* self, size_t bytes);
  static void* TIDY_CALL reallocate(TidyAllocator* self, void* old, size_t bytes);
  static void TIDY_CALL release(TidyAllocator* self, void* old);
  static void TIDY_CALL panic(TidyAllocator* self, ctmbstr message);
  static std::size_t kind_of(void* place);
  static const TidyAllocatorVtbl functions;

  Block* blocks_ = nullptr;
  std::array<void*, 48> released_{};  // lists of places to use again, by the logarithm of their size
  std::size_t used_ = 0;              // of the newest block
  const char* stack_begin_;           // where the stack stood when the arena was made
  std::size_t bytes_max_;
  std::size_t bytes_left_;
  std::size_t allocations_left_;
};

}  // namespace orbweaver::html
