#include "rpc/tls.h"

#include <fmt/format.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/input_file.h"
#include "rpc/openssl_handles.h"

namespace farvec::rpc {
namespace {

constexpr std::uint64_t kMaxPemBytes = 1 << 20;

std::string read_pem(const char* option, const std::string& path) {
  try {
    return read_text(path, kMaxPemBytes, "a PEM file");
  } catch (const Error& error) {
    throw Error("{}: {}", option, error.what());
  }
}

void require_all(const TlsFiles& files) {
  const std::pair<const char*, const std::string*> options[] = {{"--tls-cert", &files.certificate},
                                                                {"--tls-key", &files.key},
                                                                {"--tls-ca", &files.authority}};
  for (const auto& [option, path] : options) {
    if (path->empty()) {
      throw Error("--tls-cert, --tls-key and --tls-ca belong together, and {} is missing", option);
    }
  }
}

std::string to_text(const ASN1_TIME* time) {
  const BioHandle bio(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(bio.get(), time);
  char* text = nullptr;
  const long bytes = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(bytes)};
}

/// Says why the certificate is not valid today; empty when it is.
std::string fault_of(const X509Handle& certificate) {
  const ASN1_TIME* begin = X509_get0_notBefore(certificate.get());
  const ASN1_TIME* end = X509_get0_notAfter(certificate.get());
  if (X509_cmp_current_time(end) < 0) return "expired on " + to_text(end);
  if (X509_cmp_current_time(begin) > 0) return "is valid from " + to_text(begin) + " only";
  return {};
}

void require_valid(const char* option, const std::string& path, const X509Handle& certificate) {
  const std::string fault = fault_of(certificate);
  if (!fault.empty()) throw Error("{}: the certificate {} {}", option, path, fault);
}

std::vector<X509Handle> require_certificates(const char* option, const std::string& path,
                                             const std::string& pem) {
  std::vector<X509Handle> certificates = parse_certificates(pem);
  if (certificates.empty()) throw Error("{}: {} holds no PEM certificate", option, path);
  return certificates;
}

/// A bundle may have certificates that have expired: one that is valid today is enough.
void check_authority(const std::string& path, const std::string& pem) {
  const auto certificates = require_certificates("--tls-ca", path, pem);
  for (const X509Handle& certificate : certificates) {
    if (fault_of(certificate).empty()) return;
  }
  require_valid("--tls-ca", path, certificates.front());
}

void check_key(const TlsFiles& files, const Tls& tls, X509* certificate) {
  const KeyHandle key = parse_key(tls.key);
  if (key == nullptr) throw Error("--tls-key: {} holds no PEM key without password", files.key);
  if (X509_check_private_key(certificate, key.get()) == 1) return;
  throw Error("--tls-key: {} is not the key of the certificate {}", files.key, files.certificate);
}

std::string_view view(const grpc::string_ref& text) {
  return {text.data(), text.size()};
}

}  // namespace

std::shared_ptr<const Tls> load_tls(const TlsFiles& files) {
  if (files.certificate.empty() && files.key.empty() && files.authority.empty()) return nullptr;
  require_all(files);
  auto tls = std::make_shared<Tls>();
  tls->certificate = read_pem("--tls-cert", files.certificate);
  tls->key = read_pem("--tls-key", files.key);
  tls->authority = read_pem("--tls-ca", files.authority);
  // The first certificate belongs to this process; the others lead to the authority.
  const auto chain = require_certificates("--tls-cert", files.certificate, tls->certificate);
  require_valid("--tls-cert", files.certificate, chain.front());
  check_key(files, *tls, chain.front().get());
  check_authority(files.authority, tls->authority);
  ERR_clear_error();
  return tls;
}

std::shared_ptr<grpc::ServerCredentials> server_credentials(const Tls* tls,
                                                            const Address& address) {
  if (tls == nullptr || address.is_unix()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = tls->authority;
  options.pem_key_cert_pairs.push_back({tls->key, tls->certificate});
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const Tls* tls,
                                                              const Address& address) {
  if (tls == nullptr || address.is_unix()) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({tls->authority, tls->key, tls->certificate});
}

std::string peer_identity(const grpc::AuthContext& peer) {
  if (!peer.IsPeerAuthenticated()) return "local";
  std::string identity;
  for (const auto& subject : peer.FindPropertyValues(GRPC_X509_SUBJECT_PROPERTY_NAME)) {
    identity += view(subject);
  }
  identity += " [";
  const char* separator = "";
  for (const auto& name : peer.FindPropertyValues(GRPC_X509_SAN_PROPERTY_NAME)) {
    identity += separator;
    identity += view(name);
    separator = ", ";
  }
  return identity + "]";
}

std::vector<std::string> peer_names(const grpc::AuthContext& peer) {
  std::vector<std::string> names;
  if (!peer.IsPeerAuthenticated()) return names;
  for (const char* property : {GRPC_X509_CN_PROPERTY_NAME, GRPC_X509_SAN_PROPERTY_NAME}) {
    for (const auto& name : peer.FindPropertyValues(property)) names.emplace_back(view(name));
  }
  return names;
}

}  // namespace farvec::rpc
