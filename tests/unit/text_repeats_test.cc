// Fingerprints and repeats of texts (node/text/simhash.h, repeats.h): Charikar 2002, Manku et al. 2007. The tables must
// agree with a comparison of all texts.
#include <gtest/gtest.h>

#include <random>

#include "node/text/repeats.h"
#include "node/text/words.h"

namespace orbweaver {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for_each_word(text, [&](std::string_view word) { out.emplace_back(word); });
  return out;
}

std::string text_of(unsigned seed, int words) {
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < words; ++i) text += "w" + std::to_string(random() % 5000) + " ";
  return text;
}

TEST(Words, AreRunsOfLettersAndSingleCharactersOfScriptsWithoutSpaces) {
  EXPECT_EQ(words_of("It's 2 k\u00f6lner, \u00abx\u00bb"),
            (std::vector<std::string>{"it", "s", "2", "k\u00f6lner", "x"}));
  EXPECT_EQ(words_of("\u6f22\u5b57\u3002a\u304b"), (std::vector<std::string>{"\u6f22", "\u5b57", "a", "\u304b"}));
  EXPECT_EQ(words_of("\xe6\xff"), (std::vector<std::string>{"\xe6\xff"})) << "what is malformed is read past";
}

TEST(Simhash, IsPinned) {
  // These are stored in every corpus and must not change.
  const std::string text = "the quick brown fox jumps over the lazy dog";
  EXPECT_EQ(text_print(text).simhash, text_print("The QUICK, brown fox: jumps over (the) lazy dog!").simhash);
  EXPECT_EQ(text_print(text).words, 9U);
  EXPECT_EQ(text_print("").simhash, 0U);
  EXPECT_EQ(text_print(text).simhash, 15613467909888436001ULL);
  EXPECT_EQ(text_print("one two").simhash, 9387905710077519968ULL);
}

TEST(Simhash, AFewChangedWordsOfManyChangeFewBits) {
  int near = 0;
  int far = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::string text = text_of(seed, 2000);
    std::string changed = text;
    changed.replace(text.size() / 2, 5, " new ");
    near += hamming(text_print(text).simhash, text_print(changed).simhash) <= max_near_distance ? 1 : 0;
    far += hamming(text_print(text).simhash, text_print(text_of(seed + 1000, 2000)).simhash) <= max_near_distance;
  }
  EXPECT_GE(near, 45);
  EXPECT_EQ(far, 0);
}

TEST(TextRepeats, ExactBeforeNearAndTheFirstIsTheOneRepeated) {
  TextRepeats repeats(100);
  const std::string text = text_of(1, 100);
  const TextPrint print = text_print(text);
  EXPECT_FALSE(repeats.add("first", text, print));
  TextPrint near = print;
  near.simhash ^= 0b101;
  const auto found = repeats.add("near", "another text", near);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->exact);
  EXPECT_EQ(found->distance, 2);
  EXPECT_EQ(found->name, "first");
  for (const char* name : {"second", "third"}) {
    const auto copy = repeats.add(name, text, print);
    ASSERT_TRUE(copy);
    EXPECT_TRUE(copy->exact);
    EXPECT_EQ(copy->name, "first");
  }
}

TEST(TextRepeats, FewWordsRepeatOnlyAsAWholeAndNoneNothing) {
  TextRepeats repeats(100);
  EXPECT_FALSE(repeats.add("a", "x", TextPrint{5, near_words_min - 1}));
  EXPECT_FALSE(repeats.add("b", "y", TextPrint{5, near_words_min - 1}));
  EXPECT_TRUE(repeats.add("c", "y", TextPrint{5, near_words_min - 1}));
  EXPECT_FALSE(repeats.add("d", "", TextPrint{}));
  EXPECT_FALSE(repeats.add("e", "", TextPrint{}));
}

TEST(TextRepeats, OfNoMemoryNothingRepeats) {
  TextRepeats repeats(0);
  EXPECT_FALSE(repeats.add("a", "x", TextPrint{5, 50}));
  EXPECT_FALSE(repeats.add("b", "x", TextPrint{5, 50}));
}

// The slow obvious twin: the last max_texts texts, all compared.
struct Plain {
  std::size_t max_texts;
  std::vector<std::pair<std::uint64_t, std::string>> texts;
  bool add(std::uint64_t simhash, const std::string& text) {
    const std::size_t from = texts.size() > max_texts ? texts.size() - max_texts : 0;
    for (std::size_t i = from; i < texts.size(); ++i)
      if (texts[i].second == text || hamming(texts[i].first, simhash) <= max_near_distance) return true;
    texts.emplace_back(simhash, text);
    return false;
  }
};

TEST(TextRepeats, TheTablesFindWhatComparingWithAllFinds) {
  std::mt19937_64 random(7);
  for (const std::size_t max_texts : {std::size_t{1}, std::size_t{7}, std::size_t{300}, std::size_t{5000}}) {
    TextRepeats repeats(max_texts);
    Plain plain{max_texts, {}};
    std::vector<std::uint64_t> before;
    std::size_t found = 0;
    for (int i = 0; i < 4000; ++i) {
      std::uint64_t simhash = random();
      if (!before.empty() && random() % 2 == 0) {  // 0 to 5 bits away from an earlier one
        simhash = before[random() % before.size()];
        for (std::uint64_t bits = random() % 6; bits > 0; --bits) simhash ^= std::uint64_t{1} << (random() % 64);
      }
      before.push_back(simhash);
      const std::string text = std::to_string(simhash);
      const bool expected = plain.add(simhash, text);
      found += expected ? 1 : 0;
      ASSERT_EQ(repeats.add("n", text, TextPrint{simhash, 100}).has_value(), expected) << i << " of " << max_texts;
    }
    EXPECT_GT(found, 0U);
    EXPECT_EQ(repeats.forgotten(), plain.texts.size() > max_texts ? plain.texts.size() - max_texts : 0U);
  }
}

}  // namespace
}  // namespace orbweaver
