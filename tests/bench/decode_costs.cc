// For tests/bench/decode: nanoseconds per byte of our decoders, of ICU's converters for comparison, and of detecting
// the charset.
//   decode_costs [--rounds N] DIRECTORY…
// Every .html and .htm file below is read. UTF-8 and windows-1252 are decoded as they are. For the other charsets the
// pages' letters are replaced by those of a script of that charset, so that the mix of markup and text is real. Each
// measurement alternates with its rival, N rounds; the best of each is printed, so that other work has little effect.
// Exit code: 0, or 2 when there was nothing to read.
#include <time.h>
#include <unicode/ucnv.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "node/charset/charset.h"
#include "node/charset/text_encoders.h"

namespace {

std::size_t sink = 0;  // prevents the compiler from removing the work

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
void keep_best(double& best, Work work) {
  const double begin = cpu_seconds();
  work();
  best = std::min(best, cpu_seconds() - begin);
}

struct Charset {
  const char* name;
  const char* icu;
  std::vector<const char*> letters;  // they replace a to z in text
};
const Charset charsets[] = {
    {"windows-1252", "windows-1252", {"é", "à", "ü", "ö", "ç"}},
    {"windows-1251", "windows-1251", {"а", "б", "в", "г", "д", "е", "ж", "з", "и", "к"}},
    {"koi8-r", "koi8-r", {"а", "б", "в", "г", "д", "е", "ж", "з", "и", "к"}},
    {"shift_jis", "ibm-943_P15A-2003", {"日", "本", "語", "の", "は", "ア", "カ", "字"}},
    {"euc-jp", "euc-jp", {"日", "本", "語", "の", "は", "ア", "カ", "字"}},
    {"iso-2022-jp", "iso-2022-jp", {"日", "本", "語", "の", "は", "ア", "カ", "字"}},
    {"gbk", "gb18030", {"你", "好", "中", "国", "的", "一", "人"}},
    {"big5", "Big5-HKSCS", {"你", "好", "中", "國", "的", "一", "人"}},
    {"euc-kr", "windows-949-2000", {"가", "나", "다", "한", "국", "어"}},
    {"utf-16le", "utf-16le", {"й", "日", "本"}},
};

// A page in that script: of the letters outside tags, every `share`-th is replaced.
std::string in_script(std::string_view html, const Charset& charset, std::size_t share) {
  std::string utf8;
  bool in_tag = false;
  std::size_t letters = 0;
  for (const char c : html) {
    if (static_cast<unsigned char>(c) >= 0x80) continue;
    in_tag = c == '<' || (in_tag && c != '>');
    const bool other = !in_tag && c >= 'a' && c <= 'z' && ++letters % share == 0;
    if (other) {
      utf8 += charset.letters[static_cast<std::size_t>(c - 'a') % charset.letters.size()];
    } else {
      utf8 += c;
    }
  }
  return utf8;
}

std::string bytes_of(const std::string& utf8, const std::string& charset) {
  if (charset != "utf-16le") return orbweaver::html::encode_from_utf8(charset, utf8);
  std::string out(utf8.size() * 2, '\0');
  UErrorCode error = U_ZERO_ERROR;
  const int32_t length = ucnv_convert("utf-16le", "utf-8", out.data(), static_cast<int32_t>(out.size()), utf8.data(),
                                      static_cast<int32_t>(utf8.size()), &error);
  out.resize(static_cast<std::size_t>(std::max(length, 0)));
  return out;
}

void by_icu(std::string_view bytes, const char* name, std::string& out) {
  UErrorCode error = U_ZERO_ERROR;
  const std::unique_ptr<UConverter, decltype(&ucnv_close)> converter(ucnv_open(name, &error), ucnv_close);
  out.resize(bytes.size() * 3 + 16);
  const int32_t length = ucnv_toAlgorithmic(UCNV_UTF8, converter.get(), out.data(), static_cast<int32_t>(out.size()),
                                            bytes.data(), static_cast<int32_t>(bytes.size()), &error);
  out.resize(static_cast<std::size_t>(std::max(length, 0)));
}

std::vector<std::string> read_pages(const std::vector<std::string>& directories) {
  std::vector<std::string> pages;
  for (const std::string& directory : directories) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      const std::string ending = entry.path().extension().string();
      if (!entry.is_regular_file() || (ending != ".html" && ending != ".htm")) continue;
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      pages.push_back(bytes.str());
    }
  }
  return pages;
}

double decode_all(const std::vector<std::string>& pages, const std::string& content_type) {
  const double begin = cpu_seconds();
  for (const std::string& page : pages) {
    orbweaver::DecodedText text;
    decode_html(page, content_type, text);
    sink += text.utf8.size();
  }
  return cpu_seconds() - begin;
}

void measure(const std::vector<std::string>& pages, const Charset& charset, std::size_t share, int rounds) {
  std::vector<std::string> encoded;
  std::size_t bytes = 0;
  for (const std::string& page : pages) {
    encoded.push_back(bytes_of(in_script(page, charset, share), charset.name));
    bytes += encoded.back().size();
  }
  double ours = std::numeric_limits<double>::max();
  double icu = ours;
  std::string out;
  for (int i = 0; i < rounds; ++i) {
    ours = std::min(ours, decode_all(encoded, std::string("text/html; charset=") + charset.name));
    keep_best(icu, [&] {
      for (const std::string& page : encoded) {
        by_icu(page, charset.icu, out);
        sink += out.size();
      }
    });
  }
  const auto per_byte = [&](double seconds) { return seconds * 1e9 / static_cast<double>(bytes); };
  std::printf("%-14s every %2zuth letter   ours %6.3f ns/byte   ICU %6.3f   ratio %.2f\n", charset.name, share,
              per_byte(ours), per_byte(icu), ours / icu);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 5;
  std::vector<std::string> directories;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--rounds" && i + 1 < argc) {
      rounds = std::atoi(argv[++i]);
    } else {
      directories.emplace_back(argv[i]);
    }
  }
  const std::vector<std::string> pages = read_pages(directories);
  std::size_t bytes = 0;
  for (const std::string& page : pages) bytes += page.size();
  if (bytes == 0) {
    std::fprintf(stderr, "no .html or .htm file in the directories given\n");
    return 2;
  }
  std::printf("%zu pages, %.1f MB\n", pages.size(), static_cast<double>(bytes) / 1e6);
  double undeclared = std::numeric_limits<double>::max();
  double declared = undeclared;
  for (int i = 0; i < rounds; ++i) {
    undeclared = std::min(undeclared, decode_all(pages, ""));
    declared = std::min(declared, decode_all(pages, "text/html; charset=utf-8"));
  }
  std::printf("as they stand: %.3f ns/byte with the charset told from the page, %.3f with utf-8 in Content-Type\n",
              undeclared * 1e9 / static_cast<double>(bytes), declared * 1e9 / static_cast<double>(bytes));
  for (const Charset& charset : charsets)
    for (const std::size_t share : {std::size_t{1}, std::size_t{20}}) measure(pages, charset, share, rounds);
  return sink == 0 ? 1 : 0;
}
