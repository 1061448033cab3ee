#include "node/lab/dedup/dedup.h"

#include <stdlib.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "node/lab/dedup/disk_use.h"
#include "node/lab/progress.h"
#include "node/system/memory_available.h"
#include "node/text/edit_distance.h"

namespace orbweaver {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t block_checks = 32;
// This much of the disk is left free for other uses.
constexpr std::uint64_t free_bytes_min = std::uint64_t{1} << 30;
constexpr std::uint64_t disk_look_blocks = 64;  // blocks between two checks of the disk
constexpr std::uint64_t max_asked_again = 1000;
// To measure rates of one in ten thousand to two digits, a million questions are needed.
constexpr std::uint64_t probes_min = 1'000'000;
constexpr std::uint64_t max_probes = 10'000'000;
constexpr std::size_t course_points = 24;

double nanoseconds(Clock::duration time) { return std::chrono::duration<double, std::nano>(time).count(); }

// The value that the share `part` of the values does not exceed. Reorders them.
double percentile(std::vector<float>& values, double part) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(std::ceil(part * static_cast<double>(values.size()))) - 1;
  const auto place = values.begin() + std::max<std::ptrdiff_t>(at, 0);
  std::nth_element(values.begin(), place, values.end());
  return static_cast<double>(*place);
}

// The median time of reading the clock twice with nothing between, ns.
double timer_cost() {
  std::vector<float> times(10'001);
  for (float& time : times) {
    const Clock::time_point begun = Clock::now();
    time = static_cast<float>(nanoseconds(Clock::now() - begun));
  }
  return percentile(times, 0.5);
}

// A directory that is deleted at the end, with all its content.
class OwnDirectory {
 public:
  explicit OwnDirectory(const std::string& parent) {
    std::string name = parent + "/orbweaver-dedup-XXXXXX";
    name.replace(name.size() - 6, 6, 6, 'X');
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~OwnDirectory() { clear(true); }
  OwnDirectory(const OwnDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string of(const std::string& structure) const { return path_ + "/" + structure; }
  void clear(bool itself) const {
    if (path_.empty()) return;
    std::error_code ignored;  // a failure to remove is ignored: the run's result does not depend on it
    if (itself) {
      std::filesystem::remove_all(path_, ignored);
      return;
    }
    std::filesystem::directory_iterator at(path_, ignored);
    for (std::error_code trouble; !trouble && at != std::filesystem::directory_iterator(); at.increment(trouble))
      std::filesystem::remove_all(at->path(), ignored);
  }

 private:
  std::string path_;
};

bool disk_nearly_full(const std::string& directory) {
  struct statvfs room {};
  if (::statvfs(directory.c_str(), &room) != 0) return false;
  return std::uint64_t{room.f_bavail} * room.f_frsize < free_bytes_min || (room.f_files > 0 && room.f_favail < 65536);
}

// One structure, run over the first checks of the stream.
class Run {
 public:
  Run(const DedupConfig& config, const UrlStream& stream, double timer, std::string directory, DedupRow& row)
      : config_(config), stream_(stream), timer_(timer), directory_(std::move(directory)), row_(row) {}

  Result<void> run(Progress& progress) {
    std::error_code made;
    std::filesystem::create_directories(directory_, made);
    if (made) return fail(ErrorCode::io, "cannot make " + directory_ + ": " + made.message());
    UrlSetPlan plan = config_.plan;
    plan.directory = directory_;
    plan.urls = row_.size;
    plan.url_bytes = stream_.text_bytes(row_.size);
    auto set = row_.kind->open(plan);
    if (!set) return tl::make_unexpected(set.error());
    if (Result<void> done = check_all(**set, progress); !done) return done;
    row_.memory_bytes = (*set)->memory_bytes();
    if (auto* approximate = dynamic_cast<ApproximateUrlSet*>(set->get())) probe(*approximate);
    set->reset();
    auto again = row_.kind->open(plan);
    if (!again) return tl::make_unexpected(again.error());
    // After the structure was closed: its delayed writes are done by now.
    const Result<std::uint64_t> disk = (*again)->disk_bytes();
    if (!disk) return tl::make_unexpected(disk.error());
    row_.disk_bytes = *disk;
    return ask_again(**again);
  }

 private:
  Result<void> check(UrlSet& set, std::uint64_t at) {
    const std::uint32_t number = stream_.checks()[at];
    const Result<bool> seen = set.seen(stream_.url(number));
    if (!seen) return tl::make_unexpected(seen.error());
    const bool fresh = number == row_.urls;
    if (fresh) ++row_.urls;
    if (fresh && *seen) ++row_.false_positives;
    if (!fresh && !*seen) ++row_.false_negatives;
    return {};
  }

  Result<void> check_all(UrlSet& set, Progress& progress) {
    const std::uint64_t checks = stream_.checks_for(row_.size);
    const Clock::time_point begun = Clock::now();
    double spent = 0;  // ns, in checks
    for (std::uint64_t at = 0, block = 0; at < checks; ++block) {
      const std::uint64_t end = std::min(at + block_checks, checks);
      const bool whole = block % 2 == 0;
      double block_time = 0;
      if (whole) {
        const std::uint64_t size = end - at;
        const Clock::time_point started = Clock::now();
        for (; at < end; ++at)
          if (Result<void> done = check(set, at); !done) return done;
        block_time = nanoseconds(Clock::now() - started);
        blocks_.push_back(static_cast<float>(block_time / static_cast<double>(size)));
        note_course();
      } else {
        for (; at < end; ++at) {
          const Clock::time_point started = Clock::now();
          if (Result<void> done = check(set, at); !done) return done;
          const double time = std::max(0.0, nanoseconds(Clock::now() - started) - timer_);
          singles_.push_back(static_cast<float>(time));
          block_time += time;
        }
      }
      spent += block_time;
      row_.checks = at;
      progress.at(at);
      if (at == checks) break;
      if (Clock::now() - begun > config_.budget) {
        stop("the budget");
        break;
      }
      if (const std::string enough = set.had_enough(); !enough.empty()) {
        stop(enough);
        break;
      }
      if (block % disk_look_blocks == 0 && disk_nearly_full(directory_)) {
        stop("the disk, which is nearly full");
        break;
      }
    }
    row_.median_us = percentile(blocks_, 0.5) / 1000;
    // With fewer than two blocks no check was timed singly.
    row_.p99_us = percentile(singles_.empty() ? blocks_ : singles_, 0.99) / 1000;
    row_.mean_us = row_.checks == 0 ? 0 : spent / static_cast<double>(row_.checks) / 1000;
    return {};
  }

  void stop(std::string by) {
    row_.stopped = true;
    row_.why = std::move(by);
  }

  // The median of the whole blocks since the last point; points are evenly spaced over the logarithm of the size.
  void note_course() {
    const double full = std::log(static_cast<double>(row_.size) + 1);
    const double now = std::log(static_cast<double>(row_.urls) + 1);
    const auto step = static_cast<std::size_t>(now / full * static_cast<double>(course_points));
    if (step <= course_step_ && row_.urls < row_.size) return;
    course_step_ = step;
    std::vector<float> lately(blocks_.begin() + static_cast<std::ptrdiff_t>(course_from_), blocks_.end());
    course_from_ = blocks_.size();
    if (!lately.empty()) row_.course.emplace_back(row_.urls, percentile(lately, 0.5) / 1000);
  }

  // When it is full: asks for URLs of a host that is in no stream.
  void probe(const ApproximateUrlSet& set) {
    row_.approximate = true;
    row_.probes = std::clamp(row_.size, probes_min, max_probes);
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < row_.probes; ++i)
      if (set.would_be_seen("http://never-asked.invalid/" + std::to_string(i))) ++found;
    row_.full_rate = static_cast<double>(found) / static_cast<double>(row_.probes);
    row_.predicted_full_rate = set.predicted_rate(row_.urls);
    // The sum over all added URLs, using the rate in the middle of each of a thousand steps.
    constexpr std::uint64_t steps = 1000;
    const double step = static_cast<double>(row_.urls) / steps;
    for (std::uint64_t i = 0; i < steps; ++i)
      row_.predicted_false_positives +=
          step * set.predicted_rate(static_cast<std::uint64_t>((static_cast<double>(i) + 0.5) * step));
  }

  Result<void> ask_again(UrlSet& set) {
    row_.asked_again = std::min(row_.urls, max_asked_again);
    for (std::uint64_t i = 0; i < row_.asked_again; ++i) {
      const auto number = static_cast<std::uint32_t>(i * row_.urls / row_.asked_again);
      const Result<bool> seen = set.seen(stream_.url(number));
      if (!seen) return tl::make_unexpected(seen.error());
      row_.survived += *seen;
    }
    return {};
  }

  const DedupConfig& config_;
  const UrlStream& stream_;
  double timer_;
  std::string directory_;
  DedupRow& row_;
  std::vector<float> blocks_, singles_;  // ns per check
  std::size_t course_from_ = 0;
  std::size_t course_step_ = 0;
};

}  // namespace

Result<std::vector<const UrlSetKind*>> chosen_kinds(const std::vector<std::string>& names) {
  std::vector<const UrlSetKind*> chosen;
  for (const std::string& name : names) {
    std::string known, nearest;
    std::size_t least = 3;
    bool found = false;
    for (const UrlSetKind& kind : url_set_kinds()) {
      found = found || kind.name == name;
      known += (known.empty() ? "" : ", ") + kind.name;
      if (const std::size_t distance = edit_distance(name, kind.name); distance < least) {
        least = distance;
        nearest = kind.name;
      }
    }
    if (!found)
      return fail(ErrorCode::invalid_setting,
                  "there is no structure '" + name + "'" +
                      (nearest.empty() ? "; there are " + known : "; did you mean '" + nearest + "'?"));
  }
  for (const UrlSetKind& kind : url_set_kinds())
    if (names.empty() || std::find(names.begin(), names.end(), kind.name) != names.end()) chosen.push_back(&kind);
  return chosen;
}

Result<std::vector<DedupRow>> measure_dedup(const DedupConfig& config, const UrlStream& stream) {
  const auto kinds = chosen_kinds(config.structures);
  if (!kinds) return tl::make_unexpected(kinds.error());
  std::vector<std::uint64_t> sizes = config.sizes;
  if (sizes.empty()) sizes.push_back(stream.different());
  for (const std::uint64_t size : sizes) {
    if (size == 0) return fail(ErrorCode::invalid_setting, "a size of 0 URLs: there is nothing to check");
    if (size > stream.different())
      return fail(ErrorCode::invalid_setting, "a size of " + std::to_string(size) + " URLs, and there are " +
                                                  std::to_string(stream.different()) + " different ones");
    UrlSetPlan plan = config.plan;
    plan.urls = size;
    plan.url_bytes = stream.text_bytes(size);
    for (const UrlSetKind* kind : *kinds)
      if (Result<void> fits = check_memory(kind->description + " with " + std::to_string(size) + " URLs",
                                           kind->memory_wanted(plan), config.memory_available);
          !fits)
        return tl::make_unexpected(fits.error());
  }
  const OwnDirectory directory(config.directory);
  if (directory.path().empty())
    return fail(ErrorCode::io, "cannot make a directory in " + config.directory + ": " + std::strerror(errno));
  const double timer = timer_cost();
  std::vector<DedupRow> rows;
  Progress progress("measuring");
  for (const std::uint64_t size : sizes)
    for (const UrlSetKind* kind : *kinds) {
      DedupRow row;
      row.kind = kind;
      row.size = size;
      progress.next(kind->name + ", " + std::to_string(size) + " URLs", stream.checks_for(size));
      if (Result<void> done = Run(config, stream, timer, directory.of(kind->name), row).run(progress); !done)
        return tl::make_unexpected(done.error());
      progress.next("removing what " + kind->name + " wrote");
      directory.clear(false);
      rows.push_back(std::move(row));
    }
  return rows;
}

}  // namespace orbweaver
