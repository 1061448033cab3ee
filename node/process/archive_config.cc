#include "node/process/archive_config.h"

#include "node/settings/site_header.h"

namespace orbweaver {

storage::WarcConfig archive_config(const WorkersConfig& config, const std::string& name_prefix) {
  storage::WarcConfig warc;
  warc.directory = config.archive_dir;
  warc.name_prefix = name_prefix;
  warc.file_bytes = config.settings.max_archive_file_bytes;
  warc.level = static_cast<int>(config.settings.archive_level);
  warc.info = {{"software", "orbweaver/" ORBWEAVER_VERSION},
               {"format", "WARC File Format 1.1"},
               {"conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
               {"robots", config.settings.robots ? "obey" : "ignore"},
               {"http-header-user-agent", user_agent_with(config.settings.user_agent, config.settings.contact)}};
  warc.waiter = config.waiter;
  warc.sync_names = config.settings.durability == Durability::power;
  warc.finished = config.archive_finished;
  return warc;
}

}  // namespace orbweaver
