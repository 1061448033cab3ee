#include "node/html/tidy_guard.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>

#include "node/html/tags.h"

namespace orbweaver::html {
namespace {

bool is_inline(const TagFacts& facts) {
  return facts.tag == Tag::formatting || facts.tag == Tag::font || facts.tag == Tag::a || facts.tag == Tag::other;
}

// p, li, td…: a new one closes the open one.
bool is_one_at_a_time(const TagFacts& facts) {
  return facts.tag == Tag::implied || facts.tag == Tag::list_item || facts.tag == Tag::description ||
         facts.tag == Tag::option || facts.tag == Tag::row || facts.tag == Tag::cell;
}

// Counts open elements by name. An end tag closes one element of its name; elements left open inside it stay counted,
// so the sum is an upper bound.
class OpenCounts {
 public:
  // False when a limit is exceeded.
  bool start(NameKey key, const TagFacts& facts) {
    if (!is_inline(facts)) copies_ += inlines_;
    std::size_t& count = open_[key];
    if (!is_one_at_a_time(facts) || count == 0) {
      ++count;
      ++depth_;
      if (is_inline(facts)) ++inlines_;
    }
    return depth_ <= max_tidy_open_elements && copies_ <= max_tidy_inline_copies;
  }
  void end(NameKey key, const TagFacts& facts) {
    const auto found = open_.find(key);
    if (found == open_.end() || found->second == 0) return;
    --found->second;
    --depth_;
    if (is_inline(facts)) --inlines_;
  }

 private:
  std::unordered_map<NameKey, std::size_t> open_;
  std::size_t depth_ = 0;
  std::size_t inlines_ = 0;
  std::size_t copies_ = 0;
};

}  // namespace

bool tidy_can_take(std::string_view html) {
  if (html.size() > max_tidy_page_bytes) return false;
  Tokenizer tokenizer(html);
  Token token;
  OpenCounts open;
  std::size_t tags = 0;
  while (tokenizer.next(token)) {
    if (token.kind == TokenKind::text) continue;
    if (++tags > max_tidy_tags || token.attributes.size() > max_tidy_attributes_per_tag) return false;
    const TagFacts& facts = tag_facts(token.key);
    if (token.kind == TokenKind::end_tag) {
      open.end(token.key, facts);
      continue;
    }
    // Elements that are raw text to the standard (iframe, noframes…) are markup to tidy, except for these.
    const bool is_raw = facts.model == TextModel::script || token.key == name_key("style");
    if (is_raw) tokenizer.enter(facts.model, token.key);
    if (is_raw || facts.is_void) continue;
    if (!open.start(token.key, facts)) return false;
  }
  return true;
}

struct TidyArena::Block {
  Block* previous;
  std::size_t bytes;  // after this header
};

namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10;
constexpr std::size_t alignment = alignof(std::max_align_t);
// Before each place is the logarithm of its size.
constexpr std::size_t size_header_bytes = alignment;

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

// Places have sizes that are powers of two from 32 bytes. Large places are reused after release: tidy allocates and
// frees a message of some KiB for each fault that it finds. Small ones (nodes and attributes) are not reused: tidy 5.6
// still points to some of them after their release, so their contents must stay.
constexpr std::size_t reused_from = 10;  // 1 KiB

std::size_t size_class(std::size_t bytes) {
  return std::max<std::size_t>(5, static_cast<std::size_t>(std::bit_width(std::max<std::size_t>(bytes, 1) - 1)));
}

}  // namespace

const TidyAllocatorVtbl TidyArena::functions = {&TidyArena::allocate, &TidyArena::reallocate, &TidyArena::release,
                                                &TidyArena::panic};

TidyArena::TidyArena(std::size_t page_bytes)
    : TidyAllocator{&functions},
      stack_begin_(static_cast<const char*>(__builtin_frame_address(0))),
      max_bytes_(max_tidy_memory_bytes(page_bytes)),
      bytes_left_(max_bytes_),
      allocations_left_(max_tidy_allocations(page_bytes)) {}

TidyArena::~TidyArena() {
  while (blocks_ != nullptr) {
    Block* const previous = blocks_->previous;
    std::free(blocks_);
    blocks_ = previous;
  }
}

void* TidyArena::allocate(TidyAllocator* self, size_t bytes) {
  auto& arena = *static_cast<TidyArena*>(self);
  const auto* const stack = static_cast<const char*>(__builtin_frame_address(0));
  const auto stack_bytes = static_cast<std::size_t>(std::abs(arena.stack_begin_ - stack));
  if (stack_bytes > max_tidy_stack_bytes) panic(self, "the bound on the stack is reached");
  if (arena.allocations_left_ == 0 || bytes > arena.max_bytes_) panic(self, "the bound on allocations is reached");
  --arena.allocations_left_;
  const std::size_t kind = size_class(bytes);
  if (void* const released = arena.released_[kind]) {
    std::memcpy(&arena.released_[kind], released, sizeof(void*));
    return released;
  }
  const std::size_t needed = (std::size_t{1} << kind) + size_header_bytes;
  const std::size_t block_header = aligned(sizeof(Block));
  if (arena.blocks_ == nullptr || arena.blocks_->bytes - arena.used_ < needed) {
    const std::size_t size = std::max(block_bytes, needed);
    void* const raw = size > arena.bytes_left_ ? nullptr : std::malloc(block_header + size);
    if (raw == nullptr) panic(self, "the bound on memory is reached");
    arena.bytes_left_ -= size;
    arena.blocks_ = new (raw) Block{arena.blocks_, size};
    arena.used_ = 0;
  }
  char* const place = reinterpret_cast<char*>(arena.blocks_) + block_header + arena.used_;
  arena.used_ += needed;
  std::memcpy(place, &kind, sizeof kind);
  return place + size_header_bytes;
}

std::size_t TidyArena::kind_of(void* place) {
  std::size_t kind = 0;
  std::memcpy(&kind, static_cast<char*>(place) - size_header_bytes, sizeof kind);
  return kind;
}

void* TidyArena::reallocate(TidyAllocator* self, void* old, size_t bytes) {
  if (old == nullptr) return allocate(self, bytes);
  const std::size_t kind = kind_of(old);
  if (bytes <= std::size_t{1} << kind) return old;
  void* const fresh = allocate(self, bytes);
  std::memcpy(fresh, old, std::size_t{1} << kind);
  release(self, old);
  return fresh;
}

void TidyArena::release(TidyAllocator* self, void* old) {
  if (old == nullptr) return;
  const std::size_t kind = kind_of(old);
  if (kind < reused_from) return;
  void*& list = static_cast<TidyArena*>(self)->released_[kind];
  std::memcpy(old, &list, sizeof(void*));
  list = old;
}

void TidyArena::panic(TidyAllocator* self, ctmbstr /*message*/) {
  auto& arena = *static_cast<TidyArena*>(self);
  if (!arena.panic_exit_is_set) std::abort();
  std::longjmp(arena.panic_exit, 1);
}

}  // namespace orbweaver::html
