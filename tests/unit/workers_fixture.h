// Real workers for tests: where they write, and responses to read.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "node/config/settings_table.h"
#include "node/process/workers.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver::test {

// With texts and an archive in the directory.
inline WorkersConfig workers_config(const TempDir& dir) {
  WorkersConfig config;
  config.settings = default_settings();
  config.settings.text = true;
  config.archive_dir = dir.file("archive");
  config.text_dir = dir.file("text");
  config.name_prefix = "ow";
  config.decoded = std::make_shared<MemoryShare>(64u << 20);
  config.links = std::make_shared<MemoryShare>(64u << 20);
  return config;
}

// The response to a request for page `id` of a.test.
inline void push_page(Workers& workers, std::uint64_t id, const std::string& type, std::string body, int status = 200) {
  FetchResponse response;
  response.id = id;
  response.status = status;
  response.response_head = "HTTP/1.1 " + std::to_string(status) + " x\r\nContent-Type: " + type + "\r\n\r\n";
  response.body = std::move(body);
  workers.push(
      {.id = id, .url = *CanonicalUrl::parse("http://a.test/" + std::to_string(id)), .host = {}, .what = PageFetch{}},
      std::move(response));
}

}  // namespace orbweaver::test
