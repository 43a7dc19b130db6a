#include <memory>

#include "client/c/guard.h"
#include "client/c/handles.h"
#include "client/c/session.h"

namespace farvec::c {
namespace {

/// What a search takes and gives. Caller and worker hold it, and each may outlive the other.
struct SearchCall {
  GivenVectors queries;
  search::AskedSearch asked;
  std::unique_ptr<farvec_results> results;
};

const Found* found_of(const farvec_results* results, std::size_t query) {
  if (results == nullptr || query >= results->found.counts.size()) return nullptr;
  return &results->found;
}

farvec_counts shown_counts(const search::QueryCounts& counts) {
  return {.size = sizeof(farvec_counts),
          .hops = counts.hops,
          .reads = counts.reads,
          .bytes = counts.bytes,
          .cache_hits = counts.cache_hits,
          .estimates = counts.estimates,
          .distances = counts.distances,
          .lost = counts.lost,
          .clusters = counts.clusters,
          .matches = counts.matches,
          .walks = counts.walks,
          .scans = counts.scans,
          .rerank_reads = counts.rerank_reads};
}

}  // namespace
}  // namespace farvec::c

namespace c = farvec::c;

farvec_status farvec_search(farvec_connection* connection, const farvec_vectors* queries,
                            const farvec_search_options* options, const farvec_wait* wait,
                            farvec_results** results, farvec_error* error) {
  return c::guarded(error, [&] {
    farvec_results*& out = c::emptied(results, "results");
    const auto worker = c::worker_of(connection);
    const auto call = std::shared_ptr<c::SearchCall>(
        new c::SearchCall{c::GivenVectors(queries, "queries"), c::given_search(options), nullptr});
    worker->run(c::given_wait(wait), {[call](auto& session, const c::Turn& turn) {
                  call->results = std::make_unique<farvec_results>(
                      farvec_results{session->search(call->queries.view(), call->asked, turn)});
                }});
    out = call->results.release();
  });
}

size_t farvec_results_queries(const farvec_results* results) {
  return results == nullptr ? 0 : results->found.counts.size();
}

size_t farvec_results_count(const farvec_results* results, size_t query) {
  const c::Found* const found = c::found_of(results, query);
  return found == nullptr ? 0 : found->counts[query];
}

const uint64_t* farvec_results_ids(const farvec_results* results, size_t query) {
  const c::Found* const found = c::found_of(results, query);
  return found == nullptr ? nullptr : found->ids.data() + query * found->k;
}

const float* farvec_results_distances(const farvec_results* results, size_t query) {
  const c::Found* const found = c::found_of(results, query);
  return found == nullptr ? nullptr : found->distances.data() + query * found->k;
}

const char* farvec_results_attributes(const farvec_results* results, size_t query, size_t row) {
  const c::Found* const found = c::found_of(results, query);
  if (found == nullptr || row >= found->counts[query]) return nullptr;
  return found->attributes[query * found->k + row];
}

double farvec_results_coverage(const farvec_results* results) {
  return results == nullptr ? 0 : results->found.coverage;
}

farvec_status farvec_results_counts(const farvec_results* results, farvec_counts* counts,
                                    farvec_error* error) {
  return c::guarded(error, [&] {
    const c::Found& found = c::required(results, "results").found;
    c::give_sized(c::shown_counts(found.totals), c::required(counts, "counts"), "counts");
  });
}

void farvec_results_free(farvec_results* results) {
  delete results;
}
