// A memory node that holds segments of collections, and callers of its control plane.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "layout/collection/segment_attributes.h"
#include "layout/collection/segment_ids.h"
#include "tests/unit/memory_node/segment_file_bytes.h"
#include "tests/unit/memory_node/served_node.h"

namespace farvec::memory_node {

class ServiceSegmentsTest : public ServedNode {
 protected:
  ServiceSegmentsTest() {
    small_bytes_ = layout::RandomIndex(200).write(small_).node_bytes(0);
    large_bytes_ = layout::RandomIndex(500).write(large_).node_bytes(0);
    options_.segment_bytes = room_for(small_bytes_ + large_bytes_);
  }

  void start() {
    make({.publishers = {},
          .has_log = false,
          .segment_bytes = options_.segment_bytes,
          .folders = LoadFolders(folders_),
          .folders_named = !folders_.empty()});
    serve();
  }
  void TearDown() override { server_.reset(); }

  /// A sixteenth is kept for catalogues.
  static std::uint64_t room_for(std::uint64_t bytes) { return bytes + bytes / 15 + 1; }

  template <typename Request>
  static Request named(layout::SegmentKey key) {
    Request request;
    request.mutable_name()->set_collection(key.collection);
    request.mutable_name()->set_number(key.number);
    return request;
  }
  grpc::Status load(layout::SegmentKey key, const std::string& index) {
    auto request = named<v1::LoadSegmentRequest>(key);
    request.set_index(index);
    grpc::ClientContext context;
    loaded_.Clear();
    return stub_->LoadSegment(&context, request, &loaded_);
  }
  grpc::Status load_with(layout::SegmentKey key, const std::string& index,
                         const v1::HeldFile& ids) {
    auto request = named<v1::LoadSegmentRequest>(key);
    request.set_index(index);
    *request.mutable_ids() = ids;
    grpc::ClientContext context;
    return stub_->LoadSegment(&context, request, &loaded_);
  }
  grpc::Status load_with(layout::SegmentKey key, const v1::HeldFile& ids,
                         const v1::HeldFile& attributes) {
    auto request = named<v1::LoadSegmentRequest>(key);
    request.set_index(small_);
    *request.mutable_ids() = ids;
    *request.mutable_attributes() = attributes;
    grpc::ClientContext context;
    loaded_.Clear();
    return stub_->LoadSegment(&context, request, &loaded_);
  }
  /// The attributes of segment 1, one tuple for each row of the small index.
  v1::HeldFile write_attributes(const std::string& name, std::int64_t first) const {
    const layout::Schema schema = layout::parse_schema("price: i64");
    layout::Tuples tuples;
    for (std::int64_t row = 0; row < 200; ++row) {
      tuples.append(schema, std::vector<layout::Value>{first + row});
    }
    layout::write_segment_attributes(folder_.path() / name, {.number = 1, .rows = 200},
                                     tuples.view());
    return file_of(folder_.path() / name);
  }
  grpc::Status drop(layout::SegmentKey key) {
    v1::DropSegmentResponse response;
    grpc::ClientContext context;
    const auto status = stub_->DropSegment(&context, named<v1::DropSegmentRequest>(key), &response);
    publisher_->collect();
    return status;
  }
  grpc::Status attach(layout::SegmentKey key) {
    grpc::ClientContext context;
    attached_.Clear();
    return stub_->AttachSegment(&context, named<v1::AttachSegmentRequest>(key), &attached_);
  }
  void detach(const v1::AttachResponse& lease) {
    ServedNode::detach(lease);
    publisher_->collect();
  }
  std::vector<std::uint64_t> numbers(std::uint64_t collection) {
    v1::ListSegmentsRequest request;
    request.set_collection(collection);
    grpc::ClientContext context;
    listed_.Clear();
    EXPECT_TRUE(stub_->ListSegments(&context, request, &listed_).ok());
    std::vector<std::uint64_t> found;
    for (const auto& segment : listed_.segments()) found.push_back(segment.number());
    return found;
  }
  v1::HeldFile write_file(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
    return file_of(folder_.path() / name);
  }
  static v1::HeldFile file_of(const std::filesystem::path& path) {
    const HeldFile said = described(path);
    v1::HeldFile file;
    file.set_path(said.path);
    file.set_bytes(said.bytes);
    file.set_xxh3(said.checksum.value());
    return file;
  }
  /// The ids of segment 1, one for each row of the small index.
  v1::HeldFile write_ids(const std::string& name, std::uint64_t first) const {
    std::vector<std::uint64_t> ids(200);
    std::iota(ids.begin(), ids.end(), first);
    layout::write_segment_ids(folder_.path() / name, {.number = 1, .rows = ids.size()}, ids);
    return file_of(folder_.path() / name);
  }
  /// The catalogue of a collection without segments.
  v1::HeldFile write_catalogue(const std::string& name, std::uint32_t dimension) const {
    return write_file(name, catalogue_bytes(dimension));
  }
  grpc::Status load_catalogue(std::uint64_t collection, std::uint64_t revision,
                              const v1::HeldFile& file) {
    v1::LoadCatalogueRequest request;
    request.set_collection(collection);
    request.set_name("set" + std::to_string(collection));
    request.set_revision(revision);
    *request.mutable_file() = file;
    grpc::ClientContext context;
    return stub_->LoadCatalogue(&context, request, &loaded_);
  }
  v1::Segments held() const { return stats().segments(); }

  const std::string small_ = folder_.path() / "small";
  const std::string large_ = folder_.path() / "large";
  std::uint64_t small_bytes_ = 0;
  std::uint64_t large_bytes_ = 0;
  std::vector<std::string> folders_;
  v1::LoadSegmentResponse loaded_;
  v1::AttachResponse attached_;
  v1::ListSegmentsResponse listed_;
};

}  // namespace farvec::memory_node
