// Certificates for tests, made by scripts/tls/make-certs.sh.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/error.h"
#include "rpc/tls.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::tests {

/// An authority with the pairs "node", "client" and "other", and "expired" of yesterday.
class TlsCertificates {
 public:
  explicit TlsCertificates(const std::string& options = "") {
    make("--client other " + options);
    make("--client expired --days -1");
  }

  rpc::TlsFiles files(const std::string& name) const {
    return {folder_.file(name + ".crt"), folder_.file(name + ".key"), folder_.file("ca.crt")};
  }
  std::shared_ptr<const rpc::Tls> load(const std::string& name) const {
    return rpc::load_tls(files(name));
  }

 private:
  void make(const std::string& options) const {
    const std::string command = fmt::format("'{}/scripts/tls/make-certs.sh' '{}' {} >/dev/null",
                                            FARVEC_SOURCE_DIR, folder_.file("."), options);
    if (std::system(command.c_str()) != 0) throw Error("this failed: {}", command);
  }

  TemporaryFolder folder_;
};

}  // namespace farvec::tests
