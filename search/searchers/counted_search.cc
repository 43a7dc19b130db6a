#include "search/searchers/counted_search.h"

#include "graph/beam_search.h"
#include "search/searchers/line_counting.h"
#include "search/sources/endpoint_source.h"
#include "search/sources/mapped_source.h"

namespace farvec::search {

template <typename Source, typename Scorer>
Status search_counting_lines(const CountedSearch<Source, Scorer>& search,
                             const graph::BeamParameters& parameters, graph::BeamScratch& scratch) {
  LineCountingSource<Source> source(search.source, search.index, {search.lines});
  return graph::beam_search(source, counting_lines(search.scorer, {search.lines}),
                            search.index.entries(), parameters, scratch);
}

template Status search_counting_lines(const CountedSearch<MappedNodeSource, VertexCodeScorer>&,
                                      const graph::BeamParameters&, graph::BeamScratch&);
template Status search_counting_lines(const CountedSearch<MappedNodeSource, NeighborCodeScorer>&,
                                      const graph::BeamParameters&, graph::BeamScratch&);
template Status search_counting_lines(const CountedSearch<EndpointNodeSource, VertexCodeScorer>&,
                                      const graph::BeamParameters&, graph::BeamScratch&);
template Status search_counting_lines(const CountedSearch<EndpointNodeSource, NeighborCodeScorer>&,
                                      const graph::BeamParameters&, graph::BeamScratch&);

}  // namespace farvec::search
