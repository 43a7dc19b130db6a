// An open index: what the cores of one generation search.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compute_node/service/daemon_options.h"
#include "compute_node/service/search_backend.h"
#include "layout/region/manifest.h"
#include "search/search_index.h"
#include "transport/endpoint.h"

namespace farvec::compute_node {

/// One core's share of the daemon's options.
search::SearchCoreOptions core_options(const DaemonOptions& options);

/// What was planned of this process's memory besides the index's own part, all cores together.
struct PlannedMemory {
  std::size_t location = 0;  ///< where records are
  std::size_t caches = 0;    ///< or the pool
  std::size_t searches = 0;  ///< with the buffers that they read into
  std::optional<std::size_t> budget;
};

struct IndexSessionOptions {
  search::SearchCoreOptions
      core;                 ///< cache_bytes is one core's share; probes of clusters are counted
  std::uint32_t cores = 1;  ///< for the sum of the caches
  std::string tier;         ///< for reports
  std::uint64_t generation = 0;
  /// Makes one core's endpoint over region 0. Empty: records are loads from `records`.
  std::function<std::unique_ptr<transport::Endpoint>()> make_endpoint;
  std::span<const std::byte> records;  ///< the whole region, header included
  /// Makes one core, instead of either: of slotted pages.
  std::function<std::unique_ptr<search::SearchCore>()> make_core;
  std::optional<PlannedMemory> memory;  ///< none: only what the index and the caches take is known
  std::string page_search;              ///< of slotted pages: how they are searched
  std::function<bool()> alive;          ///< empty: always. Any thread, does not block
  std::function<bool()> superseded;     ///< empty: never. Any thread
  std::shared_ptr<const void> owner;    ///< keeps memory and grant while the session lives
  std::function<std::vector<MemoryNodeState>()> memory_nodes;  ///< empty: none. Any thread

  /// Puts a modelled device, which all cores share, before the loads from `records` or, when it is
  /// far, before the endpoints that `below` makes.
  void emulate(const transport::DeviceModel& model,
               std::function<std::unique_ptr<transport::Endpoint>()> below);
};

class IndexSession final : public SearchSession {
 public:
  IndexSession(std::shared_ptr<const search::SearchIndex> index, const layout::Manifest& manifest,
               IndexSessionOptions options);

  const ServedIndex& index() const override { return served_; }
  void run_core(unsigned core, search::TaskFeed& feed) override;
  bool alive() const override { return !options_.alive || options_.alive(); }
  bool superseded() const override { return options_.superseded && options_.superseded(); }
  TierCounters& counters() override { return counters_; }
  std::optional<search::ProbeTally> probes() const override {
    if (options_.core.probe_counts == nullptr) return std::nullopt;
    return options_.core.probe_counts->tally();
  }
  std::vector<MemoryNodeState> memory_nodes() const override {
    return options_.memory_nodes ? options_.memory_nodes() : std::vector<MemoryNodeState>();
  }

 private:
  std::unique_ptr<search::SearchCore> make_core() const;

  const std::shared_ptr<const search::SearchIndex> index_;
  const IndexSessionOptions options_;
  ServedIndex served_;
  TierCounters counters_;
};

}  // namespace farvec::compute_node
