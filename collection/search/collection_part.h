// A CollectionPart searches a collection: its memtables and all its segments, by fibers of one core
// at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "collection/search/probe_shares.h"
#include "collection/state/view.h"
#include "coroutines/scheduler.h"
#include "search/core/core_part.h"

namespace farvec::collection {

/// Returns the view to search; called when a search begins.
using ViewSource = std::function<ViewPointer()>;

/// Every search runs on its view to the end, whatever changes meanwhile. Each segment is searched
/// by a fiber of its own, and the memtables are searched while these wait for their records.
/// More results than the collection has live vectors may be asked for. Where a condition is asked
/// for, results are the nearest of all live vectors that meet it.
class CollectionPart final : public search::CorePart {
 public:
  /// Segments that are searched at once; further ones wait for these.
  static constexpr std::uint32_t kMostLegs = 8;
  /// Fibers that a search spawns at most, beside its own.
  static constexpr std::uint32_t kHelpers = kMostLegs - 1;

  CollectionPart(ViewSource views, std::uint32_t slots, coroutines::Scheduler& scheduler);
  ~CollectionPart() override;

  std::uint32_t slots() const override { return static_cast<std::uint32_t>(slots_.size()); }
  bool takes_conditions() const override { return true; }
  Status search(std::uint32_t slot, const search::SearchRequest& request,
                search::SearchAnswer& answer) override;
  bool poll() override;
  search::CoreStatistics statistics() const override;

 private:
  /// A Bound is a segment with the part by which this core searches it.
  struct Bound {
    std::shared_ptr<Segment> segment;  ///< outlives the part
    std::unique_ptr<search::CorePart> part;
    const search::SearchIndex* index = nullptr;  ///< the segment's
    std::uint32_t users = 0;                     ///< searches that are running
    bool lost = false;                           ///< the part's reads are lost for good
  };
  struct Leg;
  struct Slot;

  void let_go(const View& view);
  Status bind(const View& view, Slot& slot);
  bool poll(std::uint64_t number, Bound& bound);
  Bound* bound_to(const std::shared_ptr<Segment>& segment);
  void release(Slot& slot);
  Status search_legs(std::uint32_t slot, const search::SearchRequest& request);
  static void filter(const search::SearchRequest& request, Slot& slot);
  Status plan(const search::SearchRequest& request, Slot& slot) const;
  Status plan_lists(const search::SearchRequest& request, Slot& slot) const;
  static ProbedSegment probed_segment(const Leg& leg);
  Status plan_probes(const search::SearchRequest& request, Slot& slot) const;
  void run_round(std::uint32_t slot);
  Status merge(const search::SearchRequest& request, Slot& slot) const;
  Result<bool> plan_again(const search::SearchRequest& request, Slot& slot) const;
  static void fill(const search::SearchRequest& request, const Slot& slot,
                   search::SearchAnswer& answer);
  static void attach_attributes(const ViewPointer& view, const Slot& slot,
                                search::SearchAnswer& answer);

  const ViewSource views_;
  coroutines::Scheduler& scheduler_;
  std::map<std::uint64_t, Bound> bound_;  ///< keyed by the segment's number
  search::CoreStatistics gone_;           ///< counts of segments that it no longer holds
  Ticks look_at_ = 0;                     ///< when to look for segments to release
  std::string unopened_;                  ///< why a segment could not be searched the last time
  std::vector<std::unique_ptr<Slot>> slots_;
};

/// Makes a core of its own, whose slots search the views.
std::unique_ptr<search::SearchCore> make_collection_core(ViewSource views, std::uint32_t slots);

}  // namespace farvec::collection
