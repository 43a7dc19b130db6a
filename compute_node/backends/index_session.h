// An IndexSession is an open index, which the cores of one generation search.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute_node/service/admission.h"
#include "compute_node/service/search_backend.h"
#include "layout/index/manifest.h"
#include "search/core/search_shape.h"
#include "search/index/search_index.h"
#include "tiers/tier.h"

namespace farvec::compute_node {

/// Returns the largest searches that these limits admit, on `cores` cores with `slots` searches in
/// flight on each.
search::SearchShape largest_searches(const RequestLimits& limits, std::uint32_t cores,
                                     std::uint32_t slots);

/// Returns `shape` with a record cache of `cache_bytes` over all of its cores.
search::SearchShape with_cache(search::SearchShape shape, std::uint64_t cache_bytes);

struct IndexSessionOptions {
  search::SearchShape shape;
  std::string tier;  ///< for reports
  std::uint64_t generation = 0;
  std::string page_search;            ///< for slotted pages: how they are searched
  std::shared_ptr<const void> owner;  ///< owns what the tier points to, while the session lives
};

class IndexSession final : public SearchSession {
 public:
  /// Prepares the part that the cores share. Throws Error when it does not fit a budget of memory.
  IndexSession(std::shared_ptr<const search::SearchIndex> index, const layout::Manifest& manifest,
               std::unique_ptr<const tiers::Tier> tier, IndexSessionOptions options);

  const ServedIndex& index() const override { return served_; }
  void run_core(unsigned core, search::TaskFeed& feed) override;
  bool alive() const override { return tier_->alive(); }
  bool superseded() const override { return tier_->superseded(); }
  TierCounters& counters() override { return counters_; }
  std::optional<search::ProbeTally> probes() const override {
    if (options_.shape.probe_counts == nullptr) return std::nullopt;
    return options_.shape.probe_counts->tally();
  }
  std::vector<tiers::NodeSet::Member> memory_nodes() const override {
    return tier_->memory_nodes();
  }

 private:
  const IndexSessionOptions
      options_;  ///< the first member, because it owns what the others point to
  const std::shared_ptr<const search::SearchIndex> index_;
  const std::unique_ptr<const tiers::Tier> tier_;
  const std::unique_ptr<const tiers::CoreSet> cores_;
  ServedIndex served_;
  TierCounters counters_;
};

}  // namespace farvec::compute_node
