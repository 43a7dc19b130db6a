#include "search/searchers/graph_scan.h"

#include <cstdint>
#include <numeric>

#include "search/searchers/graph_scorers.h"
#include "search/searchers/line_counting.h"
#include "search/searchers/row_scan.h"
#include "search/sources/endpoint_source.h"
#include "search/sources/mapped_source.h"

namespace farvec::search {
namespace {

/// Reads records until it is known which vertex has which row. Each turn learns a batch, unless
/// other searches have learned all that were left.
template <typename Source>
Status learn_vertices(Source& source, RowVertices& vertices, const SearchRequest& request) {
  vertices.open();
  NodeId ids[graph::kMaxWidth];
  while (!vertices.known()) {
    if (Status status = check_time(request.deadline, request.caller); !status.ok()) {
      return status;
    }
    const RowVertices::Batch batch = vertices.next();
    if (batch.count == 0) continue;
    std::iota(ids, ids + batch.count, batch.first);
    std::uint32_t came = 0;
    const auto learn = [&](NodeId vertex, const NodeRecord& record) {
      vertices.learn(vertex, record.row);
      ++came;
    };
    if (Status status = read_records(source, {ids, batch.count}, learn); !status.ok())
      return status;
    if (came < batch.count) {
      return {StatusCode::unavailable,
              "it is not known where rows are, and a memory node that would tell cannot be read"};
    }
    vertices.finish(batch);
  }
  return {};
}

/// An Asked has what a scan is about, whatever counts its lines.
struct Asked {
  RowVertices* vertices;  ///< null where a vertex has the number of its row, or each is compared
  std::size_t count;      ///< rows of the index
  const SearchRequest& request;
  graph::BeamScratch& scratch;
  QueryCounts& counts;
};

template <typename Source, typename Scorer>
Status learn_and_scan(Source& source, const Scorer& scorer, const Asked& asked) {
  if (asked.vertices != nullptr) {
    const Status learned = learn_vertices(source, *asked.vertices, asked.request);
    if (!learned.ok()) return learned;
    if (Status status = asked.vertices->check(); !status.ok()) return status;
  }
  return RowScan<Source, Scorer>({source, scorer, asked.request, asked.vertices, asked.count},
                                 asked.scratch, asked.counts)
      .run();
}

}  // namespace

template <typename Source, typename Scorer>
Status scan_graph(const GraphScan<Source, Scorer>& scan, const SearchRequest& request,
                  QueryCounts& counts) {
  const GraphIndex& index = scan.index;
  scan.scratch.results.reset(request.parameters.k());
  if (Status status = check_rows(request.only, index.count()); !status.ok()) return status;
  const bool among_rows = request.is_among_rows();
  if (among_rows && request.only.empty()) return {};
  if (RowScan<Source, Scorer>::estimates(request)) {
    Scorer::prepare(index, request.query, scan.prepared);
  }
  const Scorer scorer{index, scan.prepared, request.query};
  const Asked asked{among_rows ? index.row_vertices() : nullptr, index.count(), request,
                    scan.scratch, counts};
  if (!request.count_lines) return learn_and_scan(scan.source, scorer, asked);
  LineCountingSource<Source> source(scan.source, index, {counts.lines, false});
  return learn_and_scan(source, counting_lines(scorer, {counts.lines, false}), asked);
}

template Status scan_graph(const GraphScan<MappedNodeSource, VertexCodeScorer>&,
                           const SearchRequest&, QueryCounts&);
template Status scan_graph(const GraphScan<MappedNodeSource, NeighborCodeScorer>&,
                           const SearchRequest&, QueryCounts&);
template Status scan_graph(const GraphScan<EndpointNodeSource, VertexCodeScorer>&,
                           const SearchRequest&, QueryCounts&);
template Status scan_graph(const GraphScan<EndpointNodeSource, NeighborCodeScorer>&,
                           const SearchRequest&, QueryCounts&);

}  // namespace farvec::search
