// The fault of a server's certificate, by name, and whether it ends the transfer. Uses OpenSSL's verification under
// libcurl, because libcurl only reports that something failed.
//
// OpenSSL judges chain, dates and name together (RFC 5280; the name by RFC 6125); the first fault counts.
// Thread rule: the fetcher's thread.
#pragma once

#include <curl/curl.h>

#include <string>

#include "node/fetch/fetcher.h"

namespace orbweaver {

// Filled while the handshake runs; must outlive it.
struct TlsCheck {
  std::string host;                     // the name or IP address that the certificate must be for
  bool refuse = true;                   // a fault ends the handshake
  FetchError fault = FetchError::none;  // tls_expired, tls_wrong_name, tls_self_signed, tls_untrusted
  std::string words;                    // OpenSSL's, for people
};

// Makes the handshakes of `easy` fill `check`.
void check_certificates(CURL* easy, TlsCheck& check);

}  // namespace orbweaver
