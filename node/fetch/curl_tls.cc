#include "node/fetch/curl_tls.h"

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <exception>

#include "node/settings/cidr.h"

namespace orbweaver {
namespace {

FetchError fault_of(int error) {
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return FetchError::tls_expired;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return FetchError::tls_wrong_name;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return FetchError::tls_self_signed;
    default:
      return FetchError::tls_untrusted;
  }
}

// `preverified`: 1 when OpenSSL found nothing wrong so far.
int on_verify(int preverified, X509_STORE_CTX* store) {
  if (preverified == 1) return 1;
  const auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* check = ssl == nullptr ? nullptr : static_cast<TlsCheck*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  if (check == nullptr) return 0;
  const int error = X509_STORE_CTX_get_error(store);
  if (check->fault == FetchError::none) {
    check->fault = fault_of(error);
    try {
      check->words = X509_verify_cert_error_string(error);
    } catch (const std::exception&) {
      check->words.clear();  // no memory for the words; the fault itself is reported
    }
  }
  if (check->refuse) return 0;
  X509_STORE_CTX_set_error(store, X509_V_OK);
  return 1;
}

CURLcode on_context(CURL*, void* context, void* argument) {
  auto* ctx = static_cast<SSL_CTX*>(context);
  auto* check = static_cast<TlsCheck*>(argument);
  X509_VERIFY_PARAM* rules = SSL_CTX_get0_param(ctx);
  X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool is_ip = parse_ip(check->host).has_value();
  const int named = is_ip ? X509_VERIFY_PARAM_set1_ip_asc(rules, check->host.c_str())
                          : X509_VERIFY_PARAM_set1_host(rules, check->host.data(), check->host.size());
  if (named != 1) return CURLE_SSL_CONNECT_ERROR;
  SSL_CTX_set_app_data(ctx, check);
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, &on_verify);
  // No second handshake on a connection (TLS 1.2): `check` belongs to the transfer that opened it.
  SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
  return CURLE_OK;
}

}  // namespace

void check_certificates(CURL* easy, TlsCheck& check) {
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);  // OpenSSL verifies; the callback judges
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);  // OpenSSL checks the name too
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &on_context);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, &check);
}

}  // namespace orbweaver
