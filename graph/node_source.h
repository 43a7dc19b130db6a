// A NodeSource is where the beam search gets its vertices from: DRAM, a memory node, an SSD.
#pragma once

#include <concepts>
#include <span>

#include "base/node_record.h"
#include "base/status.h"
#include "base/types.h"

namespace farvec::graph {

/// expand() fetches the records of a frontier (at most Source's own maximum width) and calls
/// visit(id, record) once for each, in any order; one call per hop, at most one suspension. The
/// record is valid during visit() only. On an error no further visit happens and the search ends
/// with that status. expect(id) hints that `id` may be in a later frontier; it never suspends.
template <typename Source>
concept NodeSource = requires(Source source, std::span<const NodeId> frontier,
                              void (*visit)(NodeId, const NodeRecord&)) {
  { source.expand(frontier, visit) } -> std::same_as<Status>;
  source.expect(NodeId{});
};

/// A PageSource is a source whose records come several at a time. Some come beside those of the
/// frontier. It visits each of these in the same hop if wanted(id) is true, which is asked after
/// the records before it were visited.
template <typename Source>
concept PageSource = NodeSource<Source> &&
    requires(Source source, std::span<const NodeId> frontier,
             void (*visit)(NodeId, const NodeRecord&), bool (*wanted)(NodeId)) {
  { source.expand(frontier, visit, wanted) } -> std::same_as<Status>;
};

/// A ListSource can bring the neighbours of a vertex without its vector. expand_passing() is
/// expand(), except that it brings only these for each vertex of the frontier for which passed(id)
/// is true: the record's vector is null then, unless it has come all the same.
template <typename Source>
concept ListSource = NodeSource<Source> &&
    requires(Source source, std::span<const NodeId> frontier,
             void (*visit)(NodeId, const NodeRecord&), bool (*passed)(NodeId)) {
  { source.expand_passing(frontier, visit, passed) } -> std::same_as<Status>;
};

/// A CachedSource is a source that keeps some records in memory. resident(id) says whether
/// expand({id}) would go on without waiting, as far as can be seen now. prefetch(id) starts to
/// bring a record for which no search waits yet, or does nothing when there is no room for it.
/// Neither suspends.
template <typename Source>
concept CachedSource = NodeSource<Source> && requires(Source source) {
  { source.resident(NodeId{}) } -> std::same_as<bool>;
  source.prefetch(NodeId{});
};

}  // namespace farvec::graph
