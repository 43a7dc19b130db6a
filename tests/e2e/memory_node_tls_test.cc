// farvec-memory-node with certificates: who may attach, and whom a lease obeys.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "rpc/channel.h"
#include "tests/e2e/child_process.h"
#include "tests/unit/layout/index/index_fixture.h"
#include "tests/unit/tls_certificates.h"
#include "tiers/attach/attachment.h"

namespace farvec {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
namespace v1 = memory_node::v1;

class MemoryNodeTls : public testing::Test {
 protected:
  MemoryNodeTls() { index_.write(directory_); }

  std::vector<std::string> command(const rpc::TlsFiles& files) const {
    return {tests::program("farvec-memory-node"),
            "--index",
            directory_,
            "--listen",
            "127.0.0.1:0",
            "--grant",
            folder_.path() / "grant",
            "--tls-cert",
            files.certificate,
            "--tls-key",
            files.key,
            "--tls-ca",
            files.authority};
  }
  /// Where it listens: the kernel chose the port.
  static rpc::Address address_of(tests::ChildProcess& node) {
    EXPECT_TRUE(node.wait_for_output("serving")) << node.output();
    const std::string output = node.output();
    const std::size_t at = output.find("127.0.0.1:");
    return rpc::parse_address(output.substr(at, output.find(": ", at) - at));
  }
  std::unique_ptr<v1::MemoryNode::Stub> stub_of(const rpc::Address& address,
                                                const std::string& name) const {
    rpc::ConnectOptions options;
    options.tls = certificates_.load(name);
    return v1::MemoryNode::NewStub(rpc::connect(address, options));
  }

  tests::TlsCertificates certificates_;
  layout::TemporaryFolder folder_;
  std::string directory_ = (folder_.path() / "index").string();
  layout::RandomIndex index_;
};

TEST_F(MemoryNodeTls, ACertificateAttachesAndNoneDoesNot) {
  tests::ChildProcess node(command(certificates_.files("node")));
  tiers::AttachOptions options;
  options.memory_node = address_of(node);
  options.tls = certificates_.load("client");
  const auto attachment = tiers::Attachment::attach(options);
  EXPECT_TRUE(attachment->alive());
  EXPECT_GT(attachment->make_endpoint()->region_bytes(0), 0u);
  EXPECT_THAT(node.output(), HasSubstr("CN=client"));
  options.tls = nullptr;
  try {
    tiers::Attachment::attach(options);
    FAIL() << "it attached";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("it demands TLS"));
  }
}

TEST_F(MemoryNodeTls, OnlyAPublisherWritesTheLog) {
  auto words = command(certificates_.files("node"));
  words.insert(words.end(), {"--log-bytes", "64KiB", "--publisher", "client"});
  tests::ChildProcess node(words);
  const rpc::Address address = address_of(node);
  const auto attach = [&](const std::string& name, v1::LogAccess access) {
    v1::AttachLogRequest request;
    request.set_access(access);
    v1::AttachLogResponse response;
    grpc::ClientContext context;
    return stub_of(address, name)->AttachLog(&context, request, &response);
  };
  const grpc::Status refused = attach("other", v1::LOG_WRITE);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(refused.error_message(), HasSubstr("--publisher"));
  EXPECT_TRUE(attach("other", v1::LOG_READ).ok());
  EXPECT_TRUE(attach("client", v1::LOG_WRITE).ok());
}

TEST_F(MemoryNodeTls, APublisherHasOnlyWhatLiesInFoldersLoaded) {
  const auto elsewhere = folder_.path() / "elsewhere";
  const auto secret = folder_.path() / "elsewhere" / "secret";
  std::filesystem::create_directory(elsewhere);
  layout::RandomIndex().write(elsewhere / "index");
  std::ofstream(secret) << std::string(100, 's');
  auto words = command(certificates_.files("node"));
  words.insert(words.end(), {"--publisher", "client", "--segment-bytes", "1MiB"});
  const auto code_of = [&](const rpc::Address& address, const std::string& index) {
    v1::LoadRequest request;
    request.set_index(index);
    v1::LoadResponse response;
    grpc::ClientContext context;
    return stub_of(address, "client")->Load(&context, request, &response).error_code();
  };
  const auto catalogue = [&](const rpc::Address& address, const std::string& path) {
    v1::LoadCatalogueRequest request;
    request.mutable_file()->set_path(path);
    request.mutable_file()->set_bytes(100);
    v1::LoadSegmentResponse response;
    grpc::ClientContext context;
    return stub_of(address, "client")->LoadCatalogue(&context, request, &response);
  };
  {
    std::filesystem::create_directory(folder_.path() / "own");
    auto narrow = words;
    narrow[2] = (folder_.path() / "own" / "index").string();
    index_.write(narrow[2]);
    tests::ChildProcess node(narrow);
    const rpc::Address address = address_of(node);
    layout::RandomIndex().write(folder_.path() / "own" / "next");
    EXPECT_EQ(code_of(address, folder_.path() / "own" / "next"), grpc::StatusCode::OK);
    EXPECT_EQ(code_of(address, elsewhere / "index"), grpc::StatusCode::PERMISSION_DENIED);
    EXPECT_EQ(code_of(address, folder_.path() / "absent"), grpc::StatusCode::PERMISSION_DENIED);
    EXPECT_EQ(catalogue(address, secret).error_code(), grpc::StatusCode::PERMISSION_DENIED);
    EXPECT_EQ(catalogue(address, "/etc/passwd").error_code(), grpc::StatusCode::PERMISSION_DENIED);
  }
  words.insert(words.end(), {"--load-from", elsewhere});
  tests::ChildProcess node(words);
  const rpc::Address address = address_of(node);
  EXPECT_EQ(code_of(address, directory_), grpc::StatusCode::PERMISSION_DENIED)
      << "in place of the folder of --index";
  EXPECT_EQ(code_of(address, elsewhere / "index"), grpc::StatusCode::OK);
  const grpc::Status refused = catalogue(address, secret);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  const grpc::Status absent = catalogue(address, elsewhere / "absent");
  EXPECT_EQ(absent.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  const auto without = [](std::string message, const std::string& path) {
    return message.replace(message.find(path), path.size(), "");
  };
  EXPECT_EQ(without(refused.error_message(), secret),
            without(absent.error_message(), elsewhere / "absent"));
  EXPECT_THAT(node.output(), HasSubstr("is no catalogue of a collection"));
}

TEST_F(MemoryNodeTls, ALeaseObeysItsOwnerOnly) {
  tests::ChildProcess node(command(certificates_.files("node")));
  const rpc::Address address = address_of(node);
  const auto owner = stub_of(address, "client");
  const auto other = stub_of(address, "other");
  v1::AttachResponse attached;
  grpc::ClientContext attach;
  ASSERT_TRUE(owner->Attach(&attach, {}, &attached).ok());
  const auto renew = [&](v1::MemoryNode::Stub& stub) {
    v1::RenewRequest request;
    request.set_lease_id(attached.lease_id());
    v1::RenewResponse response;
    grpc::ClientContext context;
    return stub.Renew(&context, request, &response);
  };
  const auto detach = [&](v1::MemoryNode::Stub& stub) {
    v1::DetachRequest request;
    request.set_lease_id(attached.lease_id());
    v1::DetachResponse response;
    grpc::ClientContext context;
    return stub.Detach(&context, request, &response);
  };
  const grpc::Status refused = renew(*other);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(refused.error_message(), HasSubstr("CN=other"));
  EXPECT_EQ(detach(*other).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(renew(*owner).ok());
  EXPECT_TRUE(detach(*stub_of(address, "client")).ok());  // the identity counts, not the connection
  EXPECT_EQ(renew(*owner).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(MemoryNodeTls, PublishingTakesANamedCertificate) {
  auto words = command(certificates_.files("node"));
  words.insert(words.end(), {"--publisher", "client"});
  tests::ChildProcess node(words);
  const rpc::Address address = address_of(node);
  const auto load = [&](const std::string& name) {
    v1::LoadRequest request;
    request.set_index(directory_);
    v1::LoadResponse response;
    grpc::ClientContext context;
    return stub_of(address, name)->Load(&context, request, &response);
  };
  const grpc::Status refused = load("other");
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(refused.error_message(), HasSubstr("CN=other"));
  const grpc::Status done = load("client");
  EXPECT_TRUE(done.ok()) << done.error_message();
}

TEST_F(MemoryNodeTls, FilesThatCannotServeEndIt) {
  tests::ChildProcess expired(command(certificates_.files("expired")));
  EXPECT_EQ(expired.wait(), 1);
  EXPECT_THAT(expired.output(), HasSubstr("expired.crt expired on"));
  rpc::TlsFiles files = certificates_.files("node");
  files.key = certificates_.files("client").key;
  tests::ChildProcess mismatched(command(files));
  EXPECT_EQ(mismatched.wait(), 1);
  EXPECT_THAT(mismatched.output(), HasSubstr("client.key is not the key of the certificate"));
}

}  // namespace
}  // namespace farvec
