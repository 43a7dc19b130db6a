#include "ssd_baseline/paged/search/hnsw_searcher.h"

#include <algorithm>
#include <limits>

namespace farvec::paged {
namespace {

/// More than any search finds: a search passes marked vertices, however many, until nothing nearer
/// is left.
constexpr std::size_t kAllMarked = std::numeric_limits<std::size_t>::max();

}  // namespace

HnswSearcher::HnswSearcher(PagedHnsw& hnsw, PageFetcher& fetcher, const HnswReadOptions& options)
    : hnsw_(hnsw), fetcher_(fetcher), source_(hnsw, fetcher, options, counts_) {}

Status enter_hnsw(const EntryPoint& at, PageSource& source, graph::LayerScratch& scratch,
                  layout::HnswState& state) {
  for (int attempt = 0; attempt < kWalkAttempts; ++attempt) {
    const auto now = at.hnsw.state(source.reader().fetcher(), at.deadline, at.counts);
    if (!now.ok()) return now.status();
    state = now.value();
    scratch.clear();
    if (state.entry().empty()) return {};
    const Status status = graph::enter(source, state.entry_level, state.entry().handle(), scratch);
    if (!status.ok() || !scratch.found().empty() || !scratch.passed().empty()) return status;
  }
  return {StatusCode::data_loss, "the entry of the graph is not where the meta page says"};
}

Status HnswSearcher::search(const Query& query) {
  if (query.vector.size() != hnsw_.shape().vector_bytes()) {
    return {StatusCode::invalid_argument, "the query is not of the graph's dimension and type"};
  }
  if (query.list == 0) return {StatusCode::invalid_argument, "a search needs a list of at least 1"};
  Result<bool> again = true;
  for (int attempt = 0; attempt < kWalkAttempts && again.ok() && again.value(); ++attempt) {
    again = walk(query);
  }
  return again.status();
}

/// Returns whether the search must start again: nothing was found although there is something, or
/// too little.
Result<bool> HnswSearcher::walk(const Query& query) {
  source_.begin(query.vector.data(), query.deadline);
  layout::HnswState state;
  Status status = enter_hnsw({hnsw_, query.deadline, counts_.meta}, source_, scratch_, state);
  if (!status.ok()) return status;
  if (state.entry().empty() || state.vertices == 0) {  // all are marked
    scratch_.clear();
    return false;
  }
  status = graph::descend(source_, state.entry_level, 0, scratch_);
  if (status.ok()) status = graph::layer_search(source_, {0, query.list, kAllMarked}, scratch_);
  if (!status.ok()) return status;
  const auto wanted = std::min<std::uint64_t>(query.list, state.vertices);
  return found().empty() || source_.starved(found().size(), wanted);
}

}  // namespace farvec::paged
