// A RowScan compares rows with a query one by one: given ones, where so few match a condition that
// a walk of the graph would mostly pass others, or all, where a search is to be exact.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "base/node_record.h"
#include "base/row_set.h"
#include "base/status.h"
#include "graph/beam_scratch.h"
#include "graph/expansion.h"
#include "search/core/search_core.h"
#include "search/index/row_vertices.h"

namespace farvec::search {

/// A ScanSource is a source that also lets the core's other searches go on: pause() suspends.
template <typename Source>
concept ScanSource = graph::NodeSource<Source> && requires(Source source) {
  source.pause();
};

/// Scores records; a NodeScorer has estimates of vertices besides.
template <typename Scorer>
concept RecordScorer = requires(const Scorer& scorer, NodeId id, const NodeRecord& record) {
  { scorer.exact(id, record) } -> std::convertible_to<float>;
};

/// Returns invalid_argument when the rows do not ascend, or are not all below `count`.
Status check_rows(std::span<const NodeId> rows, std::size_t count);

/// Reads the records of some vertices, and sorts these where the source then reads those near each
/// other together.
template <typename Source, typename Visit>
Status read_records(Source& source, std::span<NodeId> ids, Visit&& visit) {
  if constexpr (requires { source.expand_together(ids, visit); }) {
    std::sort(ids.begin(), ids.end());
    return source.expand_together(ids, visit);
  } else {
    return source.expand(ids, visit);
  }
}

/// Compares the rows that the request is among, and all rows of an exact search among no rows.
/// Lives on the stack of one search. Borrows all it is given. `vertices` has the vertex of each
/// row; null where a vertex has the number of its row, or all rows are compared. Adds to the counts
/// what the source does not count.
template <ScanSource Source, RecordScorer Scorer>
class RowScan {
 public:
  struct Parts {
    Source& source;
    const Scorer& scorer;
    const SearchRequest& request;  ///< its rows passed check_rows()
    const RowVertices* vertices;
    std::size_t count = 0;  ///< rows of the index
  };

  RowScan(const Parts& parts, graph::BeamScratch& scratch, QueryCounts& counts)
      : parts_(parts), scratch_(scratch), counts_(counts), end_(rows_to_take(parts)) {}

  /// Leaves what it found in scratch.results. Suspends where the source does. Returns the source's
  /// error, or data_loss for a record that is of another row than its place says.
  Status run() {
    scratch_.results.reset(parts_.request.parameters.k());
    if constexpr (graph::NodeScorer<Scorer>) {
      if (estimates(parts_.request)) {
        const Status status = estimate_all();
        return status.ok() ? read_nearest() : status;
      }
    }
    return read_all();
  }

  /// Says whether codes in DRAM choose the rows that are read.
  static bool estimates(const SearchRequest& request) {
    return graph::NodeScorer<Scorer> && !request.exact &&
           request.only.size() > request.parameters.graph().list;
  }

 private:
  /// Rows that are read together.
  static constexpr std::size_t kBatch = graph::kMaxWidth;
  /// Batches that are estimated, each in about a microsecond, before other searches go on.
  static constexpr std::size_t kBatchesAtOnce = 64;

  struct Batch {
    NodeId ids[kBatch];
    std::size_t count = 0;
  };

  static std::size_t rows_to_take(const Parts& parts) {
    return parts.request.is_among_rows() ? parts.request.only.size() : parts.count;
  }

  bool is_out(NodeId row) const {
    const RowSet* const out = parts_.request.out;
    return out != nullptr && out->contains(row);
  }

  /// Fills in the vertices of the next rows; no vertices mean that no rows are left. Where all rows
  /// are compared, the vertices themselves are counted off, and read() learns which row each has.
  void take(Batch& batch) {
    batch.count = 0;
    for (; taken_ < end_ && batch.count < kBatch; ++taken_) {
      if (!parts_.request.is_among_rows()) {
        batch.ids[batch.count++] = static_cast<NodeId>(taken_);
        continue;
      }
      const NodeId row = parts_.request.only[taken_];
      if (is_out(row)) continue;
      batch.ids[batch.count++] = parts_.vertices != nullptr ? parts_.vertices->vertex_of(row) : row;
    }
  }

  Status read_all() {
    Batch batch;
    for (take(batch); batch.count > 0; take(batch)) {
      if (Status status = read({batch.ids, batch.count}); !status.ok()) return status;
    }
    return {};
  }

  /// Makes candidates of the rows whose codes are nearest. The codes of one batch come while those
  /// of the batch before are compared.
  Status estimate_all() requires graph::NodeScorer<Scorer> {
    scratch_.candidates.reset(parts_.request.parameters.graph().list);
    Batch batches[2];
    take_ahead(batches[0]);
    for (std::size_t turn = 0; batches[turn % 2].count > 0; ++turn) {
      take_ahead(batches[(turn + 1) % 2]);
      estimate(batches[turn % 2]);
      if ((turn + 1) % kBatchesAtOnce != 0) continue;
      const Status status = check_time(parts_.request.deadline, parts_.request.caller);
      if (!status.ok()) return status;
      parts_.source.pause();
    }
    return {};
  }

  void take_ahead(Batch& batch) requires graph::NodeScorer<Scorer> {
    take(batch);
    for (std::size_t i = 0; i < batch.count; ++i) parts_.scorer.prefetch(batch.ids[i]);
  }

  void estimate(const Batch& batch) requires graph::NodeScorer<Scorer> {
    float estimates[kBatch];
    parts_.scorer.estimate(batch.ids, batch.count, estimates);
    counts_.estimates += batch.count;
    for (std::size_t i = 0; i < batch.count; ++i) {
      scratch_.candidates.keep(estimates[i], batch.ids[i]);
    }
  }

  /// Reads the candidates, nearest first.
  Status read_nearest() {
    NodeId ids[kBatch];
    for (;;) {
      const std::uint32_t count = scratch_.candidates.take_fresh(ids);
      if (count == 0) return {};
      if (Status status = read({ids, count}); !status.ok()) return status;
    }
  }

  /// Sources notice a deadline where they wait for long, but the reads of a scan are many.
  Status read(std::span<NodeId> ids) {
    const Status in_time = check_time(parts_.request.deadline, parts_.request.caller);
    if (!in_time.ok()) return in_time;
    for (const NodeId id : ids) parts_.source.expect(id);
    bool strange = false;
    const auto compare = [&](NodeId id, const NodeRecord& record) {
      const NodeId row = record.row == kInvalidNode ? id : record.row;
      if (parts_.vertices != nullptr && parts_.vertices->vertex_of(row) != id) strange = true;
      if (!parts_.request.is_among_rows() && is_out(row)) return;
      scratch_.results.keep(parts_.scorer.exact(id, record), row);
      ++counts_.distances;
    };
    const Status status = read_records(parts_.source, ids, compare);
    if (!status.ok() || !strange) return status;
    return {StatusCode::data_loss, "a record says that it is of another row than before"};
  }

  const Parts parts_;
  graph::BeamScratch& scratch_;
  QueryCounts& counts_;
  std::size_t taken_ = 0;
  const std::size_t end_;
};

}  // namespace farvec::search
