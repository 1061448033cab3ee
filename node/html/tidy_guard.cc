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

// The words that tidy itself closes or never nests.
bool never_nests(const TagFacts& facts) { return facts.is_void || facts.model != TextModel::data; }

}  // namespace

bool tidy_can_take(std::string_view html) {
  if (html.size() > tidy_page_bytes_max) return false;
  Tokenizer tokenizer(html);
  Token token;
  // Open elements by name. An end tag closes one of its name; what was left open inside stays counted, so that the sum is a bound.
  std::unordered_map<NameKey, std::size_t> open;
  std::size_t depth = 0;
  while (tokenizer.next(token)) {
    if (token.kind == TokenKind::text) continue;
    const TagFacts& facts = tag_facts(token.key);
    if (token.kind == TokenKind::end_tag) {
      const auto found = open.find(token.key);
      if (found == open.end() || found->second == 0) continue;
      --found->second;
      --depth;
      continue;
    }
    if (token.attributes.size() > tidy_attributes_per_tag_max) return false;
    if (facts.model != TextModel::data) tokenizer.enter(facts.model, token.key);
    if (never_nests(facts) || token.self_closing) continue;
    // p, li, td… end where the next one begins.
    const bool is_one_at_a_time = facts.tag == Tag::implied || facts.tag == Tag::option || facts.tag == Tag::row || facts.tag == Tag::cell;
    std::size_t& count = open[token.key];
    if (is_one_at_a_time && count > 0) continue;
    ++count;
    if (++depth > tidy_open_elements_max) return false;
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
// Each place carries the logarithm of its size in front.
constexpr std::size_t size_header_bytes = alignment;

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

// Places are powers of two from 32 bytes, kept by size when released: tidy makes and drops a message for each thing it finds wrong.
std::size_t size_class(std::size_t bytes) {
  return std::max<std::size_t>(5, static_cast<std::size_t>(std::bit_width(std::max<std::size_t>(bytes, 1) - 1)));
}

}  // namespace

const TidyAllocatorVtbl TidyArena::functions = {&TidyArena::allocate, &TidyArena::reallocate, &TidyArena::release, &TidyArena::panic};

TidyArena::TidyArena() : TidyAllocator{&functions} {}

TidyArena::~TidyArena() {
  while (blocks_ != nullptr) {
    Block* const previous = blocks_->previous;
    std::free(blocks_);
    blocks_ = previous;
  }
}

void* TidyArena::allocate(TidyAllocator* self, size_t bytes) {
  auto& arena = *static_cast<TidyArena*>(self);
  if (bytes > tidy_memory_bytes_max) panic(self, "an allocation beyond the bound");
  const std::size_t kind = size_class(bytes);
  if (void* const released = arena.released_[kind]) {
    std::memcpy(&arena.released_[kind], released, sizeof(void*));
    return released;
  }
  const std::size_t needed = (std::size_t{1} << kind) + size_header_bytes;
  const std::size_t block_header = aligned(sizeof(Block));
  if (arena.blocks_ == nullptr || arena.blocks_->bytes - arena.used_ < needed) {
    const std::size_t size = std::max(block_bytes, needed);
    arena.total_ += size;
    void* const raw = arena.total_ > tidy_memory_bytes_max ? nullptr : std::malloc(block_header + size);
    if (raw == nullptr) panic(self, "the bound on memory is reached");
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
  auto& arena = *static_cast<TidyArena*>(self);
  void*& list = arena.released_[kind_of(old)];
  std::memcpy(old, &list, sizeof(void*));
  list = old;
}

void TidyArena::panic(TidyAllocator* self, ctmbstr /*message*/) {
  auto& arena = *static_cast<TidyArena*>(self);
  if (!arena.panic_exit_is_set) std::abort();
  std::longjmp(arena.panic_exit, 1);
}

}  // namespace orbweaver::html
