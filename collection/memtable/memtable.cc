#include "collection/memtable/memtable.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"

namespace farvec::collection {
namespace {

/// Rows whose distances a scan computes before it uses them: the ids and distances stay in the
/// first-level cache.
constexpr std::uint32_t kScanRows = 512;

/// The pause until other threads have linked their rows.
constexpr auto kLinkLook = std::chrono::microseconds(100);

const MemtableOptions& checked(const MemtableOptions& options) {
  if (options.capacity == 0) throw Error("a memtable for 0 rows: it takes at least 1");
  graph::require_node_count(options.capacity, "rows in a memtable");
  if (options.dimension > max_dimension(options.type)) {
    throw Error("a memtable of {} dimensions: {} has at most {}", options.dimension,
                to_string(options.type), max_dimension(options.type));
  }
  // These are the kernels' own checks, made before any memory is allocated.
  (void)distance::pair_kernel(options.metric, options.type, options.dimension);
  return options;
}

std::size_t row_bytes(const MemtableOptions& options) {
  return packed_bytes(options.type, options.dimension);
}

}  // namespace

Memtable::Memtable(const MemtableOptions& options)
    : options_(checked(options)),
      vectors_(options.capacity * row_bytes(options)),
      ids_(options.capacity * sizeof(std::uint64_t)),
      rows_(packed_view(vectors_.data(), options.capacity, options.dimension, options.type)),
      many_(distance::many_kernel(options.metric, options.type, options.dimension)),
      graph_(rows_, options.metric, options.graph) {
  if (options.attributes) attributes_.emplace(options.capacity);
}

NodeId Memtable::append(const VectorView& rows, std::span<const std::uint64_t> ids,
                        const layout::TupleView& attributes) {
  // Relaxed: only this thread stores it.
  const std::uint32_t first = size_.load(std::memory_order_relaxed);
  FARVEC_CHECK(rows.type == options_.type && rows.dimension == options_.dimension,
               "rows of {} {} for a memtable of {} {}", rows.dimension, to_string(rows.type),
               options_.dimension, to_string(options_.type));
  FARVEC_CHECK(rows.count == ids.size(), "{} rows with {} ids", rows.count, ids.size());
  FARVEC_CHECK(rows.count <= capacity() - first, "{} rows for a memtable that has {} of {}",
               rows.count, first, capacity());
  const std::size_t tuples = attributes.count();
  FARVEC_CHECK(tuples == 0 || (attributes_ && tuples == rows.count), "{} tuples for {} rows",
               tuples, rows.count);
  if (attributes_) attributes_->put(first, rows.count, attributes);
  const std::size_t bytes = row_bytes(options_);
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::memcpy(vectors_.data() + (first + i) * bytes, rows.row(i), bytes);
  }
  if (!ids.empty()) {
    std::memcpy(ids_.data() + std::size_t{first} * sizeof(std::uint64_t), ids.data(),
                ids.size_bytes());
  }
  // Release: a thread that acquires the size sees the rows before it.
  size_.store(first + static_cast<std::uint32_t>(rows.count), std::memory_order_release);
  return first;
}

std::size_t Memtable::dram_bytes() const {
  const std::size_t rows = size();
  return vectors_.bytes_taken(rows * row_bytes(options_)) +
         ids_.bytes_taken(rows * sizeof(std::uint64_t)) + graph_.dram_bytes() +
         (attributes_ ? attributes_->dram_bytes(rows) : 0);
}

graph::Graph Memtable::graph() const {
  FARVEC_CHECK(unlinked() == 0, "{} of {} rows are not linked", unlinked(), size());
  return graph_.copy();
}

std::span<const graph::Neighbor> Memtable::search(const MemtableQuery& query,
                                                  MemtableScratch& scratch) const {
  FARVEC_CHECK(query.count <= size() && query.out.count() <= query.count,
               "{} rows count, {} of them are out, and there are {}", query.count,
               query.out.count(), size());
  scratch.counts = {};
  scratch.results.clear();
  const auto live = static_cast<std::uint32_t>(query.count - query.out.count());
  const std::uint32_t k = std::min(query.k, live);
  if (k == 0) return {};
  scratch.nearest.reset(k);
  // It is read before the search of the graph, which finds all rows that were linked by now.
  NodeId scan_from = std::min(linked(), query.count);
  if (!query.exact && graph_.pays(query)) {
    const bool is_found = graph_.search(query, scratch);
    for (const graph::Candidate& near : scratch.met) scratch.nearest.keep(near.distance, near.id);
    if (!is_found || scratch.nearest.size() < k) scan_from = 0;
  } else {
    scan_from = 0;
  }
  scan(query, scan_from, scratch);
  for (std::uint32_t i = 0; i < scratch.nearest.size(); ++i) {
    scratch.results.push_back(scratch.nearest[i]);
  }
  return scratch.results;
}

/// Rows that the graph has found already are offered again, and are kept once.
void Memtable::scan(const MemtableQuery& query, NodeId first, MemtableScratch& scratch) const {
  for (NodeId begin = first; begin < query.count;) {
    const NodeId end = begin + std::min(kScanRows, query.count - begin);
    scratch.ids.clear();
    for (NodeId row = begin; row < end; ++row) {
      if (!query.out.contains(row)) scratch.ids.push_back(row);
    }
    scratch.scores.resize(scratch.ids.size());
    many_(query.vector, rows_, scratch.ids, scratch.scores.data());
    scratch.counts.distances += static_cast<std::uint32_t>(scratch.ids.size());
    for (std::size_t i = 0; i < scratch.ids.size(); ++i) {
      scratch.nearest.keep(scratch.scores[i], scratch.ids[i]);
    }
    begin = end;
  }
}

void link_rest(Memtable& memtable, unsigned threads, const std::function<bool()>& interrupted) {
  const unsigned workers = resolve_threads(threads);
  parallel_for(workers, 1, workers, [&](std::size_t, std::size_t, unsigned) {
    LinkScratch scratch;
    while (memtable.unlinked() > 0) {
      if (asked_to_end(interrupted)) throw WorkInterrupted();
      if (!memtable.link_next(scratch)) std::this_thread::sleep_for(kLinkLook);
    }
  });
}

}  // namespace farvec::collection
