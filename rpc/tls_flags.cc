#include "rpc/tls_flags.h"

#include <vector>

#include "base/command_line.h"
#include "base/option_rules.h"

namespace farvec::rpc {

void add_tls_flags(Command& app, TlsFiles& files) {
  constexpr const char* kGroup = "Mutual TLS over TCP (scripts/tls/make-certs.sh makes test files)";
  app.add_option("--tls-cert", files.certificate, "PEM certificate to show to peers").group(kGroup);
  app.add_option("--tls-key", files.key, "Its key").group(kGroup);
  app.add_option("--tls-ca", files.authority, "PEM certificates of the authority that peers need")
      .group(kGroup);
}

void refuse_tls_flags(const Command& app, const std::string& where) {
  refuse_unused(app, std::vector<OptionRule>{{"--tls-cert", false, where},
                                             {"--tls-key", false, where},
                                             {"--tls-ca", false, where}});
}

}  // namespace farvec::rpc
