// The kinds of links, their names and their groups.
#include "node/html/links.h"

namespace orbweaver {

std::string_view link_kind_name(LinkKind kind) {
  switch (kind) {
    case LinkKind::anchor:
      return "a";
    case LinkKind::area:
      return "area";
    case LinkKind::frame:
      return "frame";
    case LinkKind::iframe:
      return "iframe";
    case LinkKind::refresh:
      return "refresh";
    case LinkKind::canonical:
      return "canonical";
    case LinkKind::alternate:
      return "alternate";
    case LinkKind::next:
      return "next";
    case LinkKind::prev:
      return "prev";
    case LinkKind::image:
      return "image";
    case LinkKind::media:
      return "media";
    case LinkKind::script:
      return "script";
    case LinkKind::icon:
      return "icon";
    case LinkKind::object:
      return "object";
    case LinkKind::resource:
      return "resource";
    case LinkKind::stylesheet:
      return "stylesheet";
    case LinkKind::style_url:
      return "style-url";
    case LinkKind::cite:
      return "cite";
    case LinkKind::form:
      return "form";
    case LinkKind::json_ld:
      return "json-ld";
    case LinkKind::script_text:
      return "script-text";
    case LinkKind::text:
      return "text";
  }
  return "";
}

LinkGroup group_of(LinkKind kind) {
  if (kind <= LinkKind::prev) return LinkGroup::navigation;
  if (kind <= LinkKind::resource) return LinkGroup::resources;
  switch (kind) {
    case LinkKind::stylesheet:
    case LinkKind::style_url:
      return LinkGroup::styles;
    case LinkKind::cite:
      return LinkGroup::cites;
    case LinkKind::form:
      return LinkGroup::forms;
    case LinkKind::json_ld:
      return LinkGroup::json_ld;
    case LinkKind::script_text:
      return LinkGroup::scripts;
    default:
      return LinkGroup::text;
  }
}

LinkChoice LinkChoice::from(const std::vector<std::string>& words) {
  LinkChoice choice;
  for (const std::string& word : words) {
    choice.resources |= word == "resources";
    choice.styles |= word == "styles";
    choice.cites |= word == "cites";
    choice.forms |= word == "forms";
    choice.json_ld |= word == "json-ld";
    choice.scripts |= word == "scripts";
    choice.text |= word == "text";
  }
  return choice;
}

bool LinkChoice::has(LinkGroup group) const {
  switch (group) {
    case LinkGroup::navigation:
      return true;
    case LinkGroup::resources:
      return resources;
    case LinkGroup::styles:
      return styles;
    case LinkGroup::cites:
      return cites;
    case LinkGroup::forms:
      return forms;
    case LinkGroup::json_ld:
      return json_ld;
    case LinkGroup::scripts:
      return scripts;
    case LinkGroup::text:
      return text;
  }
  return false;
}

}  // namespace orbweaver
