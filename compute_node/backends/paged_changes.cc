#include "compute_node/backends/paged_changes.h"

#include "base/error.h"

namespace farvec::compute_node {

void PagedChanges::tell_state(collection::v1::StatsResponse& out) {
  paged::PageStore& store = hnsw_->store();
  out.set_version(store.log().end());
  out.set_log_bytes(store.log().disk_bytes());
  collection::v1::PagesState& pages = *out.mutable_pages();
  pages.set_page_bytes(hnsw_->shape().page_bytes);
  pages.set_buffer_pages(store.frames());
  const paged::StoreCounts counts = store.counts();
  pages.set_read(counts.page_reads);
  pages.set_written(counts.page_writes);
  out.set_written_bytes(counts.page_writes * hnsw_->shape().page_bytes + counts.log_bytes);
  const paged::VacuumState vacuum = changing_.vacuum_state();
  pages.set_vacuuming(vacuum.runs);
  pages.set_vacuumed(vacuum.removed);
  out.set_failure(vacuum.failure);
  // Metrics are asked for whatever is wrong: what cannot be read is told as the failure.
  try {
    const paged::HnswDescription now = hnsw_->describe();
    out.set_rows(now.state.vertices);
    out.set_rows_out(now.state.marked);
    pages.set_pages(now.pages);
  } catch (const Error& error) {
    out.set_failure(error.what());
  }
  const Status log = store.log().failure();
  if (!log.ok()) out.set_failure(log.message());
}

}  // namespace farvec::compute_node
