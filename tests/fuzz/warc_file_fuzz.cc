// WARC files of any bytes, as a crash or a disk leaves them: the repair cuts no more than a tail, a second repair finds
// nothing to do, and the lines of the index are JSON.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "node/archive/index_file.h"
#include "storage/warc.h"
#include "storage/warc_repair.h"
#include "tests/fuzz/temp_file.h"

namespace {

namespace st = orbweaver::storage;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const orbweaver::fuzz::TempFile temp;
  const std::string path = temp.write({reinterpret_cast<const char*>(data), size});
  const auto repaired = st::repair_warc(path);
  require(repaired && repaired->bytes_cut <= size);
  const auto again = st::repair_warc(path);
  require(again && again->bytes_cut == 0 && again->records == repaired->records);
  auto file = st::AppendFile::open_existing(path);
  require(file && file->size() == size - repaired->bytes_cut);
  const auto open = st::repair_open_warc(*file);
  require(open && open->captures <= open->done.records);
  file->close();
  const std::string index = temp.directory() + "/index";
  using orbweaver::archive::IndexForm;
  const auto written =
      orbweaver::archive::write_index({path}, index, IndexForm::cdxj, orbweaver::archive::IndexLayout::plain);
  require(written.has_value());
  std::ifstream in(index, std::ios::binary);
  std::uint64_t found = 0;
  for (std::string line; std::getline(in, line); ++found) {
    const std::size_t object = line.find(" {");
    require(object != std::string::npos && nlohmann::json::accept(line.substr(object + 1)));
  }
  require(found == written->captures);
  return 0;
}
