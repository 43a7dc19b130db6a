#include "collection/write/writer.h"

#include <algorithm>
#include <utility>

#include "layout/collection/collection_format.h"

namespace farvec::collection {
namespace {

/// Ids that are found between two looks at an interruption.
constexpr std::size_t kIdsBetweenLooks = 256;
constexpr std::uint64_t kEveryVersion = ~std::uint64_t{0};
/// Comparing the rows that are not linked may take as long as searching a graph with this list.
constexpr std::uint32_t kUnlinkedList = 16;

std::uint64_t fewest_unlinked(const OpenedCollection& opened) {
  if (opened.access.most_unlinked > 0) return opened.access.most_unlinked;
  return kUnlinkedList *
         measured_place_rows(packed_bytes(opened.shape.stored_type, opened.shape.dimension));
}

Ticks rest_of(const CollectionAccess& access) {
  return access.rest_us > 0 ? now_ticks() + us_to_ticks(access.rest_us) : 0;
}

wal::LogOptions log_options(const CollectionAccess& access) {
  wal::LogOptions options;
  options.durability = access.durability;
  options.interval_us = access.interval_us;
  options.segment_bytes = access.log_segment_bytes;
  return options;
}

}  // namespace

Writer::Writer(const OpenedCollection& opened, Manifests& manifests, WrittenLog& log)
    : opened_(opened),
      manifests_(manifests),
      rest_(rest_of(opened.access)),
      contents_(memtable_options(opened.shape)),
      fewest_unlinked_(fewest_unlinked(opened)) {
  contents_.begin(manifests_.open(), opened_.shape.last_version, opened_.shape.schema);
  if (const std::shared_ptr<wal::LogSource> source = log.source(); source != nullptr) {
    // No other process writes the manifest: what the log lacks, it lacks for good.
    Replay replay(opened_.shape, source, wal::LogTail::final, kEveryVersion);
    replay.run(contents_);
    recovery_ = replay.recovery();
  }
  // Readers that find the manifest on nodes cannot know of skipped records until it says so.
  if (recovery_.skipped > 0) manifests_.note_change();
  version_ = contents_.current()->version;
  most_unlinked_ = std::max(fewest_unlinked_, contents_.unlinked());
  log_ = log.open(log_options(opened_.access));
  opened_at_ = log_->end();
  if (opened_.access.link) linker_.emplace([this] { return memtables(); }, rest_);
}

std::vector<std::shared_ptr<Memtable>> Writer::memtables() const {
  const Lock held = lock();
  return contents_.memtables();
}

Writer::Found Writer::find(std::span<const std::uint64_t> ids,
                           const Interruption& interrupted) const {
  Found found;
  found.locations.reserve(ids.size());
  const Lock held = lock();
  found.view = contents_.current();
  for (const std::uint64_t id : ids) {
    const bool looks = found.locations.size() % kIdsBetweenLooks == 0;
    if (looks && asked_to_end(interrupted)) throw WorkInterrupted();
    found.locations.push_back(contents_.find(id));
  }
  return found;
}

bool Writer::may_freeze() const {
  return !contents_.holds_rows() || contents_.frozen() < opened_.access.most_frozen;
}

void Writer::freeze() {
  if (contents_.holds_rows()) contents_.rotate(log_->end());
}

std::uint64_t Writer::add(std::shared_ptr<Segment> segment) {
  version_ += segment->rows();
  return contents_.add(std::move(segment), version_);
}

void Writer::add_columns(const layout::Schema& columns) {
  const std::lock_guard turn(adding_columns_);
  const std::shared_ptr<const layout::Schema> before = view()->schema;
  changes::check_columns(*before, columns);
  const layout::Schema schema = before->with(columns);
  Lock lock = this->lock();
  manifests_.set_schema(schema);
  // A row with a value in a new column must not be in the log before the manifest has the column.
  try {
    save(lock);
    contents_.set_schema(schema);
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    manifests_.set_schema(*before);
    throw;
  }
  // A memtable without attributes ends.
  monitor_.work.notify_all();
}

void Writer::end_rest() {
  rest_.end();
  if (linker_) linker_->wake();
  monitor_.work.notify_all();
}

void Writer::resume() {
  paused_ = false;
  monitor_.progress.notify_all();
}

}  // namespace farvec::collection
