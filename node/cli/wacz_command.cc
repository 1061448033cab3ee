#include "node/cli/wacz_command.h"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "node/archive/wacz.h"
#include "node/cli/peer_archive.h"
#include "node/cli/peer_directories.h"
#include "node/system/clock.h"
#include "node/terminal/say.h"
#include "node/try.h"

namespace orbweaver {

namespace {

struct WaczCommand {
  std::string directory = "orbweaver-crawl";
  std::string out;
  std::string title;
  std::string description;
  std::string key_file;
  bool join = false;
  bool as_json = false;
};

Result<void> make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(ErrorCode::io, "cannot make " + path + ": " + error.message());
  return {};
}

void tell(const WaczCommand& options, const std::string& path, const archive::WaczWritten& written) {
  if (options.as_json) {
    say_json({{"package", path},
              {"bytes", written.package.bytes},
              {"sha256", written.package.sha256},
              {"files", written.files},
              {"captures", written.captures},
              {"pages", written.pages},
              {"damaged", written.damaged}},
             -1);
    return;
  }
  say_text(path + ": " + std::to_string(written.pages) + " pages, " + std::to_string(written.captures) +
           " captures of " + std::to_string(written.files) + " files\n");
  if (written.damaged > 0)
    say_aside(path + ": " + std::to_string(written.damaged) +
              " damaged records are in the package, and in no index of it\n");
}

Result<void> write_packages(const WaczCommand& options, const std::string& out, Time now) {
  const auto peers = peer_directories(options.directory);
  if (!peers) return tl::make_unexpected(peers.error());
  std::optional<archive::SigningKey> key;
  if (!options.key_file.empty()) {
    auto loaded = archive::SigningKey::load_or_make(options.key_file);
    if (!loaded) return tl::make_unexpected(loaded.error());
    key.emplace(std::move(*loaded));
  }
  ORBWEAVER_TRY(make_directory(out));
  for (const std::string& peer : *peers) {
    const auto archived = peer_archive(peer);
    if (!archived) return tl::make_unexpected(archived.error());
    const archive::WaczOptions wacz{.title = options.title.empty() ? peer : options.title,
                                    .description = options.description,
                                    .seeds = archived->seeds,
                                    .key = key ? &*key : nullptr,
                                    .created = now};
    const std::string path = out + "/" + package_name(*archived);
    const auto written = archive::write_wacz(archived->files, path, wacz);
    if (!written && written.error().code == ErrorCode::invalid_input) {
      say_aside(written.error().message + "\n");
      continue;
    }
    if (!written) return tl::make_unexpected(written.error());
    tell(options, path, *written);
  }
  return {};
}

Result<void> export_wacz(const WaczCommand& options) {
  const Time now = Clock().now();
  const std::string out = options.out.empty() ? options.directory + "/wacz" : options.out;
  if (!options.join) ORBWEAVER_TRY(write_packages(options, out, now));
  const auto joined = archive::write_ring_package(out, options.title.empty() ? options.directory : options.title, now);
  if (!joined) return tl::make_unexpected(joined.error());
  if (!options.as_json)
    say_text(out + "/ring.json: opens " + std::to_string(*joined) +
             (*joined == 1 ? " package\n" : " packages as one\n"));
  if (!all_said()) return fail(ErrorCode::io, "standard output could not be written");
  return {};
}

}  // namespace

void add_wacz_command(CLI::App& app, int& code) {
  const auto options = std::make_shared<WaczCommand>();
  CLI::App* command =
      app.add_subcommand("wacz", "the archives as WACZ, one package a peer, and one file that opens all of them");
  command->add_option("--dir", options->directory, "directory of a peer, or of a crawl; peers may be running")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_option("--out", options->out, "where the packages are written [DIR/wacz]")->type_name("DIR");
  command->add_option("--title", options->title, "what readers show as its name [the directory]")->type_name("TEXT");
  command->add_option("--description", options->description, "what the crawl is about")->type_name("TEXT");
  command
      ->add_option("--sign", options->key_file,
                   "signs the packages with this private key (P-384, PEM); a missing file is made with a new key")
      ->type_name("FILE");
  command->add_flag("--join", options->join,
                    "writes no package, only ring.json over those in --out: for peers of several machines");
  command->add_flag("--json", options->as_json, "one JSON line a package");
  command->callback([options, &code] {
    const Result<void> done = export_wacz(*options);
    if (done) return;
    complain("%s", done.error().message.c_str());
    code = static_cast<int>(done.error().code);
  });
}

}  // namespace orbweaver
