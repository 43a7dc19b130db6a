#include "tiers/attach/segment_host.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/unreachable_error.h"
#include "rpc/channel.h"
#include "rpc/load_index.h"
#include "rpc/status.h"

namespace farvec::tiers {
namespace {

namespace v1 = memory_node::v1;

constexpr std::chrono::milliseconds kBusyPause{50};
/// The slowest rate that a load is waited for, that of files on a slow disk.
constexpr std::uint64_t kLeastBytesPerMs = 20'000;
constexpr std::chrono::milliseconds kLoadPatience{20'000};

v1::SegmentName name_of(const layout::SegmentKey& key) {
  v1::SegmentName name;
  name.set_collection(key.collection);
  name.set_number(key.number);
  return name;
}

void describe(v1::HeldFile& file, const std::filesystem::path& path, std::uint64_t bytes,
              std::uint64_t checksum) {
  file.set_path(rpc::told_path(path));
  file.set_bytes(bytes);
  file.set_xxh3(checksum);
}

}  // namespace

SegmentHost::SegmentHost(AttachOptions options) : options_(std::move(options)) {
  options_.stop = &stopped_;
}

grpc::Status SegmentHost::perform(const Call& call, Clock::time_point end) {
  if (stub_ == nullptr) {
    rpc::ConnectOptions connect;
    connect.wait = options_.wait;
    connect.await_listener = false;
    connect.stop = &stopped_;
    connect.tls = options_.tls;
    try {
      stub_ = v1::MemoryNode::NewStub(rpc::connect(options_.memory_node, connect));
    } catch (const Error& error) {
      return {grpc::StatusCode::UNAVAILABLE, error.what()};
    }
  }
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + (end - Clock::now()));
  {
    const std::lock_guard lock(mutex_);
    if (stopped_.load(std::memory_order_relaxed)) return grpc::Status::CANCELLED;
    running_ = &context;
  }
  grpc::Status status = call(*stub_, context);
  const std::lock_guard lock(mutex_);
  running_ = nullptr;
  // Dropping it makes the next call connect without waiting for gRPC's back-off.
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) stub_ = nullptr;
  return status;
}

void SegmentHost::require(const grpc::Status& status, const char* what) const {
  if (status.ok()) return;
  throw UnreachableError("{} the memory node at {}: {}", what, rpc::to_string(options_.memory_node),
                         rpc::describe(status));
}

SegmentHost::Held SegmentHost::list(std::uint64_t collection) {
  v1::ListSegmentsRequest request;
  request.set_collection(collection);
  v1::ListSegmentsResponse response;
  const grpc::Status status = perform(
      [&](auto& stub, auto& context) { return stub.ListSegments(&context, request, &response); },
      Clock::now() + options_.call_timeout);
  require(status, "asking for the segments of");
  Held held;
  for (const auto& segment : response.segments()) {
    held[segment.number()] = {segment.manifest_xxh3(), segment.ids_xxh3(),
                              segment.attributes_xxh3()};
  }
  return held;
}

std::vector<SegmentHost::HeldCatalogue> SegmentHost::catalogues() {
  v1::ListCollectionsResponse response;
  const grpc::Status status = perform(
      [&](auto& stub, auto& context) { return stub.ListCollections(&context, {}, &response); },
      Clock::now() + options_.call_timeout);
  require(status, "asking for the collections of");
  std::vector<HeldCatalogue> held;
  for (const auto& at : response.collections()) {
    held.push_back({at.collection(), at.name(), at.revision(), at.file_xxh3()});
  }
  return held;
}

/// Tries until the node has no other load to end first.
void SegmentHost::perform_load(const Call& call, std::uint64_t bytes, const char* what) {
  const auto end =
      Clock::now() + kLoadPatience + std::chrono::milliseconds(bytes / kLeastBytesPerMs);
  for (;;) {
    const grpc::Status status = perform(call, end);
    const bool busy = status.error_code() == grpc::StatusCode::ABORTED;
    if (!busy || Clock::now() + kBusyPause > end || stopped_.load(std::memory_order_relaxed)) {
      return require(status, what);
    }
    std::this_thread::sleep_for(kBusyPause);
  }
}

void SegmentHost::load(const layout::SegmentKey& key, const SegmentPaths& files) {
  v1::LoadSegmentRequest request;
  *request.mutable_name() = name_of(key);
  request.set_index(rpc::told_path(files.index));
  const Contents& contents = files.contents;
  describe(*request.mutable_ids(), files.ids, files.ids_bytes, contents.ids);
  if (files.attributes_bytes > 0) {
    describe(*request.mutable_attributes(), files.attributes, files.attributes_bytes,
             contents.attributes);
  }
  v1::LoadSegmentResponse response;
  perform_load(
      [&](auto& stub, auto& context) { return stub.LoadSegment(&context, request, &response); },
      files.index_bytes + files.ids_bytes + files.attributes_bytes, "loading a segment into");
  if (response.attributes_xxh3() == contents.attributes) return;
  throw UnreachableError(
      "the memory node at {} runs a farvec that holds no attributes of rows: start it with this "
      "one",
      rpc::to_string(options_.memory_node));
}

void SegmentHost::load_catalogue(std::uint64_t collection, const CatalogueFile& file) {
  v1::LoadCatalogueRequest request;
  request.set_collection(collection);
  request.set_name(file.name);
  request.set_revision(file.revision);
  describe(*request.mutable_file(), file.path, file.bytes, file.checksum);
  v1::LoadSegmentResponse response;
  perform_load(
      [&](auto& stub, auto& context) { return stub.LoadCatalogue(&context, request, &response); },
      file.bytes, "loading the catalogue into");
}

void SegmentHost::drop(const layout::SegmentKey& key) {
  v1::DropSegmentRequest request;
  *request.mutable_name() = name_of(key);
  v1::DropSegmentResponse response;
  const grpc::Status status = perform(
      [&](auto& stub, auto& context) { return stub.DropSegment(&context, request, &response); },
      Clock::now() + options_.call_timeout);
  require(status, "dropping a segment of");
}

void SegmentHost::stop() {
  const std::lock_guard lock(mutex_);
  stopped_.store(true, std::memory_order_relaxed);
  if (running_ != nullptr) running_->TryCancel();
}

}  // namespace farvec::tiers
