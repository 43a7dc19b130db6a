// A collection that a compute node serves, changed by calls of its service.
#include <fmt/format.h>

#include <random>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/finite.h"
#include "cli/collection/changed_collection.h"
#include "cli/interrupt.h"
#include "client/backoff.h"
#include "rpc/channel.h"
#include "rpc/collection.grpc.pb.h"
#include "rpc/status.h"

namespace farvec::cli {
namespace {

using collection::Receipt;
namespace wire = collection::v1;
using Service = wire::Collection;

bool may_pass(grpc::StatusCode code) {
  return code == grpc::StatusCode::RESOURCE_EXHAUSTED || code == grpc::StatusCode::UNAVAILABLE ||
         code == grpc::StatusCode::DEADLINE_EXCEEDED;
}

std::shared_ptr<grpc::Channel> channel_to(const client::NodeAccess& access) {
  rpc::ConnectOptions connect;
  connect.wait = access.connect_wait;
  connect.await_listener = false;
  connect.tls = rpc::load_tls(access.tls);
  return rpc::connect(rpc::parse_address(access.address), connect);
}

/// The wire's numbers are the library's, one up.
wire::ElementType to_wire(ElementType type) {
  return static_cast<wire::ElementType>(static_cast<int>(type) + 1);
}

class RemoteCollection final : public ChangedCollection {
 public:
  explicit RemoteCollection(const RemoteCollectionOptions& options)
      : options_(options),
        stub_(Service::NewStub(channel_to(options.node))),
        random_(std::random_device{}()),
        shape_(stats()) {
    if (shape_.max_rows() == 0 || shape_.max_ids() == 0) {
      throw Error("compute node {}: it takes batches of 0 rows: no collection is open there",
                  options.node.address);
    }
  }

  std::size_t batch_rows() const override { return shape_.max_rows(); }
  std::size_t batch_ids() const override { return shape_.max_ids(); }
  void check(const VectorView& rows, std::span<const std::uint64_t> ids) const override;
  void insert(const VectorView& rows, std::span<const std::uint64_t> ids,
              Receipt& receipt) override;
  void erase(std::span<const std::uint64_t> ids, Receipt& receipt) override;
  Receipt import(const VectorView&, std::span<const std::uint64_t>) override {
    throw Error("--import makes a segment beside the collection: --collection, not --connect");
  }
  void compact() override;
  nlohmann::ordered_json now() const override;

 private:
  wire::StatsResponse stats() const;
  void require_ok(const grpc::Status& status) const;
  template <typename Request, typename Response>
  grpc::Status call(grpc::Status (Service::Stub::*method)(grpc::ClientContext*, const Request&,
                                                          Response*),
                    const Request& request, Response& response);

  const RemoteCollectionOptions options_;
  const std::unique_ptr<Service::Stub> stub_;
  Random random_;
  const wire::StatsResponse shape_;
};

void RemoteCollection::require_ok(const grpc::Status& status) const {
  if (!status.ok())
    throw Error("compute node {}: {}", options_.node.address, rpc::describe(status));
}

/// Attempts until one succeeds, at most 1 + options.retries.
template <typename Request, typename Response>
grpc::Status RemoteCollection::call(grpc::Status (Service::Stub::*method)(grpc::ClientContext*,
                                                                          const Request&,
                                                                          Response*),
                                    const Request& request, Response& response) {
  client::Backoff backoff(options_.retries, random_);
  for (;;) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + options_.deadline);
    const grpc::Status status = ((*stub_).*method)(&context, request, &response);
    const bool again = may_pass(status.error_code()) && !interrupted();
    const auto wait = again ? backoff.next(client::retry_after(context)) : std::nullopt;
    if (!wait) return status;
    std::this_thread::sleep_for(*wait);
  }
}

wire::StatsResponse RemoteCollection::stats() const {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + options_.deadline);
  wire::StatsResponse answer;
  const grpc::Status status = stub_->Stats(&context, {}, &answer);
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    throw Error(
        "{} takes no changes: start farvec-compute-node with --collection, and without "
        "--follow",
        options_.node.address);
  }
  require_ok(status);
  return answer;
}

/// The node checks each call; here no row is sent before all have been looked at.
void RemoteCollection::check(const VectorView& rows, std::span<const std::uint64_t> ids) const {
  if (to_wire(rows.type) != shape_.type() || rows.dimension != shape_.dimension()) {
    const auto type = static_cast<ElementType>(static_cast<int>(shape_.type()) - 1);
    throw Error("rows of {} x {} do not fit a collection of {} x {}", rows.dimension,
                to_string(rows.type), shape_.dimension(), to_string(type));
  }
  for (std::size_t i = 0; i < rows.count; ++i) {
    if (is_finite_row(rows.row(i), rows.type, rows.dimension)) continue;
    throw Error("row {} (id {}) holds a value that is not finite", i, ids[i]);
  }
}

void RemoteCollection::insert(const VectorView& rows, std::span<const std::uint64_t> ids,
                              Receipt& receipt) {
  wire::InsertRequest request;
  request.set_type(to_wire(rows.type));
  request.set_dimension(rows.dimension);
  request.mutable_ids()->Add(ids.begin(), ids.end());
  const std::size_t row_bytes = rows.dimension * element_bytes(rows.type);
  for (std::size_t i = 0; i < rows.count; ++i) {
    request.mutable_rows()->append(reinterpret_cast<const char*>(rows.row(i)), row_bytes);
  }
  wire::InsertResponse response;
  require_ok(call(&Service::Stub::Insert, request, response));
  receipt = {
      .version = response.version(), .done = response.done(), .replaced = response.replaced()};
}

void RemoteCollection::erase(std::span<const std::uint64_t> ids, Receipt& receipt) {
  wire::DeleteRequest request;
  request.mutable_ids()->Add(ids.begin(), ids.end());
  wire::DeleteResponse response;
  require_ok(call(&Service::Stub::Delete, request, response));
  receipt = {.version = response.version(), .done = response.done(), .missing = response.missing()};
}

/// A call that ends before the work does is made again.
void RemoteCollection::compact() {
  wire::CompactResponse response;
  while (!interrupted()) {
    const grpc::Status status = call(&Service::Stub::Compact, wire::CompactRequest(), response);
    if (status.ok()) return;
    if (status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED) require_ok(status);
  }
}

nlohmann::ordered_json RemoteCollection::now() const {
  const wire::StatsResponse state = stats();
  nlohmann::ordered_json json{{"version", state.version()},
                              {"vectors", state.rows()},
                              {"memtable_vectors", state.memtable_rows()},
                              {"segments", state.segments()},
                              {"out_rows", state.rows_out()},
                              {"segment_bytes", state.segment_bytes()},
                              {"log_bytes", state.log_bytes()},
                              {"segments_built", state.segments_built()},
                              {"segments_merged", state.segments_merged()}};
  if (state.merge_segments() > 0) {
    json["merge"] =
        collection::merge_json(state.merge_phase(), {.segments = state.merge_segments(),
                                                     .rows = state.merge_rows(),
                                                     .linked = state.merge_rows_linked()});
  }
  if (!state.failure().empty()) json["failure"] = state.failure();
  return json;
}

}  // namespace

std::unique_ptr<ChangedCollection> connect_to_collection(const RemoteCollectionOptions& options) {
  return std::make_unique<RemoteCollection>(options);
}

}  // namespace farvec::cli
