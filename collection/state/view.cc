#include "collection/state/view.h"

namespace farvec::collection {

ViewSize size_of(const View& view) {
  ViewSize size;
  for (const View::Fresh& fresh : view.memtables) {
    size.fresh += fresh.live();
    size.dram_bytes +=
        fresh.memtable->dram_bytes() + fresh.out->dram_bytes() + fresh.updates->dram_bytes();
  }
  size.live = size.fresh;
  for (const View::Bulk& bulk : view.segments) {
    size.live += bulk.live();
    size.out += bulk.out->count();
    size.segment_bytes += bulk.segment->file_bytes();
    size.loaded_bytes += bulk.segment->loaded_bytes();
    size.updated += bulk.updates->count();
    size.dram_bytes +=
        bulk.segment->dram_bytes() + bulk.out->dram_bytes() + bulk.updates->dram_bytes();
  }
  return size;
}

std::shared_ptr<Segment> find_segment(const View& view, std::uint64_t number) {
  for (const View::Bulk& bulk : view.segments) {
    if (bulk.segment->number() == number) return bulk.segment;
  }
  return nullptr;
}

void RowPlace::append_attributes(layout::Tuples& tuples) const {
  if (const std::span<const std::byte> updated = updates->find(row); !updated.empty()) {
    tuples.append(updated);
  } else if (memtable != nullptr) {
    tuples.append(memtable->attributes(row));
  } else {
    tuples.append(segment->attributes().read(row));
  }
}

const std::shared_ptr<const layout::UpdatedTuples>& no_updates() {
  static const auto kNone = std::make_shared<const layout::UpdatedTuples>();
  return kNone;
}

PartChanges find_changes(const View& view, const void* part) {
  for (const View::Fresh& fresh : view.memtables) {
    if (fresh.memtable.get() == part) return {fresh.out.get(), fresh.updates.get()};
  }
  for (const View::Bulk& bulk : view.segments) {
    if (bulk.segment.get() == part) return {bulk.out.get(), bulk.updates.get()};
  }
  return {};
}

bool is_unchanged(const View& now, const RowPlace& found) {
  const PartChanges changes = find_changes(now, found.part());
  return changes.out != nullptr && !changes.out->contains(found.row) &&
         changes.updates->find(found.row).data() == found.updates->find(found.row).data();
}

}  // namespace farvec::collection
