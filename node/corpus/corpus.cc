#include "node/corpus/corpus.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "node/corpus/text_line.h"

namespace orbweaver {

namespace {

using nlohmann::json;

// A page's text is at most its decoded body.
constexpr std::size_t max_line_bytes = std::size_t{256} << 20;

Result<std::vector<std::string>> files_of(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!std::filesystem::is_directory(input, error)) {
      if (!std::filesystem::is_regular_file(input, error))
        return fail(ErrorCode::invalid_input,
                    input + " is neither a file nor a directory" + (error ? ": " + error.message() : std::string()));
      files.push_back(input);
      continue;
    }
    std::vector<std::string> found;
    for (std::filesystem::recursive_directory_iterator at(input, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".jsonl" && at->is_regular_file(error)) found.push_back(at->path().string());
    if (error) return fail(ErrorCode::io, "cannot read the directory " + input + ": " + error.message());
    if (found.empty())
      return fail(ErrorCode::invalid_input, "there is no *.jsonl in " + input + "; was it crawled with --text?");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

class Corpus {
 public:
  explicit Corpus(const CorpusOptions& options) : options_(options), repeats_(options.max_texts) {}

  Result<CorpusCounts> make() {
    const auto files = files_of(options_.inputs);
    if (!files) return tl::make_unexpected(files.error());
    if (!options_.out.empty() && options_.out != "-") {
      for (const std::string& file : *files) {
        std::error_code ignored;
        if (std::filesystem::equivalent(file, options_.out, ignored))
          return fail(ErrorCode::invalid_input, options_.out + " is one of the files that are read");
      }
      file_.open(options_.out, std::ios::binary | std::ios::trunc);
      if (!file_) return fail(ErrorCode::io, "cannot write " + options_.out + ": " + std::strerror(errno));
    }
    for (const std::string& file : *files)
      if (Result<void> read = read_file(file); !read) return tl::make_unexpected(read.error());
    if (out() != nullptr) {
      out()->flush();
      if (!*out()) return fail(ErrorCode::io, "cannot write " + (options_.out == "-" ? "the output" : options_.out));
    }
    counts_.files = files->size();
    counts_.forgotten = repeats_.forgotten();
    return counts_;
  }

 private:
  std::ostream* out() {
    if (options_.out.empty()) return nullptr;
    return options_.out == "-" ? &std::cout : &file_;
  }

  Result<void> read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return fail(ErrorCode::io, "cannot read " + path + ": " + std::strerror(errno));
    std::uint64_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (in.eof()) {  // no line feed after it
        ++counts_.torn;
        return {};
      }
      if (Result<void> taken = take(line); !taken)
        return fail(taken.error().code, path + ":" + std::to_string(number) + ": " + taken.error().message);
    }
    if (in.bad()) return fail(ErrorCode::io, "reading " + path + " failed");
    return {};
  }

  Result<void> take(const std::string& text) {
    if (text.size() > max_line_bytes) return fail(ErrorCode::invalid_input, "a line of more than 256 MiB");
    json line = json::parse(text, nullptr, false);
    if (!line.is_object()) return fail(ErrorCode::invalid_input, "it is not a JSON object");
    const auto url = line.find("url");
    if (url == line.end() || !url->is_string()) return fail(ErrorCode::invalid_input, "it has no \"url\"");
    const Result<LinePrint> print = line_print(line);
    if (!print)
      return fail(ErrorCode::invalid_input, print.error().message +
                                                "; lines of a release before fingerprints cannot "
                                                "be compared");
    ++counts_.pages;
    if (print->print.words == 0) ++counts_.empty;
    const auto repeat = repeats_.add(url->get<std::string>(), print->digest, print->print);
    if (repeat) {
      const bool again = repeat->exact && repeat->name == url->get<std::string>();
      ++(again ? counts_.again : repeat->exact ? counts_.exact : counts_.near);
    } else {
      counts_.words += print->print.words;
      const auto language = line.find("language");
      ++counts_.languages[language != line.end() && language->is_string() ? language->get<std::string>() : ""];
    }
    if (out() == nullptr || (repeat && options_.drop_repeats)) return {};
    note_repeat(line, repeat);
    *out() << line.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
    if (!*out()) return fail(ErrorCode::io, "the output cannot be written; is the disk full?");
    return {};
  }

  const CorpusOptions& options_;
  TextRepeats repeats_;
  CorpusCounts counts_;
  std::ofstream file_;
};

}  // namespace

Result<CorpusCounts> make_corpus(const CorpusOptions& options) { return Corpus(options).make(); }

}  // namespace orbweaver
