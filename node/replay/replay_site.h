// The site of `orbweaver replay`: packages of archives (node/archive/wacz.h), and ReplayWeb.page, which shows them in a
// browser. Read only. Thread rule: answer() from any thread, after everything was added.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/archive/byte_view.h"
#include "node/archive/wacz.h"
#include "node/base.h"
#include "node/http_server/http_server.h"

namespace orbweaver {

class ReplaySite {
 public:
  // `viewer`: the directory with ReplayWeb.page's files (deploy/replay-viewer). `only_here`: requests for host names
  // other than localhost are refused, so that no web page can reach the site under a name of its own. Errors:
  // invalid_input when a file is missing.
  static Result<ReplaySite> open(const std::string& viewer, bool only_here);

  void add(archive::PackageOfRing package, archive::ByteView bytes);
  // Call no add() after this. `title`: of all packages together.
  void finish(const std::string& title, Time created);
  std::size_t packages() const { return packages_.size(); }

  HttpAnswer answer(const RequestHead& request) const;

 private:
  struct Served {
    std::string type;
    archive::ByteView bytes;
  };
  bool is_for_here(const RequestHead& request) const;

  bool only_here_ = true;
  std::map<std::string, Served, std::less<>> files_;  // by path
  std::vector<archive::PackageOfRing> packages_;
  std::string ring_;  // ring.json
};

}  // namespace orbweaver
