// The service of an index that changes tells what state it is in.
#include "compute_node/collection/change_request.h"
#include "compute_node/collection/collection_service.h"

namespace farvec::compute_node {
namespace {

namespace wire = collection::v1;

void tell_shape(ServedChanges& changes, wire::StatsResponse& out) {
  const changes::RowShape shape = changes.index().row_shape();
  out.set_type(to_wire(shape.type));
  out.set_stored_type(to_wire(shape.stored_type));
  out.set_dimension(shape.dimension);
  out.set_max_rows(static_cast<std::uint32_t>(changes.most_rows()));
  out.set_schema(layout::to_string(shape.schema));
  out.set_max_ids(static_cast<std::uint32_t>(changes.most_ids()));
}

}  // namespace

wire::StatsResponse CollectionService::stats() const {
  wire::StatsResponse out;
  if (const std::shared_ptr<ServedChanges> changes = source_()) {
    tell_shape(*changes, out);
    changes->tell_state(out);
  }
  const auto now = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  out.set_inserted(now(counters_.inserted));
  out.set_replaced(now(counters_.replaced));
  out.set_deleted(now(counters_.deleted));
  out.set_updated(now(counters_.updated));
  out.set_refused_queue_full(now(counters_.queue_full));
  out.set_refused_no_room(now(counters_.no_room));
  out.set_refused_too_late(now(counters_.too_late));
  out.set_calls_failed(now(counters_.failed));
  out.set_calls_in_flight(changes_.calls());
  out.set_bytes_in_flight(changes_.bytes());
  return out;
}

}  // namespace farvec::compute_node
