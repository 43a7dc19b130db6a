// A collection behind the daemon: what was acknowledged survives the daemon's death.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "tests/e2e/collection_fixture.h"
#include "tests/unit/tls_certificates.h"

namespace farvec {
namespace {

using tests::ChildProcess;
using tests::CollectionE2e;
using tests::FollowedE2e;
using tests::kDimension;
using tests::kPatience;
using tests::kWriters;
using tests::program;
using tests::Row;
using tests::Writer;
namespace wire = collection::v1;

TEST_F(CollectionE2e, WhatWasAcknowledgedSurvivesAKill) {
  start();
  if (HasFatalFailure()) return;
  std::vector<std::unique_ptr<Writer>> writers;
  std::vector<std::thread> threads;
  for (std::uint64_t w = 0; w < kWriters; ++w) {
    writers.push_back(std::make_unique<Writer>(channel, w));
    threads.emplace_back([&writer = *writers.back()] { writer.run(); });
  }
  std::atomic<bool> stop{false};
  std::atomic<int> searched{0};
  std::thread searcher([&] {
    Random random(99);
    while (!stop) {
      Row query(kDimension);
      for (float& x : query) x = static_cast<float>(random.uniform());
      const auto response = search(query, 10);
      if (response.results_size() == 0) break;
      const auto& distances = response.results(0).distances();
      EXPECT_TRUE(std::is_sorted(distances.begin(), distances.end()));
      ++searched;
    }
  });
  // Several memtables become segments meanwhile.
  for (const auto& writer : writers) {
    EXPECT_TRUE(comes([&] { return writer->acknowledged >= 60; })) << node->output();
  }
  node->signal(SIGKILL);
  for (std::thread& thread : threads) thread.join();
  stop = true;
  searcher.join();
  EXPECT_EQ(node->wait(), 128 + SIGKILL);
  EXPECT_GT(searched, 0);
  start();
  if (HasFatalFailure()) return;
  for (const auto& writer : writers) expect_kept(*writer);
  node->signal(SIGTERM);
  EXPECT_EQ(node->wait(), 0) << node->output();
}

TEST_F(FollowedE2e, SeesWhatTheWriterDidAlsoAfterItsDeath) {
  start();
  follow();
  if (HasFailure()) return;
  Writer writer(channel, 1);
  std::thread thread([&] { writer.run(); });
  EXPECT_TRUE(comes([&] { return writer.acknowledged >= 100; })) << node->output();
  node->signal(SIGKILL);
  thread.join();
  std::size_t live = 0;
  for (const auto& [id, told] : writer.told) {
    if (!told || writer.asked.contains(id)) continue;
    ++live;
    EXPECT_TRUE(comes([&] { return sees(id, *told); })) << "id " << id << follower->output();
  }
  EXPECT_GT(live, 100u);
  start();
  if (HasFailure()) return;
  Writer next(channel, 2);
  std::thread again([&] { next.run(); });
  EXPECT_TRUE(comes([&] { return next.acknowledged >= 20; })) << node->output();
  node->signal(SIGTERM);
  again.join();
  for (const auto& [id, told] : next.told) {
    if (!told || next.asked.contains(id)) continue;
    EXPECT_TRUE(comes([&] { return sees(id, *told); })) << "id " << id << follower->output();
  }
  EXPECT_TRUE(comes([&] { return describe().freshness_ms() < 1e3; }));
  EXPECT_TRUE(describe().has_freshness_ms());
  EXPECT_EQ(describe().follow_failure(), "");
}

TEST_F(FollowedE2e, TakesNoChanges) {
  start();
  follow();
  if (HasFailure()) return;
  wire::DeleteRequest request;
  request.add_ids(1);
  wire::DeleteResponse response;
  grpc::ClientContext context;
  const grpc::Status status =
      wire::Collection::NewStub(sight)->Delete(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  ChildProcess deletes({program("farvec"), "collection", "delete", "--range", "0:1", "--connect",
                        "unix:" + (folder / "follower").string()});
  EXPECT_EQ(deletes.wait(kPatience), 1);
  EXPECT_NE(deletes.output().find("--follow"), std::string::npos) << deletes.output();
}

TEST_F(CollectionE2e, TheNodeIsTheOneWriter) {
  start();
  if (HasFatalFailure()) return;
  ChildProcess second({program("farvec-compute-node"), "--collection", folder / "set", "--listen",
                       "unix:" + (folder / "second").string()});
  EXPECT_EQ(second.wait(kPatience), 1);
  EXPECT_NE(second.output().find("another process"), std::string::npos) << second.output();
}

/// Over TLS: who may search may not change.
class ChangersE2e : public CollectionE2e {
 protected:
  void serve(const std::vector<std::string>& options) {
    const rpc::TlsFiles files = certificates_.files("node");
    address = "127.0.0.1:0";
    writer_options = {"--tls-cert", files.certificate, "--tls-key",
                      files.key,    "--tls-ca",        files.authority};
    writer_options.insert(writer_options.end(), options.begin(), options.end());
    start_process();
    ASSERT_TRUE(node->wait_for_output("listening on ")) << node->output();
    const std::string output = node->output();
    const std::size_t at = output.find("127.0.0.1:");
    where_ = rpc::parse_address(output.substr(at, output.find('\n', at) - at));
  }
  std::shared_ptr<grpc::Channel> as(const std::string& name) {
    auto made = rpc::connect(where_, {.wait = kPatience, .tls = certificates_.load(name)});
    EXPECT_TRUE(comes([&] { return rpc::is_serving(made, std::chrono::seconds(1)); }));
    return made;
  }
  /// Of every call that changes.
  static std::vector<grpc::Status> changes(const std::shared_ptr<grpc::Channel>& channel) {
    const auto stub = wire::Collection::NewStub(channel);
    wire::InsertRequest insert;
    insert.set_type(wire::ELEMENT_TYPE_F32);
    insert.set_dimension(kDimension);
    insert.add_ids(7);
    insert.set_rows(tests::bytes_of(Row(kDimension, 0.5F)));
    wire::InsertResponse inserted;
    wire::DeleteRequest erase;
    erase.add_ids(8);
    wire::DeleteResponse erased;
    wire::AddColumnsRequest columns;
    columns.set_columns(fmt::format("c{}: i64", next_column_++));
    wire::AddColumnsResponse added;
    wire::FlushResponse flushed;
    wire::CompactResponse compacted;
    const auto ask = [](auto call) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kPatience);
      return call(&context);
    };
    return {ask([&](auto* context) { return stub->Insert(context, insert, &inserted); }),
            ask([&](auto* context) { return stub->Delete(context, erase, &erased); }),
            ask([&](auto* context) { return stub->AddColumns(context, columns, &added); }),
            ask([&](auto* context) { return stub->Flush(context, {}, &flushed); }),
            ask([&](auto* context) { return stub->Compact(context, {}, &compacted); })};
  }

  inline static int next_column_ = 0;
  tests::TlsCertificates certificates_;
  rpc::Address where_;
};

TEST_F(ChangersE2e, OnlyACertificateThatIsNamedChangesTheCollection) {
  serve({"--changer", "nobody", "--changer", "client"});
  if (HasFatalFailure()) return;
  for (const grpc::Status& status : changes(as("other"))) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
    EXPECT_NE(status.error_message().find("CN=other"), std::string::npos);
    EXPECT_NE(status.error_message().find("--changer"), std::string::npos);
  }
  for (const grpc::Status& status : changes(as("client"))) {
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  channel = as("other");
  EXPECT_EQ(get(7), Row(kDimension, 0.5F)) << "searching and getting are everybody's";
  EXPECT_EQ(search(Row(kDimension, 0.5F), 1).results_size(), 1);
}

TEST_F(ChangersE2e, WithoutAnyNameNoCertificateDoes) {
  serve({});
  if (HasFatalFailure()) return;
  for (const grpc::Status& status : changes(as("client"))) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  }
  const rpc::TlsFiles files = certificates_.files("client");
  ChildProcess deletes({program("farvec"), "collection", "delete", "--range", "0:1", "--connect",
                        rpc::to_string(where_), "--tls-cert", files.certificate, "--tls-key",
                        files.key, "--tls-ca", files.authority});
  EXPECT_EQ(deletes.wait(kPatience), 1);
  EXPECT_NE(deletes.output().find("--changer"), std::string::npos) << deletes.output();
}

TEST_F(ChangersE2e, ANameThatMeansNothingIsRefused) {
  writer_options = {"--changer", "client"};
  start_process();
  EXPECT_EQ(node->wait(kPatience), 1);
  EXPECT_NE(node->output().find("--tls-cert"), std::string::npos) << node->output();
}

}  // namespace
}  // namespace farvec
