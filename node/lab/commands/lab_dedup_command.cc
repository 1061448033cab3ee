#include "node/lab/commands/lab_dedup_command.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "node/lab/commands/lab_commands.h"
#include "node/lab/dedup/dedup.h"
#include "node/settings/settings.h"
#include "node/settings/units.h"
#include "node/system/memory_available.h"

namespace orbweaver {

namespace {

struct DedupOptions {
  std::string urls_file;
  std::vector<std::string> traces;
  std::optional<std::uint64_t> generate;
  UrlGenerator generator;
  std::string budget = "10s";
  DedupConfig config;
  ReportOutput output;
};

Result<UrlStream> stream_of(DedupOptions& options) {
  if (!options.traces.empty()) return read_trace_stream(options.traces);
  if (options.urls_file == "-") return read_url_stream(std::cin, "standard input");
  if (!options.urls_file.empty()) {
    std::ifstream in(options.urls_file);
    if (!in) return fail(ErrorCode::invalid_input, "cannot read " + options.urls_file + ": " + std::strerror(errno));
    return read_url_stream(in, options.urls_file);
  }
  if (options.generate) options.generator.urls = *options.generate;
  for (const std::uint64_t size : options.config.sizes)
    if (!options.generate) options.generator.urls = std::max(options.generator.urls, size);
  if (options.generator.urls == 0) return fail(ErrorCode::invalid_setting, "--generate 0: there is nothing to check");
  if (options.generator.urls > 1'000'000'000)
    return fail(ErrorCode::invalid_setting, "--generate: at most 1,000,000,000 different URLs");
  if (Result<void> fits = check_memory("making " + std::to_string(options.generator.urls) + " URLs",
                                       generated_bytes(options.generator), options.config.memory_available);
      !fits)
    return tl::make_unexpected(fits.error());
  return generate_url_stream(options.generator);
}

Result<Report> lab_dedup(DedupOptions& options) {
  // Faults are reported before URLs are read.
  if (const auto kinds = chosen_kinds(options.config.structures); !kinds) return tl::make_unexpected(kinds.error());
  const Result<Duration> budget = parse_duration(options.budget);
  if (!budget) return fail(budget.error().code, "--budget: " + budget.error().message);
  if (*budget <= Duration{}) return fail(ErrorCode::invalid_setting, "--budget: more than 0s, for example 10s");
  options.config.budget = *budget;
  options.config.memory_available = memory_available();
  const Result<UrlStream> stream = stream_of(options);
  if (!stream) return tl::make_unexpected(stream.error());
  const Result<std::vector<DedupRow>> rows = measure_dedup(options.config, *stream);
  if (!rows) return tl::make_unexpected(rows.error());
  Report report = dedup_report(options.config, *stream, *rows);
  if (!options.traces.empty()) {
    report.facts["traces"] = options.traces;
  } else if (options.urls_file.empty()) {
    report.facts["seed"] = options.generator.seed;
    report.facts["repeats"] = options.generator.repeats;
  } else {
    report.facts["urls_file"] = options.urls_file;
  }
  return report;
}

}  // namespace

void add_lab_dedup(CLI::App& lab, int& code) {
  const auto options = std::make_shared<DedupOptions>();
  std::error_code ignored;
  options->config.directory = std::filesystem::temp_directory_path(ignored).string();
  CLI::App* command = lab.add_subcommand(
      "dedup",
      "structures for 'was this URL seen before?' side by side: time, bytes, wrong answers (docs/inside/lab-dedup.md)");
  auto* file =
      command->add_option("--urls", options->urls_file, "URLs, one a line; - for standard input")->type_name("FILE");
  auto* trace = command
                    ->add_option("--trace", options->traces,
                                 "the links that a crawl recorded (crawl --record-links): files or directories")
                    ->type_name("PATH")
                    ->excludes(file);
  command
      ->add_option("--generate", options->generate,
                   "this many different URLs, generated from a seed [16000, or the largest of --sizes]")
      ->type_name("N")
      ->excludes(file)
      ->excludes(trace);
  command->add_option("--repeats", options->generator.repeats, "share of the checks that are for a URL asked before")
      ->check(CLI::Range(0.0, 0.95))
      ->capture_default_str();
  command->add_option("--seed", options->generator.seed, "the same seed makes the same URLs")->capture_default_str();
  std::string names;
  for (const UrlSetKind& kind : url_set_kinds()) names += (names.empty() ? "" : ",") + kind.name;
  command->add_option("--structures", options->config.structures, "only these of " + names)
      ->delimiter(',')
      ->type_name("NAME,…");
  command->add_option("--sizes", options->config.sizes, "a run for each of these numbers of different URLs [all]")
      ->delimiter(',')
      ->type_name("N,…");
  command->add_option("--budget", options->budget, "a structure whose checks take longer is stopped, at each size")
      ->type_name("DURATION")
      ->capture_default_str();
  command
      ->add_option("--bits-per-url", options->config.plan.bits_per_url, "of the Bloom filter and the one-hash bitmap")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1024}))
      ->capture_default_str();
  auto* hashes = command->add_option("--hashes", options->config.plan.hashes, "of the Bloom filter")
                     ->check(CLI::Range(1u, 64u))
                     ->capture_default_str();
  command
      ->add_option("--bloom-rate", options->config.plan.bloom_rate,
                   "false positives that the Bloom filter may have: its bits and hashes follow")
      ->check(CLI::Range(1e-12, 0.5))
      ->excludes(hashes);
  command->add_option("--cache-entries", options->config.plan.cache_entries, "of the crawler's link cache")
      ->check(CLI::Range(0u, 16'777'216u))
      ->capture_default_str();
  command
      ->add_option("--directories-max", options->config.plan.max_directories,
                   "of the nested directories, which are stopped there: a disk may take minutes to remove more")
      ->check(CLI::Range(std::uint64_t{32}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  command->add_option("--dir", options->config.directory, "where those that write do so; what they write is removed")
      ->type_name("DIR")
      ->capture_default_str();
  add_report_flags(*command, options->output);
  command->callback([options, &code] { code = finish_experiment(lab_dedup(*options), options->output); });
}

}  // namespace orbweaver
