// JSON lines from outside: the questions of `orbweaver links|robots|url --batch`, one answer per line, and the lines of
// a corpus.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "node/corpus/text_line.h"
#include "node/terminal/json_line.h"
#include "node/tools/links_command.h"
#include "node/tools/robots_command.h"
#include "node/tools/url_command.h"

namespace {

using namespace orbweaver;

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename Batch>
void check(const std::string& input, const Batch& batch) {
  std::istringstream in(input);
  std::ostringstream out;
  const int code = batch(in, out);
  require(code == 0 || code == 2);
  const std::string answers = out.str();
  const auto lines = std::count(input.begin(), input.end(), '\n') + (input.empty() || input.ends_with('\n') ? 0 : 1);
  require(std::count(answers.begin(), answers.end(), '\n') == lines);
  std::istringstream read(answers);
  for (std::string line; std::getline(read, line);) require(nlohmann::json::accept(line));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  check(input, [](std::istream& in, std::ostream& out) { return links_batch(in, out, ParserKind::stream); });
  check(input, [](std::istream& in, std::ostream& out) { return robots_batch(in, out); });
  check(input, [](std::istream& in, std::ostream& out) { return url_batch(in, out); });
  std::istringstream in(input);
  for (std::string line; read_line(in, line, 1u << 20);)
    if (const auto parsed = parse_json(line)) (void)line_print(*parsed);
  return 0;
}
