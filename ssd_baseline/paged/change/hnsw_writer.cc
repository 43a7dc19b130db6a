#include "ssd_baseline/paged/change/hnsw_writer.h"

#include "dataset/finite.h"
#include "layout/hnsw/hnsw_vertex.h"
#include "ssd_baseline/paged/change/insert.h"
#include "ssd_baseline/paged/graph/hnsw_edit.h"
#include "ssd_baseline/paged/graph/id_map.h"
#include "ssd_baseline/paged/graph/pinned_pages.h"

namespace farvec::paged {
namespace {

/// The most look-ups of a vertex. Another one is needed when an insert has moved its id meanwhile.
constexpr int kDeleteAttempts = 16;

}  // namespace

struct HnswWriter::State {
  State(PagedHnsw& graph, PageFetcher& fetcher, const HnswWriterOptions& options)
      : hnsw(graph),
        ids(graph, fetcher),
        insert(graph, fetcher, options, ids, written),
        pins(graph, fetcher, options.reads.mode) {}

  Status mark(PageEditor& editor, NodeId id, const IdEntry& entry) const;

  PagedHnsw& hnsw;
  HnswWriteCounts written;
  IdMap ids;
  Insert insert;
  PinnedPages pins;
};

HnswWriter::HnswWriter(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswWriterOptions& options)
    : state_(std::make_unique<State>(hnsw, fetcher, options)) {}
HnswWriter::~HnswWriter() = default;

Result<wal::Position> HnswWriter::insert(NodeId id, std::span<const std::byte> vector,
                                         Ticks deadline, IfThere if_there) {
  const HnswConfig& config = state_->hnsw.config();
  if (id == kInvalidNode) {
    return Status(StatusCode::invalid_argument, "4294967295 is no id: the largest is one less");
  }
  if (vector.size() != state_->hnsw.shape().vector_bytes()) {
    return Status(StatusCode::invalid_argument,
                  "the vector is not of the graph's dimension and type");
  }
  const RowFault fault = fault_of_row(vector.data(), config.type, config.dimension);
  if (fault == RowFault::not_finite) {
    return Status(StatusCode::invalid_argument, "the vector holds NaN or infinity");
  }
  if (fault == RowFault::too_long) {
    return Status(StatusCode::invalid_argument,
                  "the vector is too long: its squared length exceeds 4.2e37");
  }
  return state_->insert.run({id, vector.data(), deadline, if_there});
}

Status HnswWriter::State::mark(PageEditor& editor, NodeId id, const IdEntry& entry) const {
  const std::size_t leaf = pins.index(entry.leaf);
  const std::size_t page = pins.index(entry.place.page);
  const auto known = edited_entry(editor, leaf, ids.shape(), id);
  if (!known.ok()) return known.status();
  if (known.value() != entry.place) return {StatusCode::cancelled, "the id has moved"};
  auto state = edited_state(editor, pins.index(0));
  if (!state.ok()) return state.status();
  Status status = mark_vertex(editor, {page, entry.place.slot}, {.shape = hnsw.shape(), .id = id},
                              state.value());
  if (status.ok()) status = write_entry(editor, leaf, ids.shape().offset(0, id), {});
  return status.ok() ? write_state(editor, pins.index(0), state.value()) : status;
}

Result<wal::Position> HnswWriter::mark_deleted(NodeId id, Ticks deadline) {
  FetchCounts& counts = state_->insert.counts().meta;
  for (int attempt = 0; attempt < kDeleteAttempts; ++attempt) {
    const auto found = state_->ids.find(id, deadline, counts);
    if (!found.ok()) return found.status();
    const IdEntry& entry = found.value();
    if (entry.place.empty()) return Status(StatusCode::not_found, "the id is not in the graph");
    PinnedPages& pins = state_->pins;
    pins.clear();
    pins.want(0);
    pins.want(entry.leaf);
    pins.want(entry.place.page);
    if (Status status = pins.pin(deadline, counts); !status.ok()) return status;
    const auto done = pins.update([&](PageEditor& e) { return state_->mark(e, id, entry); });
    pins.clear();
    if (done.ok()) ++state_->written.deleted;
    if (done.ok() || done.status().code() != StatusCode::cancelled) return done;
    ++state_->written.retries;
  }
  return Status(StatusCode::resource_exhausted, "the vertex kept changing under a delete");
}

HnswWriteCounts& HnswWriter::written() {
  return state_->written;
}
HnswCounts& HnswWriter::counts() {
  return state_->insert.counts();
}
std::size_t HnswWriter::dram_bytes() const {
  return state_->insert.dram_bytes();
}

}  // namespace farvec::paged
