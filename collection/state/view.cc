#include "collection/state/view.h"

namespace farvec::collection {

ViewSize size_of(const View& view) {
  ViewSize size;
  for (const View::Fresh& fresh : view.memtables) {
    size.fresh += fresh.live();
    size.dram_bytes += fresh.memtable->dram_bytes() + fresh.out->dram_bytes();
  }
  size.live = size.fresh;
  for (const View::Bulk& bulk : view.segments) {
    size.live += bulk.live();
    size.out += bulk.out->count();
    size.segment_bytes += bulk.segment->file_bytes();
    size.dram_bytes += bulk.segment->dram_bytes() + bulk.out->dram_bytes();
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
  if (memtable != nullptr) {
    tuples.append(memtable->attributes(row));
  } else {
    tuples.append(segment->attributes().read(row));
  }
}

const RowSet* find_out(const View& view, const void* part) {
  for (const View::Fresh& fresh : view.memtables) {
    if (fresh.memtable.get() == part) return fresh.out.get();
  }
  for (const View::Bulk& bulk : view.segments) {
    if (bulk.segment.get() == part) return bulk.out.get();
  }
  return nullptr;
}

}  // namespace farvec::collection
