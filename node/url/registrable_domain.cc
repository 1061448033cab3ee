#include "node/url/registrable_domain.h"

#include <libpsl.h>

#include "node/url/url_host.h"

namespace orbweaver {

std::string registrable_domain(std::string_view host) {
  std::string domain(host);
  // The built-in list: the same on every peer with the same libpsl. Without one, every host is its own domain.
  const psl_ctx_t* const list = psl_builtin();
  if (list == nullptr || is_ip_address(host)) return domain;
  const char* const found = psl_registrable_domain(list, domain.c_str());  // points into `domain`
  return found == nullptr ? domain : std::string(found);
}

}  // namespace orbweaver
