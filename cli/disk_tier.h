// --tier ssd: an index's pages on a disk of this machine, and what searches may keep in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/batch_search.h"
#include "compute_node/search_core.h"
#include "layout/index_directory.h"
#include "ssd_baseline/io/disk_file.h"
#include "ssd_baseline/search/slotted_store.h"

namespace CLI {
class App;
}

namespace farvec::cli {

/// As given; lists where a command takes lists.
struct DiskArguments {
  std::string memory_budget;
  std::string search = "cache-aware";
  std::string pool = "record";
  std::string prefetch = "on";
  std::string page_search = "on";
  std::string rerank = "0";
};

/// `lists`: every option takes several values, separated by commas.
void add_disk_options(CLI::App& command, DiskArguments& arguments, bool lists);

/// One way to search.
struct DiskChoice {
  ssd_baseline::SearchKind search = ssd_baseline::SearchKind::cache_aware;
  ssd_baseline::PoolKind pool = ssd_baseline::PoolKind::record;
  bool prefetch = true;
  bool page_search = true;
  std::uint32_t rerank = 0;  ///< results that are ranked again by their vectors
  std::optional<std::size_t> memory_budget;

  bool operator==(const DiskChoice&) const = default;
};

/// "50000000", or "20%" of all bytes of the index. Throws Error.
std::size_t parse_budget(const std::string& text, const layout::Manifest& manifest);

/// All combinations; of an index that is not in slotted pages the budgets alone. Throws Error for
/// anything that is not understood, and for what is said of slotted pages only.
std::vector<DiskChoice> disk_choices(const DiskArguments& arguments,
                                     const layout::Manifest& manifest);

/// The only one. Throws Error when the arguments are lists.
DiskChoice one_disk_choice(const DiskArguments& arguments, const layout::Manifest& manifest);

/// Slotted pages in a file or on a block device. Directory and index must outlive it and its cores.
class DiskTier {
 public:
  /// `path` is the index's pages themselves, a directory that holds them (and the vectors, when
  /// results are ranked again) under their name, or empty: they lie in the index's directory.
  /// Throws Error when they are not this index's.
  DiskTier(const std::string& path, const layout::IndexDirectory& directory,
           const ssd_baseline::SlottedIndex& index);

  /// Cores that share a pool, which is as large as the budget allows. Throws Error when the budget
  /// is too small.
  std::vector<std::unique_ptr<compute_node::SearchCore>> make_cores(
      const ssd_baseline::SlottedSearchOptions& options) const;
  ssd_baseline::MemoryPlan plan(const ssd_baseline::SlottedSearchOptions& options) const {
    return ssd_baseline::SlottedStore::plan(index_, options);
  }

  /// Searches in flight on a core that keep the disk busy: the fewest, of powers of two, with
  /// nearly the best rate over some of the queries; no more than leave the pool its share of the
  /// budget. `all.slots` does not matter. Takes about three seconds.
  std::uint32_t choose_slots(const ssd_baseline::SlottedSearchOptions& all, VectorView queries,
                             const BatchParameters& parameters) const;

  /// "PATH (O_DIRECT, blocks of 512 bytes), io_uring (...)".
  const std::string& model() const { return model_; }

 private:
  /// Queries per second, over some of them, on one core.
  double probe_rate(const ssd_baseline::SlottedSearchOptions& options, VectorView queries,
                    const BatchParameters& parameters) const;
  /// Most that leave enough of the budget to the pool.
  std::uint32_t affordable_slots(ssd_baseline::SlottedSearchOptions options) const;

  const layout::IndexDirectory& directory_;
  const ssd_baseline::SlottedIndex& index_;
  const std::string path_;
  std::shared_ptr<const ssd_baseline::DiskFile> file_;  ///< of the pages
  std::string model_;
};

}  // namespace farvec::cli
