// What is made of a response: codings are removed, links found, the archive record and the text written. Each reader
// has its own archive files, so nothing is shared. Thread rule: one owner (a worker's thread).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/corpus/text_repeats.h"
#include "node/crawl/events.h"
#include "node/fetch/fetcher.h"
#include "node/memory/decode_room.h"
#include "node/memory/links_room.h"
#include "node/process/in_flight.h"
#include "node/process/user_command.h"
#include "node/settings/settings.h"
#include "node/system/clock.h"
#include "storage/open_waiter.h"
#include "storage/synced_file.h"

namespace orbweaver {

struct WorkersConfig {
  Settings settings;
  std::string archive_dir;  // <peer's directory>/archive
  std::string text_dir;     // <peer's directory>/text
  std::string name_prefix;  // "orbweaver-<ring>-<peer>"; unique in the ring
  std::shared_ptr<MemoryShare> decoded;
  std::shared_ptr<MemoryShare> links;
  InFlight* in_flight = nullptr;          // null: no page is marked; else outlives the workers and every PageDone
  storage::OpenWaiter* waiter = nullptr;  // outlives the workers
  std::function<void(const std::string& path, std::uint64_t bytes)>
      archive_finished{};  // storage::WarcConfig::finished
};

// The input of a read; a stored robots.txt is treated as a response's body.
struct ReadItem {
  FetchJob job;
  FetchResponse response;
  // What the user's command made of it, if it has run already.
  std::optional<CommandOutput> command = {};
  MemoryCharge command_charge = {};
};

// What all readers use together; it outlives them.
struct SharedForReaders {
  DecodeRoom& room;
  LinksRoom& links;
  UserCommands& user_commands;
  SharedRepeats* repeats = nullptr;  // the texts that repeat others; null: no texts are written
};

class PageReader {
 public:
  struct Place {
    std::size_t index = 0;  // the worker's number
    bool large = false;     // it reads what outgrew the small part of another
  };
  // Opens the archive (cutting off the torn tail of an earlier run).
  static Result<std::unique_ptr<PageReader>> open(const WorkersConfig& config, Place place, const Clock& clock,
                                                  SharedForReaders shared);
  virtual ~PageReader() = default;

  // PageDone::what says when something could not be written, or was not read because the peer is stopping. Nothing: it
  // outgrew the small part, and the reader of large ones must read it; the item is as it was.
  virtual std::optional<PageDone> read(ReadItem& item) = 0;
  // With durability = power: the files that the last read() wrote to, for a sync; empty when it was not written.
  virtual std::vector<std::shared_ptr<storage::SyncedFile>> written() = 0;
  virtual Result<void> close() = 0;
};

// The result for a response that is not read any more.
PageDone not_read(std::uint64_t id);

}  // namespace orbweaver
