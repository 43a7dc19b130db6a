#include "python/pooled_search.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "python/attributes.h"
#include "search/core/batch_search.h"

namespace farvec::python {
namespace {

/// Queries that are worth a thread of their own.
constexpr std::size_t kQueriesPerThread = 16;

using FoundAttributes = std::vector<std::shared_ptr<const search::ResultAttributes>>;

/// Reads the columns of k neighbours of each query; those that are missing have nulls.
layout::Tuples read(const FoundAttributes& found, const layout::Schema& schema,
                    const std::vector<std::size_t>& columns, std::size_t k) {
  layout::Tuples all;
  for (const auto& attributes : found) {
    const layout::Tuples rows = attributes->read();
    all.append(select_columns(rows.view(), schema, columns).view());
    for (std::size_t i = rows.count(); i < k; ++i) all.append(layout::null_tuple());
  }
  return all;
}

}  // namespace

Answer pooled_search(CorePool& pool, std::uint32_t threads, const VectorView& queries,
                     const PooledCall& call) {
  const double seconds = call.call.deadline_seconds;
  const auto patience = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
  const std::size_t worth = std::max<std::size_t>(1, queries.count / kQueriesPerThread);
  const CorePool::Loan loan =
      pool.borrow(static_cast<std::uint32_t>(std::min<std::size_t>(threads, worth)),
                  std::chrono::steady_clock::now() + patience);
  Answer answer;
  const std::vector<std::size_t> columns = selected_columns(call.schema, call.call.asked.select);
  FoundAttributes attributes;
  const search::BatchParameters batch{.search = call.parameters,
                                      .deadline_ms = seconds * 1e3,
                                      .partial = call.call.asked.partial,
                                      .exact = call.call.asked.exact,
                                      .within = call.call.asked.within,
                                      .condition = call.condition,
                                      .plan = call.call.asked.plan,
                                      .refine = call.call.asked.refine,
                                      .candidates = call.call.asked.candidates,
                                      .stop = call.call.interrupted,
                                      .user_ids = call.user_ids ? &answer.user_ids : nullptr,
                                      .attributes = columns.empty() ? nullptr : &attributes,
                                      .threads = search::BatchThreads::own};
  const search::BatchOutcome outcome =
      search::run_batch(loan.cores(), queries, batch, answer.neighbors);
  if (outcome.latency_us.size() < queries.count) throw WorkInterrupted();
  answer.has_user_ids = call.user_ids;
  if (!columns.empty()) {
    answer.schema = select_columns(call.schema, columns);
    answer.attributes = read(attributes, call.schema, columns, answer.neighbors.k);
  }
  answer.totals = outcome.totals;
  answer.coverage = outcome.coverage;
  return answer;
}

}  // namespace farvec::python
