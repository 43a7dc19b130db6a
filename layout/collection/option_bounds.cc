#include "layout/collection/option_bounds.h"

#include <algorithm>
#include <utility>

#include "base/status_error.h"

namespace farvec::layout {
namespace {

class OptionCheck {
 public:
  explicit OptionCheck(const SpellOption& spell) : spell_(spell) {}

  template <typename Value>
  void within(std::string_view name, Value value, OptionBounds<Value> bounds) const {
    // False also for NaN.
    if (value >= bounds.least && value <= bounds.most) return;
    fail(name, "{} is out of range: use {} to {}", value, bounds.least, bounds.most);
  }

  template <typename... Args>
  [[noreturn]] void fail(std::string_view name, fmt::format_string<Args...> format,
                         Args&&... args) const {
    throw StatusError(StatusCode::invalid_argument, "{}: {}", spell_(name),
                      fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  const SpellOption& spell_;
};

void check_graph(const CollectionOptions& options, const OptionCheck& check) {
  if (!can_be_segment(options.layout)) {
    check.fail("layout", "segments are csr, packed, inline or slotted, not {}",
               to_string(options.layout));
  }
  check.within("degree", options.degree, kDegreeBounds);
  if (options.degree > largest_degree(options.layout)) {
    check.fail("degree", "{} is more than a vertex of layout {} has: use at most {}",
               options.degree, to_string(options.layout), largest_degree(options.layout));
  }
  check.within("list", options.list, kListBounds);
  check.within("alpha", options.alpha, kAlphaBounds);
  if (options.code_bits) check.within("code_bits", *options.code_bits, kCodeBitsBounds);
}

void check_clusters(const ClusterSegmentOptions& clusters, const OptionCheck& check) {
  check.within("cluster_bytes", clusters.cluster_bytes, kClusterBytesBounds);
  check.within("replicas", clusters.replicas, kReplicasBounds);
  if (clusters.closure_ratio != 0) {
    check.within("closure_ratio", clusters.closure_ratio, kClosureRatioBounds);
  }
  check.within("balance", clusters.balance, kBalanceBounds);
}

}  // namespace

std::string as_tool_option(std::string_view name) {
  std::string option = fmt::format("--{}", name);
  std::ranges::replace(option, '_', '-');
  return option;
}

bool can_be_segment(LayoutKind layout) {
  return layout == LayoutKind::csr || layout == LayoutKind::inlined ||
         layout == LayoutKind::packed || layout == LayoutKind::slotted;
}

void check_new_collection(const CollectionManifest& manifest, const SpellOption& spell) {
  const OptionCheck check(spell);
  const CollectionOptions& options = manifest.options;
  check.within("dimension", manifest.dimension, {1, max_dimension(manifest.source_type)});
  check.within("memtable_rows", options.memtable_rows, kMemtableRowsBounds);
  check.within("merge_fanout", options.merge_fanout, kMergeFanoutBounds);
  switch (options.kind) {
    case IndexKind::graph:
      return check_graph(options, check);
    case IndexKind::cluster:
      return check_clusters(options.clusters, check);
  }
}

}  // namespace farvec::layout
