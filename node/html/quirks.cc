#include "node/html/quirks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "node/html/tokenizer.h"

namespace orbweaver::html {
namespace {

// Public identifiers that begin with one of these mean quirks mode. In lower case.
constexpr std::array<std::string_view, 55> quirky_starts = {
    "+//silmaril//dtd html pro v0r11 19970101//",
    "-//as//dtd html 3.0 aswedit + extensions//",
    "-//advasoft ltd//dtd html 3.0 aswedit + extensions//",
    "-//ietf//dtd html 2.0 level 1//",
    "-//ietf//dtd html 2.0 level 2//",
    "-//ietf//dtd html 2.0 strict level 1//",
    "-//ietf//dtd html 2.0 strict level 2//",
    "-//ietf//dtd html 2.0 strict//",
    "-//ietf//dtd html 2.0//",
    "-//ietf//dtd html 2.1e//",
    "-//ietf//dtd html 3.0//",
    "-//ietf//dtd html 3.2 final//",
    "-//ietf//dtd html 3.2//",
    "-//ietf//dtd html 3//",
    "-//ietf//dtd html level 0//",
    "-//ietf//dtd html level 1//",
    "-//ietf//dtd html level 2//",
    "-//ietf//dtd html level 3//",
    "-//ietf//dtd html strict level 0//",
    "-//ietf//dtd html strict level 1//",
    "-//ietf//dtd html strict level 2//",
    "-//ietf//dtd html strict level 3//",
    "-//ietf//dtd html strict//",
    "-//ietf//dtd html//",
    "-//metrius//dtd metrius presentational//",
    "-//microsoft//dtd internet explorer 2.0 html strict//",
    "-//microsoft//dtd internet explorer 2.0 html//",
    "-//microsoft//dtd internet explorer 2.0 tables//",
    "-//microsoft//dtd internet explorer 3.0 html strict//",
    "-//microsoft//dtd internet explorer 3.0 html//",
    "-//microsoft//dtd internet explorer 3.0 tables//",
    "-//netscape comm. corp.//dtd html//",
    "-//netscape comm. corp.//dtd strict html//",
    "-//o'reilly and associates//dtd html 2.0//",
    "-//o'reilly and associates//dtd html extended 1.0//",
    "-//o'reilly and associates//dtd html extended relaxed 1.0//",
    "-//sq//dtd html 2.0 hotmetal + extensions//",
    "-//softquad software//dtd hotmetal pro 6.0::19990601::extensions to html 4.0//",
    "-//softquad//dtd hotmetal pro 4.0::19971010::extensions to html 4.0//",
    "-//spyglass//dtd html 2.0 extended//",
    "-//sun microsystems corp.//dtd hotjava html//",
    "-//sun microsystems corp.//dtd hotjava strict html//",
    "-//w3c//dtd html 3 1995-03-24//",
    "-//w3c//dtd html 3.2 draft//",
    "-//w3c//dtd html 3.2 final//",
    "-//w3c//dtd html 3.2//",
    "-//w3c//dtd html 3.2s draft//",
    "-//w3c//dtd html 4.0 frameset//",
    "-//w3c//dtd html 4.0 transitional//",
    "-//w3c//dtd html experimental 19960712//",
    "-//w3c//dtd html experimental 970421//",
    "-//w3c//dtd w3 html//",
    "-//w3o//dtd w3 html 3.0//",
    "-//webtechs//dtd mozilla html 2.0//",
    "-//webtechs//dtd mozilla html//"};

// Takes words and quoted identifiers from the front.
class Doctype {
 public:
  explicit Doctype(std::string_view text) : rest_(text) {}

  std::string word() {
    skip_spaces();
    std::string out;
    for (; !rest_.empty() && !is_html_space(rest_.front()) && rest_.front() != '"' && rest_.front() != '\'';
         rest_.remove_prefix(1))
      out += to_lower_ascii(rest_.front());
    return out;
  }
  // Nothing when there is no opening quote here, or no closing one.
  std::optional<std::string> identifier() {
    skip_spaces();
    if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\'')) return std::nullopt;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string out(rest_.substr(1, end - 1));
    std::transform(out.begin(), out.end(), out.begin(), to_lower_ascii);
    rest_.remove_prefix(end + 1);
    return out;
  }
  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && is_html_space(rest_.front())) rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

bool is_quirky_public(std::string_view id, bool has_system) {
  if (id == "-//w3o//dtd w3 html strict 3.0//en//" || id == "-/w3c/dtd html 4.0 transitional/en" || id == "html")
    return true;
  if (!has_system &&
      (id.starts_with("-//w3c//dtd html 4.01 frameset//") || id.starts_with("-//w3c//dtd html 4.01 transitional//")))
    return true;
  return std::any_of(quirky_starts.begin(), quirky_starts.end(),
                     [&](std::string_view start) { return id.starts_with(start); });
}

}  // namespace

bool is_quirks_doctype(std::string_view doctype) {
  constexpr std::string_view keyword = "doctype";
  if (doctype.size() < keyword.size() || !equals_ignoring_case(doctype.substr(0, keyword.size()), keyword)) return true;
  Doctype rest(doctype.substr(keyword.size()));
  if (rest.word() != "html") return true;
  if (rest.at_end()) return false;
  const std::string kind = rest.word();
  if (kind != "public" && kind != "system") return true;
  std::optional<std::string> system;
  if (kind == "public") {
    const auto id = rest.identifier();
    if (!id) return true;
    system = rest.identifier();
    if (!system && !rest.at_end()) return true;
    if (is_quirky_public(*id, system.has_value())) return true;
  } else if (system = rest.identifier(); !system) {
    return true;
  }
  return system == "http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd";
}

}  // namespace orbweaver::html
