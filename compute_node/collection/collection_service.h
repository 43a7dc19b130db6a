// CollectionService serves an index that changes over gRPC: clients change it, read rows by their
// ids, and ask what there is.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute_node/collection/call_pool.h"
#include "compute_node/collection/change_options.h"
#include "compute_node/collection/collection_call.h"
#include "compute_node/service/served_changes.h"
#include "rpc/collection.grpc.pb.h"

namespace farvec::compute_node {

/// Returns the index; null while it is not open. Any thread may call it.
using ChangesSource = std::function<std::shared_ptr<ServedChanges>()>;

/// Uses gRPC's callback interface, whose threads only hand calls over to one of three pools: the
/// threads that change, those that read, and those of calls that wait for the background. Each pool
/// has a bound.
class CollectionService final : public collection::v1::Collection::CallbackService {
 public:
  CollectionService(ChangesSource source, const ChangeOptions& options,
                    std::chrono::milliseconds default_deadline);

  /// Ends every call from now on with UNAVAILABLE when it comes in, and also those that wait for
  /// the background.
  void drain();
  /// Returns how many calls are not answered yet.
  std::uint32_t unanswered() const;

  /// Returns the state of the index and counts of calls. May wait for a change that is being
  /// written. Any thread may call it.
  collection::v1::StatsResponse stats() const;

  grpc::ServerUnaryReactor* Insert(grpc::CallbackServerContext* context,
                                   const collection::v1::InsertRequest* request,
                                   collection::v1::InsertResponse* response) override;
  grpc::ServerUnaryReactor* Delete(grpc::CallbackServerContext* context,
                                   const collection::v1::DeleteRequest* request,
                                   collection::v1::DeleteResponse* response) override;
  grpc::ServerUnaryReactor* Update(grpc::CallbackServerContext* context,
                                   const collection::v1::UpdateRequest* request,
                                   collection::v1::UpdateResponse* response) override;
  grpc::ServerUnaryReactor* AddColumns(grpc::CallbackServerContext* context,
                                       const collection::v1::AddColumnsRequest* request,
                                       collection::v1::AddColumnsResponse* response) override;
  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const collection::v1::ListRequest* request,
                                 collection::v1::ListResponse* response) override;
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context,
                                const collection::v1::GetRequest* request,
                                collection::v1::GetResponse* response) override;
  grpc::ServerUnaryReactor* Flush(grpc::CallbackServerContext* context,
                                  const collection::v1::FlushRequest* request,
                                  collection::v1::FlushResponse* response) override;
  grpc::ServerUnaryReactor* Compact(grpc::CallbackServerContext* context,
                                    const collection::v1::CompactRequest* request,
                                    collection::v1::CompactResponse* response) override;
  grpc::ServerUnaryReactor* Stats(grpc::CallbackServerContext* context,
                                  const collection::v1::StatsRequest* request,
                                  collection::v1::StatsResponse* response) override;

 private:
  using Work = std::function<Outcome(ServedChanges&, const CollectionCall&)>;
  struct Counters {
    // Relaxed: each is a counter on its own.
    std::atomic<std::uint64_t> inserted{0};
    std::atomic<std::uint64_t> replaced{0};
    std::atomic<std::uint64_t> deleted{0};
    std::atomic<std::uint64_t> updated{0};
    std::atomic<std::uint64_t> queue_full{0};
    std::atomic<std::uint64_t> no_room{0};
    std::atomic<std::uint64_t> too_late{0};
    std::atomic<std::uint64_t> failed{0};
  };

  /// Starts a call in a pool. A client that may search may not always change: calls of pools other
  /// than reads_ are for changers.
  grpc::ServerUnaryReactor* run(grpc::CallbackServerContext& context, CallPool& pool,
                                std::uint64_t bytes, Work work);
  Outcome await(const CollectionCall& call,
                const std::function<bool(const Interruption&)>& done) const;
  Outcome perform(const CollectionCall& call, ServedChanges& changes, const CallPool& pool,
                  const Work& work) const;
  void end(CollectionCall& call, const Outcome& outcome, const CallPool& pool);
  void count(const Outcome& outcome);

  const ChangesSource source_;
  const std::chrono::milliseconds default_deadline_;
  const std::vector<std::string> changers_;
  std::atomic<bool> draining_{false};         ///< relaxed: a flag that orders nothing
  std::atomic<std::uint32_t> unanswered_{0};  ///< relaxed: the drain looks at it from time to time
  Counters counters_;
  CallPool changes_;
  CallPool reads_;
  CallPool waits_;
};

}  // namespace farvec::compute_node
