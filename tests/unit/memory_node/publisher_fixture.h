// Indexes that a memory node publishes while leases are held.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "layout/collection/index_attributes.h"
#include "layout/index/index_directory.h"
#include "tests/unit/memory_node/served_node.h"

namespace farvec::memory_node {

class PublisherTest : public ServedNode {
 protected:
  PublisherTest() {
    layout::RandomIndex(500).write(first_);
    layout::RandomIndex(800).write(second_);
  }

  void start() {
    make({});
    publisher_->publish(first_);
    serve();
  }

  grpc::Status load(const std::string& index) const {
    v1::LoadRequest request;
    request.set_index(index);
    v1::LoadResponse response;
    grpc::ClientContext context;
    return stub_->Load(&context, request, &response);
  }
  /// Gives each row of the second index this value.
  void give_attributes(const char* text, const layout::Value& value) const {
    const layout::Manifest manifest = layout::IndexDirectory::open(second_).manifest();
    const layout::Schema schema = layout::parse_schema(text);
    layout::Tuples tuples;
    const std::vector<layout::Value> values{value};
    for (std::uint64_t row = 0; row < manifest.count; ++row) tuples.append(schema, values);
    layout::write_index_attributes(second_, manifest, schema, tuples.view());
  }
  v1::AttachResponse attach() const {
    v1::AttachResponse response;
    grpc::ClientContext context;
    const auto status = stub_->Attach(&context, {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  std::uint64_t newest(const v1::AttachResponse& lease) const {
    v1::RenewRequest request;
    request.set_lease_id(lease.lease_id());
    v1::RenewResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->Renew(&context, request, &response).ok());
    return response.newest_generation();
  }
  /// What is published is the first index still, whole, and the only one in memory.
  void expect_unchanged(std::uint64_t generation) {
    state_.publications.collect();
    const v1::StatsResponse now = stats();
    EXPECT_EQ(now.tables(), 1u);
    EXPECT_EQ(now.table_bytes(), now.region_bytes());
    EXPECT_EQ(now.publications(), 1u);
    EXPECT_EQ(attach().generation(), generation);
    EXPECT_EQ(state_.loaded_bytes.load(), state_.total_bytes.load());
  }

  std::string first_ = folder_.path() / "first";
  std::string second_ = folder_.path() / "second";
};

}  // namespace farvec::memory_node
