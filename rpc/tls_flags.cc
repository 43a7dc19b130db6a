#include "rpc/tls_flags.h"

#include <CLI/CLI.hpp>

namespace farvec::rpc {

void add_tls_flags(CLI::App& app, TlsFiles& files) {
  constexpr const char* kGroup = "Mutual TLS over TCP (scripts/tls/make-certs.sh makes test files)";
  app.add_option("--tls-cert", files.certificate, "PEM certificate to show to peers")
      ->group(kGroup);
  app.add_option("--tls-key", files.key, "Its key")->group(kGroup);
  app.add_option("--tls-ca", files.authority, "PEM certificates of the authority that peers need")
      ->group(kGroup);
}

}  // namespace farvec::rpc
