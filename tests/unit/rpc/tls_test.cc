#include "rpc/tls.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <fstream>

#include "rpc/memory_node.grpc.pb.h"
#include "rpc/status.h"
#include "tests/unit/rpc/tls_fixture.h"

namespace farvec::rpc {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using tests::message_of;
namespace v1 = memory_node::v1;

/// Answers with the identity of the caller.
class WhoAmI : public v1::MemoryNode::Service {
 public:
  grpc::Status Describe(grpc::ServerContext* context, const v1::DescribeRequest*,
                        v1::DescribeResponse* response) override {
    response->set_backing(peer_identity(*context->auth_context()));
    return grpc::Status::OK;
  }
};

std::string identity_seen_over(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + 20s);
  v1::DescribeResponse response;
  const auto status = v1::MemoryNode::NewStub(channel)->Describe(&context, {}, &response);
  return status.ok() ? response.backing() : describe(status);
}

class TlsTest : public TlsFixture {
 protected:
  std::unique_ptr<Server> serve(std::shared_ptr<const Tls> tls,
                                const std::string& address = "127.0.0.1:0") {
    return TlsFixture::serve(std::move(tls), address, {&service_});
  }
  static std::string failure(const Server& server, std::shared_ptr<const Tls> tls) {
    return TlsFixture::failure(server, with(std::move(tls)));
  }

  WhoAmI service_;
};

TEST_F(TlsTest, TheServerKnowsWhoCalls) {
  const auto server = serve(ours->load("node"));
  for (const char* host : {"127.0.0.1", "localhost"}) {
    Address address = server->address();
    address.host = host;
    const auto client = identity_seen_over(connect(address, with(ours->load("client"))));
    EXPECT_THAT(client, AllOf(HasSubstr("CN=client"), HasSubstr("[client, localhost, ")));
    const auto other = identity_seen_over(connect(address, with(ours->load("other"))));
    EXPECT_THAT(other, HasSubstr("CN=other"));
  }
}

TEST_F(TlsTest, NobodyIsKnownWithoutCertificates) {
  const auto server = serve(nullptr);
  EXPECT_EQ(identity_seen_over(connect(server->address())), "local");
}

TEST_F(TlsTest, AUnixSocketStaysPlain) {
  const tests::TemporaryFolder folder;
  const auto server = serve(ours->load("node"), "unix:" + folder.file("s"));
  EXPECT_EQ(identity_seen_over(connect(server->address())), "local");
  EXPECT_EQ(identity_seen_over(connect(server->address(), with(ours->load("client")))), "local");
}

TEST_F(TlsTest, CertificatesMakeAnOpenAddressSafe) {
  EXPECT_THAT(message_of([&] { serve(nullptr, "0.0.0.0:0"); }), HasSubstr("--tls-cert"));
  EXPECT_NE(serve(ours->load("node"), "0.0.0.0:0")->address().port, 0);
}

TEST_F(TlsTest, ThePeerIsToldWhatIsWrong) {
  const auto server = serve(ours->load("node"));
  EXPECT_THAT(failure(*server, nullptr),
              AllOf(HasSubstr(to_string(server->address())), HasSubstr("it demands TLS"),
                    HasSubstr("--tls-cert")));
  EXPECT_THAT(failure(*server, foreign->load("client")),
              AllOf(HasSubstr("its certificate is not accepted"), HasSubstr("--tls-ca")));
  Tls half = *foreign->load("client");
  half.authority = ours->load("client")->authority;  // it trusts us, and we do not trust it
  EXPECT_THAT(failure(*server, std::make_shared<Tls>(half)),
              HasSubstr("is our certificate of its authority"));
  EXPECT_THAT(failure(*server, load_unchecked(ours->files("expired"))),
              HasSubstr("is our certificate of its authority, and valid?"));
}

TEST_F(TlsTest, APlainOrMisplacedServerIsNamed) {
  EXPECT_THAT(failure(*serve(nullptr), ours->load("client")), HasSubstr("does not speak TLS"));
  const tests::TlsCertificates old("--days -1");
  EXPECT_THAT(
      failure(*serve(load_unchecked(old.files("node"))), load_unchecked(old.files("client"))),
      AllOf(HasSubstr("its certificate is not accepted"), HasSubstr("expired")));
  EXPECT_THAT(failure(*serve(ours->load("client")), ours->load("client")),
              HasSubstr("its certificate is not accepted"));  // it may not serve
}

TEST_F(TlsTest, ACertificateForAnotherHostIsRefused) {
  const auto server = serve(ours->load("node"), "0.0.0.0:0");
  Address elsewhere = server->address();
  elsewhere.host = "127.0.0.2";
  EXPECT_THAT(message_of([&] { connect(elsewhere, with(ours->load("client"))); }),
              HasSubstr("its certificate is for other hosts"));
}

TEST_F(TlsTest, NoFileMeansNoTls) {
  EXPECT_EQ(load_tls({}), nullptr);
}

TEST_F(TlsTest, FilesThatDoNotFitAreNamed) {
  const TlsFiles good = ours->files("client");
  const auto refusal = [](TlsFiles files) { return message_of([&] { load_tls(files); }); };
  const std::string other_key = ours->files("other").key;
  EXPECT_THAT(refusal({good.certificate, good.key, ""}), HasSubstr("--tls-ca is missing"));
  EXPECT_THAT(refusal({"", good.key, good.authority}), HasSubstr("--tls-cert is missing"));
  EXPECT_THAT(refusal({"/nonexistent.crt", good.key, good.authority}),
              AllOf(HasSubstr("--tls-cert"), HasSubstr("/nonexistent.crt")));
  EXPECT_THAT(refusal({good.key, good.key, good.authority}),
              AllOf(HasSubstr("--tls-cert"), HasSubstr("no PEM certificate")));
  EXPECT_THAT(refusal({good.certificate, good.certificate, good.authority}),
              AllOf(HasSubstr("--tls-key"), HasSubstr("no PEM key")));
  EXPECT_THAT(refusal({good.certificate, other_key, good.authority}),
              AllOf(HasSubstr(other_key), HasSubstr("is not the key of")));
  EXPECT_THAT(refusal({good.certificate, good.key, good.key}),
              AllOf(HasSubstr("--tls-ca"), HasSubstr("no PEM certificate")));
  EXPECT_THAT(refusal(ours->files("expired")),
              AllOf(HasSubstr("--tls-cert"), HasSubstr("expired.crt expired on")));
  EXPECT_THAT(refusal({"/", good.key, good.authority}), HasSubstr("--tls-cert"));
  const std::string expired = ours->files("expired").certificate;
  EXPECT_THAT(refusal({good.certificate, good.key, expired}),
              AllOf(HasSubstr("--tls-ca"), HasSubstr("expired.crt expired on")));
}

TEST_F(TlsTest, ABundleOfAuthoritiesMayCarryOneThatExpired) {
  TlsFiles files = ours->files("node");
  const std::string bundle = ours->files("node").authority + ".bundle";
  std::ofstream(bundle) << std::ifstream(ours->files("expired").certificate).rdbuf()
                        << std::ifstream(files.authority).rdbuf();
  files.authority = bundle;
  EXPECT_NE(load_tls(files), nullptr);
}

}  // namespace
}  // namespace farvec::rpc
