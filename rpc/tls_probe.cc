#include "rpc/tls_probe.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>

#include "base/error.h"
#include "rpc/openssl_handles.h"
#include "rpc/tcp_socket.h"

namespace farvec::rpc {
namespace {

/// OpenSSL writes without MSG_NOSIGNAL; this keeps a peer that hangs up from ending the program.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipe() {
    const timespec now{};
    if (sigismember(&before_, SIGPIPE) == 0) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

SslContextHandle make_context(const Tls* tls) {
  SslContextHandle context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr || tls == nullptr) return context;
  const auto chain = parse_certificates(tls->certificate);
  SSL_CTX_use_certificate(context.get(), chain.empty() ? nullptr : chain.front().get());
  for (std::size_t i = 1; i < chain.size(); ++i) {
    SSL_CTX_add1_chain_cert(context.get(), chain[i].get());
  }
  SSL_CTX_use_PrivateKey(context.get(), parse_key(tls->key).get());
  for (const X509Handle& certificate : parse_certificates(tls->authority)) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), certificate.get());
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  return context;
}

/// Demands that the name or number of the host is in the server's certificate.
void expect_host(SSL* ssl, const std::string& host) {
  X509_VERIFY_PARAM* expected = SSL_get0_param(ssl);
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str()) == 1) return;
  SSL_set1_host(ssl, host.c_str());
  SSL_set_tlsext_host_name(ssl, host.c_str());
}

/// True for a received alert, which OpenSSL numbers 1000 + the alert.
bool is_alert(unsigned long error) {
  return ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET;
}

constexpr const char* kHungUp =
    "it hangs up on us during the TLS handshake; is our certificate of its authority, and valid? "
    "Its log says more";

std::string refusal_of(SSL* ssl) {
  const unsigned long error = ERR_peek_last_error();
  const char* reason = ERR_reason_error_string(error);
  if (is_alert(error)) {
    return fmt::format("it refuses our certificate ({}); is ours of its authority, and valid?",
                       reason);
  }
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    return "its certificate is for other hosts; connect to a name that it holds, or make one that "
           "holds this";
  }
  if (verdict != X509_V_OK) {
    return fmt::format("its certificate is not accepted ({}); is it of the authority in --tls-ca?",
                       X509_verify_cert_error_string(verdict));
  }
  if (ERR_GET_LIB(error) != ERR_LIB_SSL) return "";  // the peer is slow, or the network is broken
  if (ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    // A peer without a certificate of its own may be a proxy whose backend is still starting.
    return SSL_get0_peer_certificate(ssl) != nullptr ? kHungUp : "";
  }
  return fmt::format("it does not speak TLS ({}); start it with certificates, or connect without",
                     reason == nullptr ? "unknown" : reason);
}

/// With TLS 1.3 a server checks the client's certificate after the client has finished. Its refusal
/// is the first thing that can be read, and gRPC's servers just close the connection.
std::string handshake(SSL* ssl) {
  if (SSL_connect(ssl) != 1) return refusal_of(ssl);
  char byte = 0;
  const int got = SSL_read(ssl, &byte, 1);
  if (got == 1 || SSL_get_error(ssl, got) == SSL_ERROR_WANT_READ) return "";
  return is_alert(ERR_peek_last_error()) ? refusal_of(ssl) : kHungUp;
}

}  // namespace

std::string tls_trouble(const Address& address, const Tls* tls,
                        std::chrono::milliseconds patience) {
  if (address.is_unix()) return "";
  const Descriptor socket = connect_tcp(address, patience).socket;
  if (!socket.valid()) return "";
  const NoBrokenPipe guard;
  ERR_clear_error();
  const SslContextHandle context = make_context(tls);
  if (context == nullptr) return "";
  const SslHandle ssl(SSL_new(context.get()));
  if (ssl == nullptr || SSL_set_fd(ssl.get(), socket.get()) != 1) return "";
  constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  SSL_set_alpn_protos(ssl.get(), kHttp2, sizeof(kHttp2));
  std::string trouble;
  if (tls != nullptr) {
    expect_host(ssl.get(), address.host);
    trouble = handshake(ssl.get());
  } else if (SSL_connect(ssl.get()) == 1 || is_alert(ERR_peek_last_error())) {
    trouble = "it demands TLS; give --tls-cert, --tls-key and --tls-ca";
  }
  ERR_clear_error();
  return trouble;
}

}  // namespace farvec::rpc
