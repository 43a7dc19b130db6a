// A Regrouper groups the clusters of the served index again, when that would save many requests.
// Source: the second-tier memory study, section 6.2, which groups by access frequency and leaves
// out what happens when frequencies change.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "collection/nodes/probing_nodes.h"
#include "compute_node/service/supervisor.h"
#include "compute_node/sources/regroup_options.h"
#include "layout/index/index_directory.h"
#include "rpc/address.h"
#include "rpc/load_index.h"
#include "rpc/tls.h"
#include "search/searchers/probe_counts.h"

namespace farvec::compute_node {

/// Checks from time to time which clusters were probed. It acts where a memory node serves the
/// index in `index`, or one that was made from it here, and other groups would save the share
/// `least_gain` of the requests. Then it writes that index beside it (`index`.regrouped-N) and has
/// the memory node load it; compute nodes switch to it by themselves. Directories that it made
/// earlier have a file in them that names their manifest, and are removed when they are not needed
/// any more. Others with such a name are left alone, and one that is no index is logged and
/// skipped. A failure is logged and retried; the index that is served stays.
class Regrouper {
 public:
  /// `memory_node` is the one that serves the index. The supervisor must outlive the regrouper.
  /// Throws Error naming an address that is not one.
  Regrouper(const Supervisor& supervisor, RegroupOptions options, const std::string& memory_node,
            std::shared_ptr<const rpc::Tls> tls);
  /// Ends a regrouping that is running.
  ~Regrouper();

  /// Returns how many indexes were published. It may be called from any thread.
  std::uint64_t published() const { return published_.load(std::memory_order_relaxed); }

 private:
  void run();
  void look();
  /// Returns the probes of this node and those beside it; none where there are too few, or not many
  /// more than the last time.
  std::optional<search::ProbeTally> enough_probes(const Engine& engine);
  std::vector<std::filesystem::path> named() const;
  layout::IndexDirectory served(const ServedIndex& index);
  std::optional<layout::IndexDirectory> open_or_tell(const std::filesystem::path& path);
  std::filesystem::path next_path() const;
  memory_node::v1::LoadResponse load(const std::filesystem::path& path);
  void publish(const std::filesystem::path& path);
  void remove_others(const std::filesystem::path& former, const std::filesystem::path& now);
  bool stopping() const { return stop_.load(std::memory_order_relaxed); }

  const Supervisor& supervisor_;
  const RegroupOptions options_;
  const std::filesystem::path index_;
  const rpc::Address memory_node_;
  const collection::ProbingNodes beside_;
  const std::shared_ptr<const rpc::Tls> tls_;
  std::set<std::filesystem::path> told_;  ///< directories that were logged as being no index
  std::uint64_t left_ = 0;  ///< the generation that was served when the last one was published
  std::uint64_t judged_generation_ = 0;
  std::uint64_t judged_probes_ = 0;  ///< probes of that generation, at the last look
  std::atomic<std::uint64_t> published_{0};
  std::atomic<bool> stop_{false};  ///< set under mutex_, for wake_
  std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<grpc::ClientContext> loading_;  ///< under mutex_: the last call that loads
  std::thread thread_;
};

}  // namespace farvec::compute_node
