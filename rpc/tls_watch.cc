#include "rpc/tls_watch.h"

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <string_view>

#include "base/check.h"
#include "rpc/openssl_handles.h"

namespace farvec::rpc {
namespace {

/// The peer of the TlsPeerScope in which this thread is. Nothing suspends inside a scope.
thread_local const TlsPeer* scope_peer = nullptr;

/// The data attached to a watched session, which ends with it.
struct Watched {
  TlsPeer peer;
  SSL_verify_cb decide = nullptr;  ///< gRPC's own, if any
  bool reported = false;
};

void report(Watched& watched, std::string reason, std::string subject = {}) {
  watched.reported = true;
  const std::string line = watched.peer.log->line(
      {watched.peer.name, std::move(reason), std::move(subject)}, RefusalLog::Clock::now());
  if (!line.empty()) spdlog::warn("{}", line);
}

std::string subject_of(X509_STORE_CTX* store) {
  const X509* certificate = X509_STORE_CTX_get0_cert(store);
  if (certificate == nullptr) return {};
  const BioHandle text(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(text.get(), &bytes);
  return {bytes, static_cast<std::size_t>(count)};
}

int session_index();

Watched* watched_of(const SSL* session) {
  return static_cast<Watched*>(SSL_get_ex_data(session, session_index()));
}

int on_verified(int good, X509_STORE_CTX* store) {
  const auto* session = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  Watched* const watched = watched_of(session);
  if (watched == nullptr) return good;
  if (watched->decide != nullptr) good = watched->decide(good, store);
  if (good != 1) {
    const int error = X509_STORE_CTX_get_error(store);
    report(
        *watched,
        fmt::format("its certificate is not accepted ({})", X509_verify_cert_error_string(error)),
        subject_of(store));
  }
  return good;
}

/// The reason for an alert that this end is sending.
std::string reason_of_error() {
  const unsigned long error = ERR_peek_last_error();
  if (ERR_GET_REASON(error) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    return "it shows no certificate";
  }
  const char* words = ERR_reason_error_string(error);
  return fmt::format("the TLS handshake failed ({})", words != nullptr ? words : "no reason given");
}

/// Handles fatal alerts of a handshake, in both directions. The alert that follows a certificate
/// that was not accepted says nothing new.
void on_message(int sent, int, int type, const void* bytes, std::size_t count, SSL* session,
                void*) {
  if (type != SSL3_RT_ALERT || count != 2) return;
  const auto* alert = static_cast<const unsigned char*>(bytes);
  Watched* const watched = alert[0] == SSL3_AL_FATAL ? watched_of(session) : nullptr;
  if (watched == nullptr || watched->reported || SSL_is_init_finished(session) != 0) return;
  if (sent != 0) {
    report(*watched, reason_of_error());
  } else {
    report(*watched, fmt::format("it does not accept our certificate, or the connection ({})",
                                 SSL_alert_desc_string_long(alert[1])));
  }
}

/// Called when this thread makes a session. Only a session that asks for certificates is watched.
void on_new(void* parent, void*, CRYPTO_EX_DATA* data, int index, long, void*) {
  auto* const session = static_cast<SSL*>(parent);
  const int mode = SSL_get_verify_mode(session);
  if (scope_peer == nullptr || (mode & SSL_VERIFY_PEER) == 0) return;
  auto watched = std::make_unique<Watched>();
  watched->peer = *scope_peer;
  watched->decide = SSL_get_verify_callback(session);
  if (CRYPTO_set_ex_data(data, index, watched.get()) != 1) return;
  (void)watched.release();  // on_free() owns it now
  SSL_set_verify(session, mode, on_verified);
  SSL_set_msg_callback(session, on_message);
}

/// A copy of a session is not watched.
int on_copy(CRYPTO_EX_DATA*, const CRYPTO_EX_DATA*, void** value, int, long, void*) {
  *value = nullptr;
  return 1;
}

/// Called when a session ends. A handshake that failed without an alert was not TLS: OpenSSL sends
/// no alert to a peer that does not speak TLS.
void on_free(void* parent, void* value, CRYPTO_EX_DATA*, int, long, void*) {
  const std::unique_ptr<Watched> watched(static_cast<Watched*>(value));
  if (watched == nullptr || watched->reported) return;
  const std::string_view state = SSL_state_string_long(static_cast<const SSL*>(parent));
  if (state == "error") report(*watched, "it does not speak TLS");
}

/// The index under which OpenSSL keeps the data attached to a session. Sessions that are made from
/// then on are watched.
int session_index() {
  static const int index =
      CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, nullptr, on_new, on_copy, on_free);
  return index;
}

void on_grpc_log(gpr_log_func_args* message) {
  const std::string_view text = message->message;
  if (text.starts_with("Handshake failed with fatal error")) return;
  const auto level = message->severity == GPR_LOG_SEVERITY_ERROR  ? spdlog::level::err
                     : message->severity == GPR_LOG_SEVERITY_INFO ? spdlog::level::info
                                                                  : spdlog::level::debug;
  spdlog::log(level, "gRPC: {}", text);
}

}  // namespace

TlsPeerScope::TlsPeerScope(const TlsPeer& peer) {
  FARVEC_CHECK(scope_peer == nullptr, "a thread hands over one connection at a time");
  scope_peer = &peer;
}

TlsPeerScope::~TlsPeerScope() {
  scope_peer = nullptr;
}

void watch_tls() {
  static std::once_flag once;
  std::call_once(once, [] {
    (void)session_index();
    gpr_set_log_function(on_grpc_log);
  });
}

}  // namespace farvec::rpc
