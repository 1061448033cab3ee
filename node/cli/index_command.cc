#include "node/cli/index_command.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/archive/index_file.h"
#include "node/terminal/say.h"

namespace orbweaver {

namespace {

struct IndexCommand {
  std::string directory = "orbweaver-crawl";
  std::string out;
  std::vector<std::string> merged;
  bool cdx11 = false;
  bool zipnum = false;
  bool as_json = false;
};

// Also of directories that are no peer's.
Result<std::vector<std::string>> warc_files_below(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(directory, error), last; !error && at != last;
       at.increment(error))
    if (const std::string path = at->path().string(); path.ends_with(".warc.gz") || path.ends_with(".warc.gz.open"))
      files.push_back(path);
  if (error) return fail(ErrorCode::invalid_input, "cannot read " + directory + ": " + error.message());
  if (files.empty()) return fail(ErrorCode::invalid_input, "there is no *.warc.gz below " + directory);
  std::sort(files.begin(), files.end());
  return files;
}

Result<archive::IndexWritten> write(const IndexCommand& options, const std::string& out) {
  const archive::IndexLayout layout = options.zipnum ? archive::IndexLayout::zipnum : archive::IndexLayout::plain;
  if (!options.merged.empty()) return archive::merge_indexes(options.merged, out, layout);
  const auto files = warc_files_below(options.directory);
  if (!files) return tl::make_unexpected(files.error());
  return archive::write_index(*files, out, options.cdx11 ? archive::IndexForm::cdx11 : archive::IndexForm::cdxj,
                              layout);
}

Result<void> index(const IndexCommand& options) {
  const char* name = options.zipnum ? "index.idx" : options.cdx11 ? "index.cdx" : "index.cdxj";
  const std::string out = options.out.empty() ? options.directory + "/" + name : options.out;
  const Result<archive::IndexWritten> written = write(options, out);
  if (!written) return tl::make_unexpected(written.error());
  if (options.as_json) {
    say_json({{"index", out},
              {"files", written->files},
              {"captures", written->captures},
              {"left_out", written->left_out},
              {"damaged", written->damaged}},
             -1);
  } else {
    say_text(std::to_string(written->captures) + " captures of " + std::to_string(written->files) + " files in " + out +
             "\n");
    if (written->left_out > 0)
      say_aside(std::to_string(written->left_out) + " captures are in no line: their URL is too long, or unusable\n");
    if (written->damaged > 0) say_aside(std::to_string(written->damaged) + " damaged records are in no line\n");
  }
  if (!all_said()) return fail(ErrorCode::io, "standard output could not be written");
  return {};
}

}  // namespace

void add_index_command(CLI::App& app, int& code) {
  const auto options = std::make_shared<IndexCommand>();
  CLI::App* command = app.add_subcommand(
      "index", "writes a sorted index of the archives below a directory, by which pywb and others find pages");
  CLI::Option* directory =
      command->add_option("directory", options->directory, "where the archives are; peers may be running")
          ->capture_default_str();
  command->add_option("--out", options->out, "the index [DIRECTORY/index.cdxj, index.cdx or index.idx]")
      ->type_name("FILE");
  CLI::Option* cdx11 =
      command->add_flag("--cdx11", options->cdx11, "CDX lines of eleven fields, as OutbackCDX takes them, not CDXJ");
  command->add_flag("--zipnum", options->zipnum,
                    "for large archives: compressed blocks of lines (index.cdx.gz), where they begin (index.idx), and "
                    "index.loc");
  command
      ->add_option("--merge", options->merged,
                   "makes one index of these, of CDXJ or of CDX, instead of reading archives")
      ->type_name("FILE")
      ->excludes(directory)
      ->excludes(cdx11);
  command->add_flag("--json", options->as_json, "one JSON line");
  command->callback([options, &code] {
    Result<void> done;
    if (!options->merged.empty() && options->out.empty())
      done = fail(ErrorCode::invalid_input, "--merge needs --out FILE");
    else
      done = index(*options);
    if (done) return;
    complain("%s", done.error().message.c_str());
    code = static_cast<int>(done.error().code);
  });
}

}  // namespace orbweaver
