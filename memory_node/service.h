// The control plane: answers from what the node knows; moves no index bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memory_node/lease_table.h"
#include "memory_node/read_path.h"
#include "memory_node/region_table.h"
#include "rpc/memory_node.grpc.pb.h"

namespace farvec::memory_node {

/// Shared by the service, the metrics and the daemon's main thread. Every field may be read and
/// written by any thread; the atomics are independent of each other, hence relaxed throughout.
struct NodeState {
  NodeState(std::size_t max_leases, std::chrono::milliseconds lease) : leases(max_leases, lease) {}

  std::atomic<v1::State> state{v1::STATE_LOADING};
  PublishedRegions regions;
  std::atomic<std::uint64_t> loaded_bytes{0};
  std::atomic<std::uint64_t> total_bytes{0};
  std::atomic<std::uint64_t> attaches{0};
  std::atomic<std::uint64_t> detaches{0};
  std::atomic<std::uint64_t> calls{0};
  LeaseTable leases;
  const LeaseTable::Clock::time_point started = LeaseTable::Clock::now();
};

class Service final : public v1::MemoryNode::Service {
 public:
  /// `state` is borrowed.
  Service(NodeState& state, BackingKind backing) : state_(state), backing_(backing) {}

  /// Offers a way to read; borrowed. Before the regions are published, one of each transport.
  void add(ReadPath& path) { paths_.push_back(&path); }

  grpc::Status Describe(grpc::ServerContext*, const v1::DescribeRequest*,
                        v1::DescribeResponse* response) override;
  grpc::Status Attach(grpc::ServerContext* context, const v1::AttachRequest* request,
                      v1::AttachResponse* response) override;
  grpc::Status Renew(grpc::ServerContext* context, const v1::RenewRequest* request,
                     v1::RenewResponse* response) override;
  grpc::Status Detach(grpc::ServerContext* context, const v1::DetachRequest* request,
                      v1::DetachResponse* response) override;
  grpc::Status Stats(grpc::ServerContext*, const v1::StatsRequest*,
                     v1::StatsResponse* response) override;

 private:
  ReadPath* find_path(v1::Transport transport) const;
  grpc::Status offer(ReadPath& path, const LeaseId& lease, const grpc::ServerContext& context,
                     v1::AttachResponse& response);

  NodeState& state_;
  const BackingKind backing_;
  std::vector<ReadPath*> paths_;  ///< filled before publish(), read after it
};

}  // namespace farvec::memory_node
