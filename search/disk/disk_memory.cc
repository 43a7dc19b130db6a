#include "search/disk/disk_memory.h"

#include "base/error.h"
#include "search/core/index_kinds.h"
#include "search/disk/disk_records.h"

namespace farvec::search {
std::size_t lane_bytes(const SearchIndex& index, const SearchShape& shape) {
  const CoreNeeds needs =
      index.visit_records([&](const auto& own) { return core_needs(own, shape); });
  return shape.cores * ReadDispatcher::memory_bytes(needs.lanes);
}

DiskMemory plan_disk_memory(const SearchIndex& index, const disk::DiskFile& records,
                            const SearchShape& shape) {
  DiskMemory plan;
  plan.location = index.location_bytes();
  plan.codes = index.dram_bytes() - plan.location;
  const CoreNeeds needs =
      index.visit_records([&](const auto& own) { return core_needs(own, shape); });
  const DiskReads reads = disk_reads(index);
  plan.buffers = lane_bytes(index, shape) + shape.cores * transport::DiskEndpoint::staging_bytes(
                                                              records, reads.count, reads.options);
  const std::size_t in_flight = std::size_t{shape.cores} * shape.slots;
  plan.searches = in_flight * needs.search_bytes;
  plan.caches = shape.cores * needs.cache_bytes;
  plan.second = shape.second_bytes;
  const std::optional<std::size_t> budget = shape.disk.memory_budget;
  if (budget && *budget < plan.total()) {
    throw Error(
        "a memory budget of {} bytes is too small: {} are needed ({} for codes or centroids, {} "
        "for where records are, {} for buffers, {} for {} searches, {} for caches, {} for the "
        "second copy): use --memory-budget {} or fewer --slots",
        *budget, plan.total(), plan.codes, plan.location, plan.buffers, plan.searches, in_flight,
        plan.caches, plan.second, plan.total());
  }
  return plan;
}

DiskMemory disk_memory(const slotted::MemoryPlan& plan) {
  return {.codes = plan.codes + plan.entries,
          .location = plan.map + plan.table,
          .buffers = plan.buffers,
          .searches = plan.searches,
          .caches = plan.pool,
          .second = plan.second};
}

}  // namespace farvec::search
