#include "ssd_baseline/paged/cores/changing_hnsw.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "base/row_fault.h"
#include "base/stored_form.h"
#include "indexing/source.h"
#include "ssd_baseline/paged/graph/hnsw_facts.h"

namespace farvec::paged {
namespace {

std::vector<NodeId> node_ids(std::span<const std::uint64_t> ids) {
  std::vector<NodeId> nodes;
  nodes.reserve(ids.size());
  for (const std::uint64_t id : ids) {
    if (id >= kInvalidNode) {
      throw StatusError(StatusCode::invalid_argument,
                        "id {} is out of range: those of a graph on pages are below {}", id,
                        kInvalidNode);
    }
    nodes.push_back(static_cast<NodeId>(id));
  }
  return nodes;
}

}  // namespace

ChangingHnsw::ChangingHnsw(PagedHnsw& hnsw, HnswCrewOptions crew,
                           const indexing::OrderOptions& order)
    : hnsw_(hnsw), crew_(std::move(crew)), order_(order), vacuum_(hnsw, crew_) {}

changes::RowShape ChangingHnsw::row_shape() const {
  const HnswConfig& config = hnsw_.config();
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  return {.type = config.type,
          .stored_type = config.type,
          .dimension = config.dimension,
          .metric = config.metric,
          .batch_rows = kAll,
          .batch_ids = kAll,
          .batch_gets = kAll};
}

void ChangingHnsw::check(const changes::RowBatch& batch) const {
  const auto& [rows, ids, attributes] = batch;
  const HnswConfig& config = hnsw_.config();
  if (stored_type(config.metric, rows.type) != config.type || rows.dimension != config.dimension) {
    throw StatusError(StatusCode::invalid_argument, "rows of {} x {} do not fit a graph of {} x {}",
                      rows.dimension, to_string(rows.type), config.dimension,
                      to_string(config.type));
  }
  if (attributes.count() > 0) {
    throw StatusError(StatusCode::invalid_argument,
                      "a paged HNSW takes no attributes; a collection does");
  }
  changes::check_shape(batch, {});
  (void)node_ids(ids);
  if (const auto faulty = find_faulty_row(rows, config.metric)) {
    throw StatusError(StatusCode::invalid_argument, "row {} (id {}) {}", faulty->row,
                      ids[faulty->row], to_string(faulty->fault));
  }
  std::unordered_set<std::uint64_t> seen;
  for (const std::uint64_t id : ids) {
    if (!seen.insert(id).second) {
      throw StatusError(StatusCode::invalid_argument, "id {} comes twice in one batch", id);
    }
  }
}

HnswCrew ChangingHnsw::crew(const changes::Patience& patience) const {
  HnswCrewOptions options = crew_;
  options.until = std::min(options.until, patience.until);
  if (patience.interrupted) options.interrupted = patience.interrupted;
  return {hnsw_, std::move(options)};
}

/// Throws where a call has ended before its last operation began.
void ChangingHnsw::require_all(const HnswWork& work, std::size_t count,
                               const changes::Patience& patience) const {
  if (work.done == count) return;
  if (now_ticks() < patience.until) throw WorkInterrupted();
  throw changes::Refusal(StatusCode::deadline_exceeded,
                         fmt::format("{} of {} were done before the deadline: allow more time, or "
                                     "make calls of fewer",
                                     work.done, count));
}

void ChangingHnsw::insert(const changes::RowBatch& batch, const changes::Patience& patience,
                          changes::Receipt& receipt) {
  const std::vector<NodeId> nodes = node_ids(batch.ids);
  const dataset::VectorSet stored =
      indexing::stored_copy(batch.rows, hnsw_.config().metric, crew_.threads);
  const indexing::RowOrder chosen = indexing::order_rows(stored.view(), order_);
  std::vector<NodeId> ordered(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) ordered[i] = nodes[chosen.rows[i]];
  const HnswWork work = crew(patience).insert({stored.view(), chosen.rows, ordered});
  receipt +=
      {.version = hnsw_.store().log().end(), .done = work.done, .replaced = work.written.replaced};
  require_all(work, nodes.size(), patience);
}

void ChangingHnsw::erase(std::span<const std::uint64_t> ids, const changes::Patience& patience,
                         changes::Receipt& receipt) {
  const std::vector<NodeId> nodes = node_ids(ids);
  std::uint64_t missing = 0;
  const HnswWork work = crew(patience).erase(nodes, &missing);
  receipt +=
      {.version = hnsw_.store().log().end(), .done = work.done - missing, .missing = missing};
  require_all(work, nodes.size(), patience);
}

changes::FoundRows ChangingHnsw::get(std::span<const std::uint64_t> ids,
                                     const changes::Patience& patience) const {
  const std::vector<NodeId> nodes = node_ids(ids);
  const std::size_t row_bytes = hnsw_.shape().vector_bytes();
  HnswRows read{std::vector<std::uint8_t>(nodes.size()),
                std::vector<std::byte>(nodes.size() * row_bytes)};
  changes::FoundRows rows{.version = hnsw_.store().log().end()};
  require_all(crew(patience).get(nodes, read), nodes.size(), patience);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    rows.found.push_back(read.found[i] != 0);
    if (read.found[i] == 0) continue;
    const auto row = std::span(read.rows).subspan(i * row_bytes, row_bytes);
    rows.rows.insert(rows.rows.end(), row.begin(), row.end());
  }
  return rows;
}

bool ChangingHnsw::flush(const Interruption&) {
  (void)hnsw_.write_back();
  return true;
}

bool ChangingHnsw::compact(const Interruption& give_up) {
  if (crew_.served != nullptr) return vacuum_.run(give_up);
  (void)crew({.interrupted = give_up}).vacuum();
  return !asked_to_end(give_up);
}

nlohmann::ordered_json ChangingHnsw::now() const {
  return hnsw_json(hnsw_.describe());
}

}  // namespace farvec::paged
