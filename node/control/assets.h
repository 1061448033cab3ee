// The files of the dashboard's page (node/control/page), which are in the program. Made by node/control/embed.py. Pure.
#pragma once

#include <string_view>

namespace orbweaver {

struct Asset {
  std::string_view path;  // "/", "/dashboard.js"
  std::string_view type;
  std::string_view content;
};

// Null: there is none.
const Asset* find_asset(std::string_view path);

}  // namespace orbweaver
