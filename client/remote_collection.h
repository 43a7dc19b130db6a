// A RemoteCollection changes a collection that a compute node serves, from another process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/types.h"
#include "changes/changing.h"
#include "client/remote_node.h"
#include "rpc/collection.grpc.pb.h"

namespace farvec::client {

/// Says how often a call is tried. A change that is tried again does what it would have done once.
struct Attempts {
  std::chrono::milliseconds deadline{10'000};  ///< for each attempt
  /// Attempts after the first one, when the node says RESOURCE_EXHAUSTED, UNAVAILABLE or
  /// DEADLINE_EXCEEDED.
  std::uint32_t retries = 0;
  Interruption interrupted = {};  ///< when it says so, no further attempt begins
  /// When it says so, the attempt under way ends too, with CANCELLED: a change may be in or not.
  Interruption cancelled = {};
  /// Called with the node's reason before a further attempt. It may be empty.
  std::function<void(const std::string& why)> refused = {};
};

/// Changes and reads the collection of a node. Calls throw StatusError naming the node and gRPC's
/// status, or what the node says that cannot be. An attempt at a change or a read may take what is
/// left of its patience, or attempts.deadline where the patience has no end.
class RemoteCollection final : public changes::Changing {
 public:
  /// Connects and asks the node for the collection's shape. Throws also when the node takes no
  /// changes. check() judges rows by the metric where the caller knows it.
  RemoteCollection(NodeAccess access, Attempts attempts, std::optional<Metric> metric = {});
  /// Does the same with a channel to the node, which others may use too.
  RemoteCollection(const std::shared_ptr<grpc::Channel>& channel, NodeAccess access,
                   Attempts attempts, std::optional<Metric> metric = {});

  /// Has the columns of which the node has told so far.
  changes::RowShape row_shape() const override;
  layout::Schema newest_schema() const override;
  collection::v1::StatsResponse stats(const Attempts& attempts) const;

  /// Throws StatusError (invalid_argument), or Error for an id that comes twice. Every row must
  /// have an id. The node checks each batch again.
  void check(const changes::RowBatch& batch) const override;
  /// Inserts one batch. It is in as a whole or not at all, also where the call failed at its
  /// deadline. Where attributes make a batch too large for one call, it is inserted in several.
  void insert(const changes::RowBatch& batch, const changes::Patience& patience,
              changes::Receipt& receipt) override;
  void erase(std::span<const std::uint64_t> ids, const changes::Patience& patience,
             changes::Receipt& receipt) override;
  changes::FoundRows get(std::span<const std::uint64_t> ids,
                         const changes::Patience& patience) const override;
  changes::ListedRows list(const changes::Listing& asked,
                           const changes::Patience& patience) const override;
  void erase_matching(const std::string& filter, const changes::Patience& patience,
                      changes::Receipt& receipt) override;
  /// Where the values are too large for one call, it makes several.
  void update(std::span<const std::uint64_t> ids, const changes::ColumnValues& update,
              const changes::Patience& patience, changes::Receipt& receipt) override;
  void update_matching(const std::string& filter, const changes::ColumnValues& update,
                       const changes::Patience& patience, changes::Receipt& receipt) override;
  void add_columns(const layout::Schema& columns) override;
  /// Both ask again until the node has finished; after an interruption the node goes on.
  bool flush(const Interruption& give_up = {}) override;
  bool compact(const Interruption& give_up = {}) override;
  nlohmann::ordered_json now() const override;

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
  Attempts attempts_within(const changes::Patience& patience) const;
  template <typename Prepare, typename Request, typename Response>
  bool await_work(Prepare prepare, const Request& request, const Attempts& attempts,
                  Response& response) const;
  void require_ok(const grpc::Status& status) const;
  void require_sound(const std::string& fault) const;
  layout::Schema learn(const std::string& said) const;

  void insert_part(const changes::RowBatch& part, const Attempts& attempts,
                   changes::Receipt& receipt);

  const NodeAccess access_;
  const Attempts attempts_;
  const std::unique_ptr<Stub> stub_;
  changes::RowShape shape_;  ///< all but the schema
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const layout::Schema> schema_;  ///< guarded by mutex_; it only grows
};

}  // namespace farvec::client
