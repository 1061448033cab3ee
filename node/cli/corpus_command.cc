#include "node/cli/corpus_command.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "node/corpus/corpus.h"
#include "node/terminal/say.h"

namespace orbweaver {

namespace {

struct Flags {
  CorpusOptions options;
  bool as_json = false;
};

// Writes to standard error if the corpus itself goes to standard output.
void tell(const Flags& flags, const std::string& text) {
  if (flags.options.out == "-") {
    say_aside(text);
  } else {
    say_text(text);
  }
}

int run(const Flags& flags) {
  const Result<CorpusCounts> counts = make_corpus(flags.options);
  if (!counts) {
    complain("%s", counts.error().message.c_str());
    return static_cast<int>(counts.error().code);
  }
  if (counts->pages == 0 && counts->torn == 0) {
    complain("no page in %llu files; a crawl with --text writes them", static_cast<unsigned long long>(counts->files));
    return static_cast<int>(ErrorCode::invalid_input);
  }
  const nlohmann::json summary = {{"files", counts->files},         {"pages", counts->pages},
                                  {"again", counts->again},         {"exact", counts->exact},
                                  {"near", counts->near},           {"empty", counts->empty},
                                  {"words", counts->words},         {"torn", counts->torn},
                                  {"forgotten", counts->forgotten}, {"languages", counts->languages}};
  std::ostringstream out;
  if (flags.as_json) {
    out << summary.dump(2) << "\n";
    tell(flags, out.str());
    return 0;
  }
  const std::uint64_t alone = counts->pages - counts->again - counts->exact - counts->near;
  out << counts->pages << " pages in " << counts->files << " files: " << alone << " alone, " << counts->exact
      << " repeat another exactly, " << counts->near << " nearly, " << counts->again << " are there again\n"
      << counts->empty << " have no text; " << counts->words << " words in those alone\n";
  for (const auto& [language, pages] : counts->languages)
    out << "  " << (language.empty() ? "(not known)" : language) << " " << pages << "\n";
  if (counts->torn > 0) out << counts->torn << " last lines without an end are left out\n";
  if (counts->forgotten > 0)
    out << counts->forgotten
        << " texts were evicted from the comparison table: repeats of those alone are not marked (--max-texts)\n";
  tell(flags, out.str());
  return 0;
}

}  // namespace

void add_corpus_command(CLI::App& app, int& code) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "corpus", "joins the texts of all peers (--text) into one corpus; marks repeats and counts everything");
  command->add_option("inputs", flags->options.inputs, "directories of crawls or peers, or files of lines")
      ->required()
      ->type_name("DIR");
  command->add_option("--out", flags->options.out, "the corpus, one JSON line per page; -: standard output")
      ->type_name("FILE");
  command->add_flag("--drop-repeats", flags->options.drop_repeats, "leave out texts that repeat another");
  command->add_option("--max-texts", flags->options.max_texts, "texts to compare with; about 130 bytes of memory each")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000'000}))
      ->capture_default_str();
  command->add_flag("--json", flags->as_json, "the counts as JSON");
  command->callback([flags, &code] { code = run(*flags); });
}

}  // namespace orbweaver
