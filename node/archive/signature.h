// Signs a package without a name ("anonymous", WACZ-auth 0.1.0, 3.1): ECDSA over P-384 with SHA-256. The same key in
// several packages says that one hand made them. Thread rule: one owner.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver::archive {

class SigningKey {
 public:
  // Reads a private key (PEM). A missing file is made, with a new key, for its owner alone. Errors: invalid_input when
  // the file holds no P-384 key; io.
  static Result<SigningKey> load_or_make(const std::string& path);
  ~SigningKey();
  SigningKey(SigningKey&&) noexcept;

  Result<std::string> sign(std::string_view text) const;  // r and s, 48 bytes each, in base64
  Result<std::string> public_key() const;                 // SubjectPublicKeyInfo (DER) in base64

 private:
  struct Impl;
  explicit SigningKey(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orbweaver::archive
