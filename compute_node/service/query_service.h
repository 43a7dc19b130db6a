// QueryService is the gRPC service of a compute node.
#pragma once

#include <atomic>
#include <chrono>

#include "compute_node/service/admission.h"
#include "compute_node/service/recall_sampler.h"
#include "compute_node/service/service_statistics.h"
#include "compute_node/service/supervisor.h"
#include "rpc/compute_node.grpc.pb.h"

namespace farvec::compute_node {

struct QueryServiceOptions {
  RequestLimits limits;
  std::chrono::milliseconds default_deadline{1'000};  ///< for calls without one
  std::uint32_t slots_per_core = 16;
  std::uint32_t threads = 1;
};

/// Uses gRPC's callback interface: a waiting call holds its request and its batch, not a thread.
class QueryService final : public v1::ComputeNode::CallbackService {
 public:
  /// All but the options must outlive every call. Without a sampler no search is repeated.
  QueryService(Supervisor& supervisor, ServiceStatistics& statistics, QueryServiceOptions options,
               RecallSampler* recall = nullptr);

  /// From now on every Search ends with UNAVAILABLE before it is admitted.
  void drain() { draining_.store(true, std::memory_order_relaxed); }

  grpc::ServerUnaryReactor* Search(grpc::CallbackServerContext* context,
                                   const v1::SearchRequest* request,
                                   v1::SearchResponse* response) override;
  grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext* context,
                                     const v1::DescribeRequest* request,
                                     v1::DescribeResponse* response) override;
  grpc::ServerUnaryReactor* Stats(grpc::CallbackServerContext* context,
                                  const v1::StatsRequest* request,
                                  v1::StatsResponse* response) override;
  grpc::ServerUnaryReactor* ProbeCounts(grpc::CallbackServerContext* context,
                                        const v1::ProbeCountsRequest* request,
                                        v1::ProbeCountsResponse* response) override;

 private:
  class SearchCall;
  /// A Verdict is the decision on a call when it arrives.
  struct Verdict {
    grpc::Status status;
    Refusal refusal = Refusal::none;
    Ticks retry_after = 0;  ///< set for a refusal
  };
  Verdict admit(grpc::CallbackServerContext& context, const v1::SearchRequest& request,
                SearchCall& call);
  Verdict submit(Engine& engine, const v1::SearchRequest& request, const BatchShape& shape,
                 SearchCall& call);
  void describe_index(const ServedIndex& index, v1::DescribeResponse& response) const;

  Supervisor& supervisor_;
  ServiceStatistics& statistics_;
  const QueryServiceOptions options_;
  RecallSampler* const recall_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::atomic<bool> draining_{false};  ///< relaxed, because the flag orders nothing
};

}  // namespace farvec::compute_node
