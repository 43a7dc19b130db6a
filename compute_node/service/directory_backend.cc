#include "compute_node/service/directory_backend.h"

#include <algorithm>

#include "search/disk_memory.h"
#include "search/disk_records.h"
#include "search/index_loader.h"
#include "search/slotted_disk.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::compute_node {
namespace {

/// The records region in this process's own memory, and a view of it for endpoints.
struct Records {
  Records(const layout::IndexDirectory& directory, const layout::LoadOptions& options)
      : bytes(directory.load_region(layout::kRecordsRegion, options)),
        regions(std::make_shared<transport::RegionSet>()) {
    regions->push_back(transport::MappedRegion::borrow(bytes.span()));
  }
  HugeBuffer bytes;
  std::shared_ptr<transport::RegionSet> regions;
};

}  // namespace

DirectoryBackend::DirectoryBackend(const DaemonOptions& options)
    : options_(options),
      tier_(transport::parse_tier(options.tier.empty() ? "dram" : options.tier)) {
  using transport::TierKind;
  if (tier_.kind != TierKind::dram && tier_.kind != TierKind::emulated &&
      tier_.kind != TierKind::ssd) {
    throw Error("--tier {}: with --index the tier is dram, ssd[:PATH] or emulated:MODEL",
                options.tier);
  }
}

void DirectoryBackend::load_records(const layout::IndexDirectory& directory,
                                    const layout::LoadOptions& options,
                                    IndexSessionOptions& session) const {
  const auto records = std::make_shared<const Records>(directory, options);
  session.records = records->bytes.span();
  session.owner = records;
  if (tier_.kind != transport::TierKind::emulated) return;
  session.emulate(tier_.model, [records] {
    return std::make_unique<transport::MappedEndpoint>(
        records->regions, transport::MappedOptions{.by_reference = true});
  });
}

/// For the largest requests that the daemon takes.
ssd_baseline::SlottedSearchOptions DirectoryBackend::slotted_searches(
    const layout::Manifest& manifest) const {
  const search::DiskChoice choice = search::parse_disk_choice(options_.disk, manifest);
  auto searches = search::slotted_options(choice);
  const RequestLimits& limits = options_.limits;
  searches.cores = options_.threads;
  searches.slots = options_.slots;
  searches.list = limits.max_list;
  searches.width = limits.max_width;
  searches.k = std::min(limits.max_k, limits.max_list);
  if (!choice.rerank && search::reranks_by_itself(manifest)) {
    searches.rerank = ssd_baseline::reranked(searches.k, searches.list);
    searches.rerank_by_k = true;
  } else if (searches.rerank > 0) {
    if (searches.rerank > searches.list) {
      throw Error("--rerank {}: use at most {} (--max-list), or 0 for none", searches.rerank,
                  searches.list);
    }
    searches.k = std::min(searches.k, searches.rerank);
  }
  return searches;
}

void DirectoryBackend::open_slotted(const layout::IndexDirectory& directory,
                                    const search::SearchIndex& index,
                                    const layout::LoadOptions& options,
                                    IndexSessionOptions& session) const {
  const ssd_baseline::SlottedSearchOptions searches = slotted_searches(directory.manifest());
  const auto disk = std::make_shared<const search::SlottedDisk>(
      directory, *index.slotted(), search::SlottedDiskOptions{tier_.path, searches, options});
  const ssd_baseline::MemoryPlan& plan = disk->memory();
  session.memory = PlannedMemory{plan.map + plan.table, plan.pool, plan.buffers + plan.searches,
                                 searches.memory_budget};
  session.page_search = to_string(search::parse_disk_choice(options_.disk, directory.manifest()));
  session.make_core = [disk] { return disk->make_core(disk::DiskThread::owner); };
}

void DirectoryBackend::open_disk(const layout::IndexDirectory& directory,
                                 const search::SearchIndex& index,
                                 IndexSessionOptions& session) const {
  const auto records = search::open_disk_records(directory, tier_.path);
  const auto budget = search::parse_disk_choice(options_.disk, directory.manifest()).memory_budget;
  const search::DiskMemory plan = search::plan_disk_memory(index, *records,
                                                           {.cores = options_.threads,
                                                            .slots = options_.slots,
                                                            .cache_bytes = session.core.cache_bytes,
                                                            .list = options_.limits.max_list,
                                                            .width = options_.limits.max_width,
                                                            .probe = options_.limits.max_probe},
                                                           budget);
  session.memory = PlannedMemory{plan.location, plan.caches, plan.buffers + plan.searches, budget};
  session.make_endpoint = [records, reads = search::disk_reads(index)] {
    return search::make_disk_endpoint(records, reads, disk::DiskThread::owner);
  };
}

std::unique_ptr<SearchSession> DirectoryBackend::open(std::chrono::milliseconds,
                                                      const std::atomic<bool>& stop) {
  layout::LoadOptions options;
  options.on_chunk = [&stop](std::uint64_t) {
    // Relaxed: only the flag itself matters.
    if (stop.load(std::memory_order_relaxed)) throw search::UnreachableError("loading was stopped");
  };
  const auto directory = layout::IndexDirectory::open(options_.index);
  const bool disk = tier_.kind == transport::TierKind::ssd;
  if (!disk) layout::require_memory_layout(directory.manifest(), options_.index);
  const auto index =
      std::make_shared<const search::SearchIndex>(search::load_search_index(directory, options));
  IndexSessionOptions session;
  session.core = core_options(options_);
  session.core.merge_gap_bytes = transport::bytes_per_request(tier_);
  session.cores = options_.threads;
  session.tier = transport::to_string(tier_);
  session.generation = 1;
  if (index->slotted() != nullptr) {
    open_slotted(directory, *index, options, session);
  } else if (disk) {
    open_disk(directory, *index, session);
  } else {
    load_records(directory, options, session);
  }
  return std::make_unique<IndexSession>(index, directory.manifest(), std::move(session));
}

}  // namespace farvec::compute_node
