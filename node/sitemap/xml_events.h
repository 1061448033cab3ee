// The part of XML that sitemaps need, as events: Expat, with the faults of real files repaired before. Never reads
// anything outside the document, expands no entity of a DTD. Only expat_xml.cc uses Expat. Thread rule: one owner.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orbweaver {

class XmlHandler {
 public:
  virtual ~XmlHandler() = default;
  using Attributes = std::vector<std::pair<std::string_view, std::string_view>>;
  // Names as written, with their prefix; views are valid during the call. False ends the reading.
  virtual bool start_element(std::string_view name, const Attributes& attributes) = 0;
  virtual bool end_element(std::string_view name) = 0;
  virtual void text(std::string_view text) = 0;  // in pieces; CDATA too
};

struct XmlOutcome {
  bool stopped = false;     // by the handler
  bool well_formed = true;  // else `problem` says what is wrong and on which line
  // A '&' that begins no reference was read as itself, a control character was removed, or a byte that is not UTF-8 was
  // replaced.
  bool mended = false;
  bool in_markup = false;  // the fault is at the '<' of a tag: the text before it is complete
  std::string problem;
};

// `utf8`: the whole document, without a byte order mark. Memory: 64 KiB in addition to Expat's own.
XmlOutcome read_xml(std::string_view utf8, XmlHandler& handler);

}  // namespace orbweaver
