#include "node/url/url.h"

namespace orbweaver {

// The URL serialiser (URL standard, 4.5).
std::string Url::href(bool with_fragment) const {
  std::string out;
  out.reserve(scheme_.size() + username_.size() + password_.size() + path_.size() + (host_ ? host_->size() : 0) +
              (query_ ? query_->size() : 0) + (with_fragment && fragment_ ? fragment_->size() : 0) + 16);
  out.append(scheme_).push_back(':');
  if (host_) {
    out.append("//");
    if (!username_.empty() || !password_.empty()) {
      out.append(username_);
      if (!password_.empty()) out.append(":").append(password_);
      out.push_back('@');
    }
    out.append(*host_);
    if (port_) out.append(":").append(std::to_string(*port_));
  } else if (!opaque_path_ && path_.starts_with("//")) {
    out.append("/.");  // else the path's first segment would be treated as a host
  }
  out.append(path_);
  if (query_) out.append("?").append(*query_);
  if (with_fragment && fragment_) out.append("#").append(*fragment_);
  return out;
}

}  // namespace orbweaver
