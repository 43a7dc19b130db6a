// Owns OpenSSL's objects.
#pragma once

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

namespace farvec::rpc {

template <auto free>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};

using BioHandle = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using X509Handle = std::unique_ptr<X509, OpensslFree<X509_free>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using SslContextHandle = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;
using SslHandle = std::unique_ptr<SSL, OpensslFree<SSL_free>>;

inline BioHandle bio_over(const std::string& text) {
  return BioHandle(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// Returns the certificates of a PEM text, in its order. It reads to the end of the text, whose
/// length load_tls() limits.
inline std::vector<X509Handle> parse_certificates(const std::string& pem) {
  std::vector<X509Handle> certificates;
  const BioHandle bio = bio_over(pem);
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  return certificates;
}

/// Returns null also for an encrypted key: a daemon cannot ask a person for the password.
inline KeyHandle parse_key(const std::string& pem) {
  const auto no_password = [](char*, int, int, void*) { return 0; };
  return KeyHandle(PEM_read_bio_PrivateKey(bio_over(pem).get(), nullptr, no_password, nullptr));
}

}  // namespace farvec::rpc
