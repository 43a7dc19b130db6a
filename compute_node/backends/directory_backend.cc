#include "compute_node/backends/directory_backend.h"

#include <algorithm>
#include <utility>

#include "layout/index/index_directory.h"
#include "search/kinds/index_loader.h"
#include "tiers/tier.h"

namespace farvec::compute_node {
namespace {

/// An index directory with the parts that were loaded from it.
struct OpenDirectory {
  OpenDirectory(const std::string& path, const layout::LoadOptions& options)
      : directory(layout::IndexDirectory::open(path)),
        index(search::load_search_index(directory, options)),
        records(directory, options) {}

  const layout::IndexDirectory directory;
  const search::SearchIndex index;
  tiers::IndexRecords records;
};

/// A search of slotted pages cannot have more results than are ranked again.
void check_rerank(const search::SearchShape& shape) {
  const std::uint32_t rerank = shape.disk.rerank.value_or(0);
  if (rerank <= shape.list) return;
  throw Error("--rerank {}: use at most {} (--max-list), or 0 for none", rerank, shape.list);
}

}  // namespace

DirectoryBackend::DirectoryBackend(const DirectorySource& source,
                                   const search::SearchShape& largest)
    : source_(source),
      largest_(with_cache(largest, source.cache_bytes)),
      tier_(tiers::parse_tier(source.tier)) {
  if (tier_->is_remote()) {
    throw Error("--tier {}: with --index the tier is {}", source.tier,
                tiers::tier_usage(tiers::TierUse::here));
  }
}

search::SearchShape DirectoryBackend::shape_of(const layout::Manifest& manifest) const {
  search::SearchShape shape = largest_;
  if (!tier_->traits().disk) return shape;
  shape.disk = search::parse_disk_choice(source_.disk, manifest);
  check_rerank(shape);
  if (shape.disk.rerank.value_or(0) > 0) shape.k = std::min(shape.k, *shape.disk.rerank);
  return shape;
}

std::unique_ptr<SearchSession> DirectoryBackend::open(std::chrono::milliseconds,
                                                      const std::atomic<bool>& stop) {
  layout::LoadOptions load;
  load.on_chunk = [&stop](std::uint64_t) {
    // Relaxed: only the flag itself matters.
    if (stop.load(std::memory_order_relaxed)) throw UnreachableError("loading was stopped");
  };
  const auto open = std::make_shared<OpenDirectory>(source_.path, load);
  const layout::Manifest& manifest = open->directory.manifest();
  auto tier = tiers::Tier::open(
      *tier_,
      {.memory = &open->records, .index = &open->index, .disk_thread = disk::DiskThread::owner});
  IndexSessionOptions session;
  session.shape = shape_of(manifest);
  session.tier = tier_->name();
  session.generation = 1;
  session.owner = open;
  if (manifest.is_slotted()) session.page_search = to_string(session.shape.disk);
  return std::make_unique<IndexSession>(
      std::shared_ptr<const search::SearchIndex>(open, &open->index), manifest, std::move(tier),
      std::move(session));
}

}  // namespace farvec::compute_node
