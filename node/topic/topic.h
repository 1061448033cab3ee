// What a crawl is about, and how near to it a text is: the cosine of their vectors of words, each word weighted by
// TF-IDF (Salton, Buckley: "Term-weighting approaches in automatic text retrieval", 1988): (1 + ln tf) * idf. The idf
// is smoothed, 1 + ln((1 + N) / (1 + df)), and estimated online from the N pages that the scorer has seen so far;
// before the first page it is 1 for every word.
// So the same pages in the same order give the same scores. English stop words are left out.
//
// A word is a run of letters and digits (every character outside ASCII counts as one), up to 64 bytes; capital letters
// are folded in ASCII, Latin-1, Greek and Cyrillic. There is no stemming. Text without spaces between words (Chinese,
// Japanese, Thai) has long words that rarely match. Pure. Thread rule: a Topic is a value; a scorer has one owner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// The words of a text, folded, in order; stop words and those of more than 64 bytes are left out.
std::vector<std::string> topic_words(std::string_view text);

class Topic {
 public:
  // Words separated by anything; WORD^WEIGHT (up to 1000) counts a word that often. The error: no word is left.
  static Result<Topic> parse(std::string_view text);
  // The most frequent words of a document, at most max_topic_words, as parse() reads them.
  static Result<std::string> of_document(std::string_view text);

  struct Term {
    std::uint64_t hash = 0;
    double count = 0;
  };
  const std::vector<Term>& terms() const { return terms_; }  // by hash, each once

 private:
  std::vector<Term> terms_;
};
inline constexpr std::size_t max_topic_words = 64;

// The words of a text and their numbers, by a 64-bit hash. Reusable.
class WordCounts {
 public:
  void clear();
  void add(std::string_view text);
  bool empty() const { return used_.empty(); }
  const std::vector<std::size_t>& used() const { return used_; }
  std::uint64_t hash_at(std::size_t slot) const { return slots_[slot].hash; }
  std::uint32_t count_at(std::size_t slot) const { return slots_[slot].count; }

 private:
  struct Slot {
    std::uint64_t hash = 0;  // 0: free
    std::uint32_t count = 0;
  };
  void add_word(std::uint64_t hash);
  void grow();
  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::vector<std::size_t> used_;
};

// Bounded: 65,536 counters by hash, 256 KiB, count the document frequencies;
// words that share one seem more common than they are.
class TopicScorer {
 public:
  explicit TopicScorer(Topic topic);
  // 0 to 1.
  double similarity(const WordCounts& text) const;
  // A page was seen: its words count in the idf from now on.
  void learn(const WordCounts& page);

 private:
  double idf(std::uint64_t hash) const;
  void weigh_topic();
  Topic topic_;
  std::vector<double> weights_;  // of its terms, at present
  double topic_square_ = 0;      // sum of their squares
  std::vector<std::uint32_t> document_frequency_;
  std::uint64_t pages_ = 0;
};

// The score of a link, after Hersovici, Jacovi, Maarek, Pelleg, Shtalhaim, Ur: "The Shark-Search Algorithm" (1998):
// half of the score inherited from its page plus half the similarity of its anchor and URL with the topic. It inherits
// half of the page's own similarity, or a quarter of the page's own score when that is more: so a score lasts some hops
// through off-topic pages, then ends. All from 0 to 1.
double link_score(double page_similarity, double page_score, double anchor_similarity);
// Maps it to 0 to 255, on a square-root scale: there are many low scores, and they stay distinct.
std::uint8_t topic_score_of(double score);
double topic_score_value(std::uint16_t score);

}  // namespace orbweaver
