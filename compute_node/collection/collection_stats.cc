// The service of a collection tells what state it is in.
#include "compute_node/collection/change_request.h"
#include "compute_node/collection/collection_service.h"
#include "layout/collection/change_record.h"

namespace farvec::compute_node {
namespace {

using collection::Collection;
namespace wire = collection::v1;

void tell_shape(const Collection& collection, wire::StatsResponse& out) {
  const layout::CollectionManifest& shape = collection.shape();
  out.set_type(to_wire(shape.source_type));
  out.set_stored_type(to_wire(shape.stored_type));
  out.set_dimension(shape.dimension);
  out.set_max_rows(static_cast<std::uint32_t>(collection.record_rows()));
  out.set_max_ids(layout::changes_per_record(0));
}

void tell_view(const collection::View& view, wire::StatsResponse& out) {
  const collection::ViewSize size = size_of(view);
  out.set_version(view.version);
  out.set_rows(size.live);
  out.set_rows_out(size.out);
  out.set_memtable_rows(size.fresh);
  std::uint64_t bytes = 0;
  for (const collection::View::Fresh& fresh : view.memtables) bytes += fresh.memtable->dram_bytes();
  out.set_memtable_bytes(bytes);
  out.set_segments(view.segments.size());
  out.set_segment_bytes(size.segment_bytes);
}

void tell_state(const collection::WriterState& state, wire::StatsResponse& out) {
  out.set_log_bytes(state.log_bytes);
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

wire::StatsResponse CollectionService::stats() const {
  wire::StatsResponse out;
  if (const std::shared_ptr<Collection> collection = source_()) {
    tell_shape(*collection, out);
    tell_view(*collection->view(), out);
    tell_state(collection->state(), out);
  }
  const auto now = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  out.set_inserted(now(counters_.inserted));
  out.set_replaced(now(counters_.replaced));
  out.set_deleted(now(counters_.deleted));
  out.set_refused_queue_full(now(counters_.queue_full));
  out.set_refused_no_room(now(counters_.no_room));
  out.set_refused_too_late(now(counters_.too_late));
  out.set_calls_failed(now(counters_.failed));
  out.set_calls_in_flight(changes_.calls());
  out.set_bytes_in_flight(changes_.bytes());
  return out;
}

}  // namespace farvec::compute_node
