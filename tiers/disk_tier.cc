// Tier ssd: records, or slotted pages, on a disk of this machine.
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "disk/modelled_disk.h"
#include "search/disk/disk_records.h"
#include "search/disk/slotted_disk.h"
#include "search/index/second_copy.h"
#include "tiers/kinds.h"
#include "tiers/tier.h"

namespace farvec::tiers {
namespace {

/// Where the bytes are, and when requests end.
struct Place {
  std::string path;                           ///< empty: with the index
  std::shared_ptr<disk::ModelledDisk> model;  ///< null: the disk itself

  disk::PageCache cache() const {
    return model == nullptr ? disk::PageCache::bypassed : disk::PageCache::used;
  }
  disk::DiskUse use(disk::DiskThread thread) const { return {thread, model}; }
};

/// Reads the records of a graph or of clusters.
class RecordsTier final : public Tier {
 public:
  RecordsTier(const Place& place, const TierContext& context, std::uint32_t gap_bytes)
      : index_(*context.index),
        records_(
            search::open_disk_records(*context.memory->directory(), place.path, place.cache())),
        use_(place.use(context.disk_thread)),
        gap_bytes_(gap_bytes) {}

  std::string description() const override { return make_endpoint()->description(); }
  std::unique_ptr<transport::Endpoint> make_endpoint() const override {
    return search::make_disk_endpoint(records_, search::disk_reads(index_), use_);
  }
  std::optional<std::uint32_t> merge_gap_bytes() const override { return gap_bytes_; }
  std::optional<search::DiskMemory> plan_records(const search::SearchIndex& index,
                                                 const search::SearchShape& shape) const override {
    return search::plan_disk_memory(index, *records_, shape);
  }

 private:
  const search::SearchIndex& index_;
  const std::shared_ptr<const disk::DiskFile> records_;
  const disk::DiskUse use_;
  const std::uint32_t gap_bytes_;
};

/// Reads rows of a second copy, in the index's directory or in the one that `path` names.
class SecondTier final : public Tier {
 public:
  SecondTier(const Place& place, const search::SecondCopy& second, disk::DiskThread thread)
      : row_bytes_(second.geometry().row_bytes()),
        rows_(search::open_disk_second(second.file(), place.path, place.cache())),
        use_(place.use(thread)) {}

  std::string description() const override { return make_endpoint()->description(); }
  std::unique_ptr<transport::Endpoint> make_endpoint() const override {
    return search::make_disk_endpoint(rows_, reads(), use_);
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
  const disk::DiskUse use_;
};

/// Makes cores that share a pool.
class SlottedCores final : public CoreSet {
 public:
  SlottedCores(search::SlottedDisk disk, disk::DiskUse use)
      : disk_(std::move(disk)), use_(std::move(use)) {}
  std::uint32_t slots() const override { return disk_.slots(); }
  std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const override {
    return disk_.make_part(use_, scheduler);
  }

 private:
  const search::SlottedDisk disk_;
  const disk::DiskUse use_;
};

class PagesTier final : public Tier {
 public:
  /// The path is the index's pages themselves, a directory that holds them (and the vectors, when
  /// results are ranked again) under their name, or empty: then they are in the index's directory.
  PagesTier(Place place, const TierContext& context)
      : place_(std::move(place)),
        memory_(*context.memory),
        use_(place_.use(context.disk_thread)),
        records_(search::open_disk_records(directory(), place_.path, place_.cache())) {}

  std::string description() const override {
    return disk::open_disk({records_}, 1, use_)->description();
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
        search::SlottedDisk(directory(), *index.slotted(),
                            {.path = place_.path,
                             .cache = place_.cache(),
                             .searches = options(shape),
                             .load = memory_.load_options()}),
        use_);
  }

 private:
  const layout::IndexDirectory& directory() const { return *memory_.directory(); }
  slotted::SlottedSearchOptions options(const search::SearchShape& shape) const {
    return search::slotted_options(shape, directory().manifest());
  }

  const Place place_;
  const RecordMemory& memory_;
  const disk::DiskUse use_;
  const std::shared_ptr<const disk::DiskFile> records_;
};

class DiskSpec final : public TierSpec {
 public:
  /// `model` is the text of the modelled disk; empty: the disk itself. All that is opened by this
  /// name is on one modelled disk.
  DiskSpec(std::string path, std::string model) : model_(std::move(model)) {
    place_.path = std::move(path);
    if (model_.empty()) return;
    place_.model = std::make_shared<disk::ModelledDisk>(disk::parse_disk_model(model_));
  }
  std::string name() const override {
    std::string name = place_.path.empty() ? "ssd" : "ssd:" + place_.path;
    if (!model_.empty()) name += ",model=" + model_;
    return name;
  }
  TierTraits traits() const override { return {.disk = true, .bytes_per_request = gap_bytes()}; }
  std::unique_ptr<Tier> open(const TierContext& context) const override {
    if (context.second != nullptr) {
      return std::make_unique<SecondTier>(place_, *context.second, context.disk_thread);
    }
    if (context.index == nullptr) {
      throw Error("--tier ssd has no transport to measure: see `farvec bench disk`");
    }
    FARVEC_CHECK(context.memory != nullptr && context.memory->directory() != nullptr);
    if (context.index->slotted() != nullptr) return std::make_unique<PagesTier>(place_, context);
    return std::make_unique<RecordsTier>(place_, context, gap_bytes());
  }

 private:
  /// Bytes that the disk brings in the time of one more request, for the bytes that lie between two
  /// reads.
  std::uint32_t gap_bytes() const {
    if (place_.model == nullptr) return search::kDiskRequestBytes;
    return disk::bytes_per_request(place_.model->model());
  }

  const std::string model_;
  Place place_;
};

}  // namespace

TierSpecPointer read_ssd(std::string_view rest) {
  constexpr std::string_view kModel = ",model=";
  const std::size_t at = rest.find(kModel);
  const std::string_view place = rest.substr(0, at);
  const std::string_view path = after_colon(place);
  if (path.empty() && !place.empty()) return nullptr;
  const std::string_view model =
      at == std::string_view::npos ? std::string_view() : rest.substr(at + kModel.size());
  if (at != std::string_view::npos && model.empty()) return nullptr;
  return std::make_shared<const DiskSpec>(std::string(path), std::string(model));
}

}  // namespace farvec::tiers
