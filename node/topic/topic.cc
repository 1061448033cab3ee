#include "node/topic/topic.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace orbweaver {

namespace {

constexpr std::size_t max_word_bytes = 64;
constexpr std::size_t frequency_slots = 65'536;
constexpr double max_weight = 1000;

// Sorted. Words that are on nearly every English page.
constexpr std::array<std::string_view, 92> stop_words = {
    "a",    "about", "after", "all",  "also",  "an",     "and",   "any",   "are",   "as",    "at",    "be",
    "been", "but",   "by",    "can",  "could", "do",     "does",  "for",   "from",  "had",   "has",   "have",
    "he",   "her",   "his",   "how",  "i",     "if",     "in",    "into",  "is",    "it",    "its",   "may",
    "me",   "more",  "most",  "my",   "no",    "not",    "of",    "on",    "one",   "only",  "or",    "other",
    "our",  "out",   "over",  "s",    "she",   "should", "so",    "some",  "such",  "t",     "than",  "that",
    "the",  "their", "them",  "then", "there", "these",  "they",  "this",  "those", "to",    "under", "up",
    "us",   "very",  "was",   "we",   "were",  "what",   "when",  "where", "which", "while", "who",   "will",
    "with", "would", "www",   "html", "htm",   "http",   "https", "you"};

bool is_stop_word(std::string_view word) {
  return std::find(stop_words.begin(), stop_words.end(), word) != stop_words.end();
}

// FNV-1a.
constexpr std::uint64_t hash_of(std::string_view word) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash == 0 ? 1 : hash;
}

const std::vector<std::uint64_t>& stop_hashes() {
  static const std::vector<std::uint64_t> hashes = [] {
    std::vector<std::uint64_t> made;
    made.reserve(std::size(stop_words));
    for (const std::string_view word : stop_words) made.push_back(hash_of(word));
    std::sort(made.begin(), made.end());
    return made;
  }();
  return hashes;
}

// Capital letters of two bytes in UTF-8: Latin-1, Greek, Cyrillic.
void fold_two_bytes(unsigned char& first, unsigned char& second) {
  const unsigned code = (first & 0x1fu) << 6 | (second & 0x3fu);
  unsigned small = code;
  if (code >= 0xc0 && code <= 0xde && code != 0xd7) small = code + 0x20;
  if (code >= 0x391 && code <= 0x3a9) small = code + 0x20;
  if (code >= 0x410 && code <= 0x42f) small = code + 0x20;
  if (code >= 0x400 && code <= 0x40f) small = code + 0x50;
  first = static_cast<unsigned char>(0xc0u | small >> 6);
  second = static_cast<unsigned char>(0x80u | (small & 0x3fu));
}

// Below 1, which a WORD^WEIGHT may give, it is proportional.
double tf_weight(double count) { return count < 1 ? count : 1 + std::log(count); }

// Calls `each` with every word, folded.
template <class Each>
void each_word(std::string_view text, const Each& each) {
  std::array<char, max_word_bytes> word;
  std::size_t size = 0;
  bool too_long = false;
  const auto put = [&](unsigned char c) {
    if (size == word.size()) {
      too_long = true;
    } else {
      word[size++] = static_cast<char>(c);
    }
  };
  const auto end = [&] {
    if (size > 0 && !too_long) each(std::string_view(word.data(), size));
    size = 0;
    too_long = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {  // NOLINT(bugprone-branch-clone): the others come first
      put(c);
    } else if (c >= 'A' && c <= 'Z') {
      put(static_cast<unsigned char>(c + ('a' - 'A')));
    } else if (c == 0xc2) {  // U+0080 to U+00BF: signs and the no-break space
      ++i;
      end();
    } else if (c == 0xe2 && i + 2 < text.size() && static_cast<unsigned char>(text[i + 1]) == 0x80) {
      i += 2;  // U+2000 to U+203F: dashes, quotes
      end();
    } else if (c > 0xc2 && c < 0xe0 && i + 1 < text.size()) {
      unsigned char first = c;
      auto second = static_cast<unsigned char>(text[++i]);
      fold_two_bytes(first, second);
      put(first);
      put(second);
    } else if (c >= 0x80) {
      put(c);
    } else {
      end();
    }
  }
  end();
}

}  // namespace

std::vector<std::string> topic_words(std::string_view text) {
  std::vector<std::string> words;
  each_word(text, [&](std::string_view word) {
    if (!is_stop_word(word)) words.emplace_back(word);
  });
  return words;
}

Result<Topic> Topic::parse(std::string_view text) {
  std::map<std::uint64_t, double> counts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n,;", at), text.size());
    std::string_view word = text.substr(at, end - at);
    at = end + 1;
    double count = 1;
    if (const std::size_t caret = word.rfind('^'); caret != std::string_view::npos && caret + 1 < word.size()) {
      const std::string_view weight = word.substr(caret + 1);
      const auto [rest, error] = std::from_chars(weight.data(), weight.data() + weight.size(), count);
      if (error != std::errc{} || rest != weight.data() + weight.size() || !(count > 0 && count <= max_weight))
        return fail(ErrorCode::invalid_setting, "'" + std::string(word) + "' has no weight from 0 to 1000 after its ^");
      word = word.substr(0, caret);
    }
    for (const std::string& part : topic_words(word)) counts[hash_of(part)] += count;
  }
  if (counts.empty())
    return fail(ErrorCode::invalid_setting,
                "has no words that tell a topic: it is empty, or all of them are as common as 'the'");
  Topic topic;
  for (const auto& [hash, count] : counts) topic.terms_.push_back({hash, count});
  return topic;
}

Result<std::string> Topic::of_document(std::string_view text) {
  std::map<std::string, std::size_t> counts;
  for (std::string& word : topic_words(text)) ++counts[std::move(word)];
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  sorted.resize(std::min(sorted.size(), max_topic_words));
  std::string out;
  for (const auto& [word, count] : sorted)
    out +=
        (out.empty() ? "" : " ") + word + "^" + std::to_string(std::min(count, static_cast<std::size_t>(max_weight)));
  if (out.empty()) return fail(ErrorCode::invalid_setting, "has no words that tell a topic");
  return out;
}

void WordCounts::clear() {
  for (const std::size_t slot : used_) slots_[slot] = {};
  used_.clear();
}

void WordCounts::add(std::string_view text) {
  each_word(text, [this](std::string_view word) {
    const std::uint64_t hash = hash_of(word);
    if (!std::binary_search(stop_hashes().begin(), stop_hashes().end(), hash)) add_word(hash);
  });
}

void WordCounts::add_word(std::uint64_t hash) {
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at].hash != 0 && slots_[at].hash != hash) at = (at + 1) & (slots_.size() - 1);
  if (slots_[at].hash == 0) {
    slots_[at].hash = hash;
    used_.push_back(at);
  }
  ++slots_[at].count;
  if (used_.size() * 2 > slots_.size()) grow();
}

void WordCounts::grow() {
  std::vector<Slot> bigger(slots_.size() * 2);
  for (std::size_t& slot : used_) {
    std::size_t at = slots_[slot].hash & (bigger.size() - 1);
    while (bigger[at].hash != 0) at = (at + 1) & (bigger.size() - 1);
    bigger[at] = slots_[slot];
    slot = at;
  }
  slots_ = std::move(bigger);
}

TopicScorer::TopicScorer(Topic topic) : topic_(std::move(topic)), document_frequency_(frequency_slots) {
  weigh_topic();
}

double TopicScorer::idf(std::uint64_t hash) const {
  const double seen = document_frequency_[hash % frequency_slots];
  return 1 + std::log((1 + static_cast<double>(pages_)) / (1 + seen));
}

void TopicScorer::weigh_topic() {
  weights_.clear();
  topic_square_ = 0;
  for (const Topic::Term& term : topic_.terms()) {
    weights_.push_back(tf_weight(term.count) * idf(term.hash));
    topic_square_ += weights_.back() * weights_.back();
  }
}

double TopicScorer::similarity(const WordCounts& text) const {
  double product = 0;
  double text_square = 0;
  const std::vector<Topic::Term>& terms = topic_.terms();
  for (const std::size_t slot : text.used()) {
    const std::uint64_t hash = text.hash_at(slot);
    const double weight = tf_weight(text.count_at(slot)) * idf(hash);
    text_square += weight * weight;
    const auto term = std::lower_bound(terms.begin(), terms.end(), hash,
                                       [](const Topic::Term& a, std::uint64_t b) { return a.hash < b; });
    if (term == terms.end() || term->hash != hash) continue;
    product += weight * weights_[static_cast<std::size_t>(term - terms.begin())];
  }
  if (product <= 0) return 0;
  return std::min(product / std::sqrt(text_square * topic_square_), 1.0);
}

void TopicScorer::learn(const WordCounts& page) {
  ++pages_;
  for (const std::size_t slot : page.used()) {
    std::uint32_t& count = document_frequency_[page.hash_at(slot) % frequency_slots];
    if (count < pages_) ++count;  // words that share a counter must not count more than all pages
  }
  weigh_topic();
}

double link_score(double page_similarity, double page_score, double anchor_similarity) {
  constexpr double decay = 0.5;
  constexpr double inherited_share = 0.5;
  const double inherited = decay * std::max(page_similarity, decay * page_score);
  return inherited_share * inherited + (1 - inherited_share) * anchor_similarity;
}

std::uint8_t topic_score_of(double score) {
  return static_cast<std::uint8_t>(std::lround(255 * std::sqrt(std::clamp(score, 0.0, 1.0))));
}

double topic_score_value(std::uint16_t score) {
  const double root = std::min<double>(score, 255) / 255;
  return root * root;
}

}  // namespace orbweaver
