#include "compute_node/backends/collection_changes.h"

#include "layout/collection/change_record.h"

namespace farvec::compute_node {
namespace {

namespace wire = collection::v1;

void tell_view(const collection::View& view, wire::StatsResponse& out) {
  const collection::ViewSize size = size_of(view);
  out.set_version(view.version);
  out.set_rows(size.live);
  out.set_rows_out(size.out);
  out.set_rows_updated(size.updated);
  out.set_memtable_rows(size.fresh);
  std::uint64_t bytes = 0;
  for (const collection::View::Fresh& fresh : view.memtables) bytes += fresh.memtable->dram_bytes();
  out.set_memtable_bytes(bytes);
  out.set_segments(view.segments.size());
  out.set_segment_bytes(size.segment_bytes);
}

void tell_writer(const collection::WriterState& state, wire::StatsResponse& out) {
  out.set_log_bytes(state.log_bytes);
  out.set_written_bytes(state.written_bytes);
  out.set_log_nodes(state.log_copies.wanted);
  out.set_log_copies(state.log_copies.there);
  out.set_segment_copies_missing(state.segment_copies_missing);
  out.set_segments_built(state.built);
  out.set_segments_merged(state.merged);
  out.set_failures(state.failures);
  out.set_failure(state.failure);
  out.set_merge_phase(to_string(state.merge.phase));
  out.set_merge_segments(state.merge.segments);
  out.set_merge_rows(state.merge.rows);
  out.set_merge_rows_linked(state.merge.linked);
  out.set_merged_bytes(state.merge.bytes);
}

}  // namespace

std::size_t CollectionChanges::most_ids() const {
  return layout::changes_per_record(0);
}

void CollectionChanges::tell_state(wire::StatsResponse& out) {
  tell_view(*collection_->view(), out);
  tell_writer(collection_->state(), out);
}

}  // namespace farvec::compute_node
