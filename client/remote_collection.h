// A collection that a compute node serves, changed from another process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/types.h"
#include "client/remote_node.h"
#include "rpc/collection.grpc.pb.h"

namespace farvec::client {

/// What a change did.
struct ChangeReceipt {
  std::uint64_t version = 0;   ///< of its last row or id
  std::uint64_t done = 0;      ///< rows inserted, or ids that were there and are erased
  std::uint64_t replaced = 0;  ///< of the rows inserted: their ids were there
  std::uint64_t missing = 0;   ///< ids to erase that were not there
};

struct RemoteRows {
  std::vector<bool> found;      ///< of every id
  std::vector<std::byte> rows;  ///< of those that were found, packed, in stored form
};

/// What a node says of its collection, by the names that farvec has for one of this machine.
nlohmann::ordered_json state_json(const collection::v1::StatsResponse& state);

/// How often a call is tried. A change that is tried again does what it would have done once.
struct Attempts {
  std::chrono::milliseconds deadline{10'000};  ///< of each
  /// After the first one, when the node says RESOURCE_EXHAUSTED, UNAVAILABLE or DEADLINE_EXCEEDED.
  std::uint32_t retries = 0;
  Interruption interrupted = {};  ///< then there is no further one
};

/// Any thread may call everything. Calls throw StatusError naming the node and gRPC's status,
/// or what the node says that cannot be.
class RemoteCollection {
 public:
  /// Connects and asks what there is. Throws also when the node takes no changes.
  RemoteCollection(NodeAccess access, const Attempts& attempts);

  ElementType type() const { return type_; }                ///< of rows that are inserted
  ElementType stored_type() const { return stored_type_; }  ///< of rows that get() brings
  std::uint32_t dimension() const { return dimension_; }
  std::size_t batch_rows() const { return batch_rows_; }  ///< of one insert() or get(), at most
  std::size_t batch_ids() const { return batch_ids_; }    ///< of one erase(), at most
  collection::v1::StatsResponse stats(const Attempts& attempts) const;

  /// Throws StatusError (invalid_argument) for rows of another type or dimension.
  void check(const VectorView& rows) const;
  /// In as a whole or not at all; of a call that failed of its deadline either.
  ChangeReceipt insert(const VectorView& rows, std::span<const std::uint64_t> ids,
                       const Attempts& attempts);
  ChangeReceipt erase(std::span<const std::uint64_t> ids, const Attempts& attempts);
  /// Rows of one moment.
  RemoteRows get(std::span<const std::uint64_t> ids, const Attempts& attempts) const;
  /// Ask again until the node is ready with it. Throw WorkInterrupted soon after an interruption;
  /// the node then goes on.
  void flush(const Attempts& attempts);
  void compact(const Attempts& attempts);

 private:
  using Stub = collection::v1::Collection::Stub;
  struct Wait;
  template <typename Prepare, typename Request, typename Response>
  grpc::Status call(Prepare prepare, const Request& request, const Wait& wait,
                    Response& response) const;
  template <typename Prepare, typename Request, typename Response>
  grpc::Status attempt(Prepare prepare, const Request& request, const Attempts& attempts,
                       const Interruption& cancelled, Response& response) const;
  template <typename Prepare, typename Request, typename Response>
  void ask(Prepare prepare, const Request& request, const Attempts& attempts,
           Response& response) const;
  template <typename Prepare, typename Request, typename Response>
  void await_work(Prepare prepare, const Request& request, const Attempts& attempts,
                  Response& response) const;
  void require_ok(const grpc::Status& status) const;
  void require_sound(const std::string& fault) const;

  const NodeAccess access_;
  const std::unique_ptr<Stub> stub_;
  ElementType type_ = ElementType::f32;
  ElementType stored_type_ = ElementType::f32;
  std::uint32_t dimension_ = 0;
  std::size_t batch_rows_ = 0;
  std::size_t batch_ids_ = 0;
};

}  // namespace farvec::client
