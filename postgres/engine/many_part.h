// A ManyPart searches all indexes of a server by fibers of one core: SearchRequest::index says
// which OpenIndex is meant.
#pragma once

#include "base/clock.h"
#include "collection/search/collection_part.h"
#include "coroutines/scheduler.h"
#include "postgres/engine/open_index.h"
#include "search/core/core_part.h"
#include <cstdint>
#include <map>
#include <memory>

namespace farvec::postgres {

/// Makes what it needs for an index when it is first asked for it, and lets go of it soon after the
/// index leaves. A caller holds the index during its search.
class ManyPart final : public search::CorePart {
 public:
  ManyPart(std::uint32_t slots, coroutines::Scheduler& scheduler)
      : count_(slots), scheduler_(scheduler) {}

  std::uint32_t slots() const override { return count_; }
  bool takes_conditions() const override { return true; }
  Status search(std::uint32_t slot, const search::SearchRequest& request,
                search::SearchAnswer& answer) override;
  bool poll() override;
  search::CoreStatistics statistics() const override;

 private:
  struct Bound {
    std::shared_ptr<OpenIndex> index;
    std::unique_ptr<collection::CollectionPart> part;
    std::uint32_t users = 0;  ///< searches that are running
  };

  Bound& bound_to(OpenIndex& index);

  const std::uint32_t count_;
  coroutines::Scheduler& scheduler_;
  std::map<const void*, Bound> bound_;
  Ticks look_at_ = 0;  ///< when to look for indexes that leave
};

}  // namespace farvec::postgres
