// Servers and clients with certificates of our authority and of another one.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "rpc/channel.h"
#include "rpc/server.h"
#include "tests/unit/message_of.h"
#include "tests/unit/tls_certificates.h"

namespace farvec::rpc {

/// A pair that load_tls() would refuse.
inline std::shared_ptr<const Tls> load_unchecked(const TlsFiles& files) {
  const auto read = [](const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  return std::make_shared<Tls>(
      Tls{read(files.certificate), read(files.key), read(files.authority)});
}

class TlsFixture : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ours = std::make_unique<tests::TlsCertificates>();
    foreign = std::make_unique<tests::TlsCertificates>();
  }
  static void TearDownTestSuite() {
    ours.reset();
    foreign.reset();
  }

  static std::unique_ptr<Server> serve(std::shared_ptr<const Tls> tls,
                                       const std::string& address = "127.0.0.1:0",
                                       std::vector<grpc::Service*> services = {}) {
    ServerOptions options;
    options.address = parse_address(address);
    options.tls = std::move(tls);
    options.services = std::move(services);
    return std::make_unique<Server>(std::move(options));
  }
  static ConnectOptions with(std::shared_ptr<const Tls> tls) {
    ConnectOptions options;
    options.tls = std::move(tls);
    return options;
  }
  /// What connecting fails with.
  static std::string failure(const Server& server, const ConnectOptions& options) {
    return tests::message_of([&] { connect(server.address(), options); });
  }

  static inline std::unique_ptr<tests::TlsCertificates> ours, foreign;
};

}  // namespace farvec::rpc
