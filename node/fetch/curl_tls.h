// What is wrong with a server's certificate, by name, and whether that ends the transfer: OpenSSL's verification under
// libcurl, which itself only tells that something failed.
//
// Chain, dates and name are judged by OpenSSL in one go (RFC 5280; the name by RFC 6125), the first fault counts.
// Thread rule: the fetcher's thread.
#pragma once

#include <curl/curl.h>

#include <string>

#include "node/fetch/fetcher.h"

namespace orbweaver {

// Filled while the handshake runs; must outlive it.
struct TlsCheck {
  std::string host;                     // name or IP address that the certificate must be for
  bool refuse = true;                   // a fault ends the handshake
  FetchError fault = FetchError::none;  // tls_expired, tls_wrong_name, tls_self_signed, tls_untrusted
  std::string words;                    // OpenSSL's, for people
};

// Puts `check` into the handshakes of `easy`.
void check_certificates(CURL* easy, TlsCheck& check);

}  // namespace orbweaver
