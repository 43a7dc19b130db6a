// The control plane: answers from what the node knows; moves no index bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "memory_node/lease_table.h"
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
  Service(NodeState& state, BackingKind backing, std::string grant_path)
      : state_(state), backing_(backing), grant_path_(std::move(grant_path)) {}

  /// Where clients that ask for RDMA connect. Before the regions are published.
  void set_verbs(std::string host, std::uint16_t port) {
    verbs_host_ = std::move(host);
    verbs_port_ = port;
  }

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
  NodeState& state_;
  const BackingKind backing_;
  const std::string grant_path_;
  std::string verbs_host_;  ///< empty: no RDMA. Set before publish(), read after it
  std::uint16_t verbs_port_ = 0;
};

}  // namespace farvec::memory_node
