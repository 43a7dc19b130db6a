#include "search/disk_memory.h"

#include <algorithm>

#include "base/error.h"
#include "coroutines/stack_pool.h"
#include "search/disk_records.h"
#include "search/endpoint_posting_source.h"
#include "search/endpoint_source.h"
#include "ssd_baseline/search/search_memory.h"

namespace farvec::search {
namespace {

/// Lists of a search of clusters that hardly grow: nearest centroids, results, reads of a round.
constexpr std::size_t kProbeBytes = 256 * 1024;
/// Noted of every member of the clusters that are probed: its address while it is sorted and
/// remembered, its read, and whether it was seen.
constexpr std::size_t kBytesPerMember = 64;

DispatcherOptions lanes(const SearchIndex& index, std::uint32_t slots) {
  return index.graph() != nullptr
             ? EndpointNodeSource::dispatcher_options(index.graph()->locator(), slots)
             : EndpointPostingSource::dispatcher_options(index.clusters()->locator(), slots);
}

std::size_t search_bytes(const GraphIndex& index, const SearchShape& shape) {
  return ssd_baseline::graph_search_bytes({shape.list, shape.width, index.max_degree(),
                                           static_cast<std::uint32_t>(index.count()),
                                           index.dimension()});
}

std::size_t search_bytes(const ClusterIndex& index, const SearchShape& shape) {
  const layout::ClusterLocator& locator = index.locator();
  const std::size_t probed = std::min<std::size_t>(shape.probe, locator.geometry().clusters);
  return coroutines::kStackBytes + kProbeBytes +
         index.dimension() * ssd_baseline::kQueryBytesPerDimension +
         probed * locator.max_members() * kBytesPerMember;
}

}  // namespace

DiskMemory plan_disk_memory(const SearchIndex& index, const disk::DiskFile& records,
                            const SearchShape& shape) {
  DiskMemory plan;
  plan.location = index.location_bytes();
  plan.codes = index.dram_bytes() - plan.location;
  const DispatcherOptions lane = lanes(index, shape.slots);
  const DiskReads reads = disk_reads(index);
  plan.buffers =
      shape.cores * (ReadDispatcher::memory_bytes(lane) +
                     transport::DiskEndpoint::staging_bytes(records, reads.count, reads.options));
  const std::size_t each = index.graph() != nullptr ? search_bytes(*index.graph(), shape)
                                                    : search_bytes(*index.clusters(), shape);
  const std::size_t in_flight = std::size_t{shape.cores} * shape.slots;
  plan.searches = in_flight * each;
  if (index.graph() != nullptr) plan.caches = shape.cores * shape.cache_bytes;
  const std::optional<std::size_t> budget = shape.disk.memory_budget;
  if (budget && *budget < plan.total()) {
    throw Error(
        "a memory budget of {} bytes is too small: {} are needed ({} for codes or centroids, {} "
        "for where records are, {} for buffers, {} for {} searches, {} for caches): use "
        "--memory-budget {} or fewer --slots",
        *budget, plan.total(), plan.codes, plan.location, plan.buffers, plan.searches, in_flight,
        plan.caches, plan.total());
  }
  return plan;
}

DiskMemory disk_memory(const ssd_baseline::MemoryPlan& plan) {
  return {.codes = plan.codes + plan.entries,
          .location = plan.map + plan.table,
          .buffers = plan.buffers,
          .searches = plan.searches,
          .caches = plan.pool};
}

}  // namespace farvec::search
