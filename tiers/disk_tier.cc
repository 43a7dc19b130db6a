// Tier ssd: records, or slotted pages, on a disk of this machine.
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "search/disk/disk_records.h"
#include "search/disk/slotted_disk.h"
#include "search/index/second_copy.h"
#include "tiers/kinds.h"
#include "tiers/tier.h"

namespace farvec::tiers {
namespace {

/// Reads the records of a graph or of clusters.
class RecordsTier final : public Tier {
 public:
  RecordsTier(const std::string& path, const TierContext& context, std::uint32_t gap_bytes)
      : index_(*context.index),
        records_(search::open_disk_records(*context.memory->directory(), path)),
        thread_(context.disk_thread),
        gap_bytes_(gap_bytes) {}

  std::string description() const override { return make_endpoint()->description(); }
  std::unique_ptr<transport::Endpoint> make_endpoint() const override {
    return search::make_disk_endpoint(records_, search::disk_reads(index_), thread_);
  }
  std::optional<std::uint32_t> merge_gap_bytes() const override { return gap_bytes_; }
  std::optional<search::DiskMemory> plan_records(const search::SearchIndex& index,
                                                 const search::SearchShape& shape) const override {
    return search::plan_disk_memory(index, *records_, shape);
  }

 private:
  const search::SearchIndex& index_;
  const std::shared_ptr<const disk::DiskFile> records_;
  const disk::DiskThread thread_;
  const std::uint32_t gap_bytes_;
};

/// Reads rows of a second copy, in the index's directory or in the one that `path` names.
class SecondTier final : public Tier {
 public:
  SecondTier(const std::string& path, const search::SecondCopy& second, disk::DiskThread thread)
      : row_bytes_(second.geometry().row_bytes()),
        rows_(search::open_disk_second(second.file(), path)),
        thread_(thread) {}

  std::string description() const override { return make_endpoint()->description(); }
  std::unique_ptr<transport::Endpoint> make_endpoint() const override {
    return search::make_disk_endpoint(rows_, reads(), thread_);
  }
  std::size_t endpoint_bytes() const override {
    return transport::DiskEndpoint::staging_bytes(*rows_, reads().count, reads().options);
  }
  std::optional<std::uint32_t> merge_gap_bytes() const override { return std::nullopt; }

 private:
  search::DiskReads reads() const {
    return {search::disk_read_count(row_bytes_), {row_bytes_, row_bytes_}};
  }

  const std::uint32_t row_bytes_;
  const std::shared_ptr<const disk::DiskFile> rows_;
  const disk::DiskThread thread_;
};

/// Makes cores that share a pool.
class SlottedCores final : public CoreSet {
 public:
  SlottedCores(search::SlottedDisk disk, disk::DiskThread thread)
      : disk_(std::move(disk)), thread_(thread) {}
  std::uint32_t slots() const override { return disk_.slots(); }
  std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const override {
    return disk_.make_part(thread_, scheduler);
  }

 private:
  const search::SlottedDisk disk_;
  const disk::DiskThread thread_;
};

class PagesTier final : public Tier {
 public:
  /// `path` is the index's pages themselves, a directory that holds them (and the vectors, when
  /// results are ranked again) under their name, or empty: then they are in the index's directory.
  PagesTier(std::string path, const TierContext& context)
      : path_(std::move(path)),
        memory_(*context.memory),
        thread_(context.disk_thread),
        records_(search::open_disk_records(directory(), path_)) {}

  std::string description() const override {
    return disk::open_disk({records_}, 1, thread_)->description();
  }
  std::unique_ptr<transport::Endpoint> make_endpoint() const override {
    throw Error("slotted pages are read through the pool that cores share, not by an endpoint");
  }
  std::optional<std::uint32_t> merge_gap_bytes() const override { return std::nullopt; }
  std::optional<search::DiskMemory> plan_records(const search::SearchIndex& index,
                                                 const search::SearchShape& shape) const override {
    return search::disk_memory(slotted::SlottedStore::plan(*index.slotted(), options(shape)));
  }
  std::unique_ptr<const CoreSet> prepare_cores(const search::SearchIndex& index,
                                               const search::SearchShape& shape) const override {
    return std::make_unique<const SlottedCores>(
        search::SlottedDisk(
            directory(), *index.slotted(),
            {.path = path_, .searches = options(shape), .load = memory_.load_options()}),
        thread_);
  }

 private:
  const layout::IndexDirectory& directory() const { return *memory_.directory(); }
  slotted::SlottedSearchOptions options(const search::SearchShape& shape) const {
    return search::slotted_options(shape, directory().manifest());
  }

  const std::string path_;
  const RecordMemory& memory_;
  const disk::DiskThread thread_;
  const std::shared_ptr<const disk::DiskFile> records_;
};

class DiskSpec final : public TierSpec {
 public:
  /// `path` is empty where the records are in the index's directory.
  explicit DiskSpec(std::string path) : path_(std::move(path)) {}
  std::string name() const override { return path_.empty() ? "ssd" : "ssd:" + path_; }
  TierTraits traits() const override {
    return {.disk = true, .bytes_per_request = search::kDiskRequestBytes};
  }
  std::unique_ptr<Tier> open(const TierContext& context) const override {
    if (context.second != nullptr) {
      return std::make_unique<SecondTier>(path_, *context.second, context.disk_thread);
    }
    if (context.index == nullptr) {
      throw Error("--tier ssd has no transport to measure: see `farvec bench disk`");
    }
    FARVEC_CHECK(context.memory != nullptr && context.memory->directory() != nullptr);
    if (context.index->slotted() != nullptr) return std::make_unique<PagesTier>(path_, context);
    return std::make_unique<RecordsTier>(path_, context, traits().bytes_per_request);
  }

 private:
  const std::string path_;
};

}  // namespace

TierSpecPointer read_ssd(std::string_view rest) {
  const std::string_view path = after_colon(rest);
  if (path.empty() && !rest.empty()) return nullptr;
  return std::make_shared<const DiskSpec>(std::string(path));
}

}  // namespace farvec::tiers
