// From XML events to entries: the meaning of the elements of the five XML forms. Pure. Thread rule: one owner.
#pragma once

#include <string>
#include <string_view>

#include "node/sitemap/sitemap.h"
#include "node/sitemap/xml_events.h"

namespace orbweaver {

// The kind of document that this root element has; `name` may have a prefix.
SitemapKind kind_of_root(std::string_view name);
// Removes white space at both ends, Unicode's too: editors leave no-break and zero-width spaces.
std::string_view trim_unicode(std::string_view text);

class SitemapReader final : public XmlHandler {
 public:
  SitemapReader(Sitemap& sitemap, std::size_t max_entries) : sitemap_(sitemap), max_entries_(max_entries) {}
  bool start_element(std::string_view name, const Attributes& attributes) override;
  bool end_element(std::string_view name) override;
  void text(std::string_view text) override;
  // The document ended. `whole_text`: the last text was complete.
  void finish(bool whole_text);

 private:
  enum class Field : std::uint8_t { none, url, guid, date, other_date, change_frequency, priority };

  bool feed() const { return sitemap_.kind == SitemapKind::rss || sitemap_.kind == SitemapKind::atom; }
  struct Namespace {
    int depth = 0;  // of the element that declares it
    std::string prefix;
    std::string uri;
  };
  void take_namespaces(const Attributes& attributes);
  std::string_view namespace_of(std::string_view prefix) const;  // empty: none is declared
  bool is_own(std::string_view prefix) const;                    // of the sitemap's or feed's own vocabulary
  bool is_entry(std::string_view prefix, std::string_view local) const;
  Field field_of(std::string_view prefix, std::string_view local, const Attributes& attributes);
  void take_field();
  bool flush();

  Sitemap& sitemap_;
  std::size_t max_entries_;
  int depth_ = 0;
  int entry_depth_ = 0;  // 0: not within an entry
  int field_depth_ = 0;
  Field field_ = Field::none;
  std::string root_prefix_;
  std::vector<Namespace> namespaces_;  // the ones in scope
  std::string text_;                   // of the field
  std::string loose_;                  // of the entry itself, outside any field
  SitemapEntry entry_;
  std::string guid_;
  bool loc_seen_ = false;  // in this entry
};

}  // namespace orbweaver
