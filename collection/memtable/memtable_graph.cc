#include "collection/memtable/memtable_graph.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "graph/beam_search.h"

namespace farvec::collection {
namespace {

constexpr std::uint32_t kMinLinkDegree = 4;
constexpr std::uint32_t kMaxLinkDegree = 256;
constexpr std::uint32_t kMaxLinkList = 10'000;
constexpr std::uint32_t kMaxPlaceRows = 10'000;

/// Vertices, evenly spread over the rows, at which every search begins.
constexpr std::uint32_t kMemtableEntries = 32;

/// The salt is shortened because candidate lists name vertices with 31 bits.
NodeId salt_of(NodeId row) {
  return graph::tie_salt(row) & (graph::kMaxNodes - 1);
}

// A model of bench/memtable_search.cc on rows of 100, 128 and 384 bytes. A scan takes 3.3 ns for a
// row and 1 ns for each 27 bytes. A search of 20 000 rows takes for each place of its list the time
// of some 20 such rows and 0.5 us, in which a scan would compare kPlaceBytes.
constexpr std::size_t kPlaceDistances = 20;
constexpr std::size_t kPlaceBytes = 13'000;
constexpr std::size_t kScanBytesPerRow = 90;  ///< the bytes that a scan compares in 3.3 ns

MemtableGraphOptions complete(MemtableGraphOptions options, std::size_t row_bytes) {
  if (options.degree < kMinLinkDegree || options.degree > kMaxLinkDegree) {
    throw Error("a memtable's degree of {} is out of range: use {} to {}", options.degree,
                kMinLinkDegree, kMaxLinkDegree);
  }
  if (options.link_list == 0 || options.link_list > kMaxLinkList) {
    throw Error("a memtable's link list of {} is out of range: use 1 to {}", options.link_list,
                kMaxLinkList);
  }
  if (options.place_rows > kMaxPlaceRows) {
    throw Error("{} rows for each place of a memtable's list are out of range: use up to {}",
                options.place_rows, kMaxPlaceRows);
  }
  if (options.place_rows == 0) options.place_rows = measured_place_rows(row_bytes);
  return options;
}

}  // namespace

std::uint32_t measured_place_rows(std::size_t row_bytes) {
  return static_cast<std::uint32_t>(kPlaceDistances + kPlaceBytes / (kScanBytesPerRow + row_bytes));
}

/// A graph::NodeSource of one query, and its NodeScorer. Vertices are named by their rows xor
/// `salt` (salt_of), so that equal distances come in another order for every row that is linked.
class MemtableGraph::Walk {
 public:
  Walk(const MemtableGraph& graph, const void* vector, NodeId salt, MemtableScratch& scratch)
      : graph_(graph), vector_(vector), salt_(salt), scratch_(scratch) {}

  /// Returns the row of a name, and the name of a row.
  NodeId other(NodeId id) const { return id ^ salt_; }

  void expect(NodeId id) const { graph_.lists_.prefetch(other(id)); }

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) const {
    std::vector<NodeId>& list = scratch_.list;
    for (const NodeId id : frontier) {
      graph_.lists_.read(other(id), list);
      for (NodeId& neighbor : list) neighbor = other(neighbor);
      visit(id, NodeRecord{nullptr, reinterpret_cast<const std::byte*>(list.data()),
                           static_cast<std::uint32_t>(list.size())});
    }
    return {};
  }

  void prefetch(NodeId id) const { prefetch_line(graph_.rows_.row(other(id))); }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    scratch_.ids.resize(count);
    std::transform(ids, ids + count, scratch_.ids.begin(), [this](NodeId id) { return other(id); });
    graph_.many_(vector_, graph_.rows_, scratch_.ids, out);
  }
  float exact(NodeId id, const NodeRecord&) const {
    return graph_.pair_(vector_, graph_.rows_.row(other(id)), graph_.rows_.dimension);
  }

 private:
  const MemtableGraph& graph_;
  const void* const vector_;
  const NodeId salt_;
  MemtableScratch& scratch_;
};

MemtableGraph::MemtableGraph(const VectorView& rows, Metric metric,
                             const MemtableGraphOptions& options)
    : rows_(rows),
      options_(complete(options, rows.row_bytes())),
      pair_(distance::pair_kernel(metric, rows.type, rows.dimension)),
      many_(distance::many_kernel(metric, rows.type, rows.dimension)),
      lists_(static_cast<std::uint32_t>(rows.count), options.degree) {}

/// Returns fewer than there are where some of the rows that are out are not vertices.
std::uint64_t MemtableGraph::counted(const MemtableQuery& query, std::uint64_t vertices) const {
  const std::uint64_t published = std::min<std::uint64_t>(query.count, vertices);
  return published - std::min<std::uint64_t>(published, query.out.count());
}

bool MemtableGraph::pays(const MemtableQuery& query) const {
  const std::uint64_t vertices = linked();
  const std::uint64_t counting = counted(query, vertices);
  // Only this share of the vertices that a search meets counts, so it has to meet more.
  const std::uint64_t list = std::max(query.list, query.k);
  const std::uint64_t rows = list * options_.place_rows;
  return rows < vertices && counting * counting > rows * vertices;
}

bool MemtableGraph::search(const MemtableQuery& query, MemtableScratch& scratch) const {
  const std::uint32_t vertices = linked();
  const auto counting = static_cast<std::uint32_t>(counted(query, vertices));
  graph::BeamParameters parameters;
  parameters.list = std::min(std::max(query.list, query.k), vertices);
  parameters.out = &query.out;
  if (query.count < vertices) parameters.rows_end = query.count;
  // Reading this many that do not count takes as long as this search and comparing with all that
  // do.
  parameters.most_passed = parameters.list + counting / options_.place_rows;
  walk(query.vector, 0, parameters, scratch);
  // It has met some that came after `vertices` was read.
  std::erase_if(scratch.met, [&](const graph::Candidate& near) {
    return near.id >= query.count || query.out.contains(near.id);
  });
  return !scratch.beam.cut_short;
}

/// Puts into scratch.met the parameters.list nearest of the vertices that it meets and that are not
/// out.
void MemtableGraph::walk(const void* vector, NodeId salt, graph::BeamParameters parameters,
                         MemtableScratch& scratch) const {
  const std::uint32_t vertices = linked();
  FARVEC_CHECK(vertices > 0, "a search of a graph without vertices");
  Walk walk(*this, vector, salt, scratch);
  const std::uint32_t entries = std::min(vertices, kMemtableEntries);
  NodeId names[kMemtableEntries];
  for (std::uint64_t i = 0; i < entries; ++i) {
    names[i] = walk.other(static_cast<NodeId>(i * vertices / entries));
  }
  parameters.k = parameters.list;
  parameters.max_degree = lists_.capacity();
  parameters.node_count = graph::kMaxNodes;
  graph::BeamScratch& beam = scratch.beam;
  const Status status = graph::beam_search(walk, walk, {names, entries}, parameters, beam);
  FARVEC_CHECK(status.ok(), "{}", status.message());
  scratch.counts.distances += beam.counts.estimates + beam.counts.distances;
  scratch.counts.hops += beam.counts.hops;
  scratch.met.clear();
  for (std::uint32_t i = 0; i < beam.results.size(); ++i) {
    const graph::Neighbor near = beam.results[i];
    scratch.met.push_back({near.distance, near.id, walk.other(near.id)});
  }
}

bool MemtableGraph::link_next(std::uint32_t appended, LinkScratch& scratch) {
  const NodeId row = claim(appended);
  if (row == kInvalidNode) return false;
  try {
    if (row > 0) link(row, scratch);
  } catch (...) {
    give_back(row);
    throw;
  }
  finish(row);
  return true;
}

/// Each of the first `linked_` vertices has at least two places for children. No row from twice as
/// many on is claimed, however long one before it takes. So the rows that are or will be children
/// are fewer than the places, and some places are always left.
NodeId MemtableGraph::claim(std::uint32_t appended) {
  const std::lock_guard guard(claims_);
  // Relaxed: it is stored under the same lock.
  const std::uint32_t linked_now = linked_.load(std::memory_order_relaxed);
  for (Claim& again : under_way_) {
    if (!std::exchange(again.held, true)) return again.row;
  }
  if (next_ >= appended || next_ - linked_now >= std::max(linked_now, 1u)) return kInvalidNode;
  under_way_.push_back({next_});
  return next_++;
}

void MemtableGraph::finish(NodeId row) {
  const std::lock_guard guard(claims_);
  std::erase_if(under_way_, [row](const Claim& claim) { return claim.row == row; });
  NodeId first = next_;
  for (const Claim& claim : under_way_) first = std::min(first, claim.row);
  linked_.store(first, std::memory_order_release);
}

void MemtableGraph::give_back(NodeId row) {
  const std::lock_guard guard(claims_);
  for (Claim& claim : under_way_) claim.held = claim.held && claim.row != row;
}

graph::Graph MemtableGraph::copy() const {
  const std::uint32_t vertices = linked();
  FARVEC_CHECK(vertices > 0, "a copy of a graph without vertices");
  graph::Graph graph(vertices, lists_.capacity());
  graph.entry = 0;
  std::vector<NodeId> list;
  for (NodeId row = 0; row < vertices; ++row) {
    lists_.read(row, list);
    graph.set_neighbors(row, list);
  }
  return graph;
}

/// The row's own list comes first, then its parent's, which makes the row a vertex: so a thread
/// that meets it meets a vertex to which a path leads for good.
void MemtableGraph::link(NodeId row, LinkScratch& scratch) {
  graph::BeamParameters parameters;
  parameters.list = options_.link_list;
  walk(rows_.row(row), salt_of(row), parameters, scratch.search);
  select(row, scratch.search.met, scratch);
  scratch.neighbors = scratch.chosen;
  {
    const auto lock = lists_.lock(row);
    lists_.write_locked(row, scratch.neighbors, 0);
  }
  link_back(row, find_parent(row, scratch), scratch);
}

/// The row is a vertex by now, and must not become one again: when there is no memory, the rest of
/// its neighbours get no link to it.
void MemtableGraph::link_back(NodeId row, NodeId parent, LinkScratch& scratch) {
  for (const NodeId neighbor : scratch.neighbors) {
    try {
      if (neighbor != parent) add(neighbor, {.row = row}, scratch);
    } catch (const std::bad_alloc&) {
      return;
    }
  }
}

/// Returns the nearest vertex with a place for a child. It is any other vertex where none of those
/// that were found has a place, and where none was found because no distance is a number: see
/// claim(). While more rows become vertices, others may take the places of the earlier ones; this
/// ends when all rows before this one are vertices at the latest.
NodeId MemtableGraph::find_parent(NodeId row, LinkScratch& scratch) {
  const Link link{.row = row, .child = true};
  for (const graph::Candidate& near : scratch.search.met) {
    const auto vertex = static_cast<NodeId>(near.handle);
    if (add(vertex, link, scratch)) return vertex;
  }
  for (NodeId vertices = 0; vertices < linked();) {
    vertices = linked();
    for (NodeId vertex = vertices; vertex-- > 0;) {
      if (add(vertex, link, scratch)) return vertex;
    }
  }
  FARVEC_CHECK(false, "no vertex has a place for row {}", row);
}

/// False when there is no place for a child.
bool MemtableGraph::add(NodeId vertex, const Link& link, LinkScratch& scratch) {
  const auto lock = lists_.lock(vertex);
  std::vector<NodeId>& list = scratch.edited;
  std::uint32_t children = lists_.read_locked(vertex, list);
  list.push_back(link.row);
  if (link.child) {
    if (children == options_.degree / 2) return false;
    std::swap(list[children++], list.back());
  }
  if (list.size() > lists_.capacity()) prune(vertex, children, scratch);
  lists_.write_locked(vertex, list, children);
  return true;
}

/// Keeps the children of scratch.edited and the best of the others, up to the degree.
void MemtableGraph::prune(NodeId vertex, std::uint32_t children, LinkScratch& scratch) const {
  std::vector<NodeId>& list = scratch.edited;
  std::vector<float>& scores = scratch.search.scores;
  scores.resize(list.size());
  many_(rows_.row(vertex), rows_, list, scores.data());
  scratch.search.counts.distances += static_cast<std::uint32_t>(list.size());
  scratch.pool.clear();
  for (std::size_t i = 0; i < list.size(); ++i) {
    scratch.pool.push_back({scores[i], list[i] ^ salt_of(vertex), list[i]});
  }
  std::sort(scratch.pool.begin(), scratch.pool.end());
  select(vertex, scratch.pool, scratch);
  list.resize(children);
  for (const NodeId row : scratch.chosen) {
    if (list.size() == options_.degree) break;
    const auto kept = list.begin() + children;
    if (std::find(list.begin(), kept, row) == kept) list.push_back(row);
  }
}

/// Puts neighbours for the vertex into scratch.chosen, out of the pool, nearest first.
void MemtableGraph::select(NodeId vertex, std::span<const graph::Candidate> pool,
                           LinkScratch& scratch) const {
  const auto row = [&](std::uint32_t i) { return rows_.row(pool[i].handle); };
  const auto between = [&](std::uint32_t a, std::uint32_t b) {
    ++scratch.search.counts.distances;
    return pair_(row(a), row(b), rows_.dimension);
  };
  const float self = pair_(rows_.row(vertex), rows_.row(vertex), rows_.dimension);
  graph::select_neighbors(pool, {options_.degree, self}, between, scratch.selection);
  scratch.chosen.clear();
  for (const std::uint32_t at : scratch.selection.chosen) {
    scratch.chosen.push_back(static_cast<NodeId>(pool[at].handle));
  }
}

}  // namespace farvec::collection
