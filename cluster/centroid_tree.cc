#include "cluster/centroid_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/check.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/random.h"
#include "cluster/balanced_kmeans.h"

namespace farvec::cluster {
namespace {

constexpr std::uint32_t kMaxParts = 32;
/// Nodes with more points are split one after another by all threads, other nodes side by side.
constexpr std::size_t kLargeNode = 65536;

/// A set of points that has to become `leaves` centroids, from number `first_leaf` on.
struct TreeNode {
  std::size_t begin = 0, end = 0;  ///< range in the permutation of all points
  std::uint32_t first_leaf = 0;
  std::uint32_t leaves = 1;
};

/// The number of parts that gives the fewest levels, with equal fan-outs on them.
std::uint32_t parts_for(std::uint32_t leaves) {
  std::uint32_t levels = 1;
  for (std::uint64_t reach = kMaxParts; reach < leaves; reach *= kMaxParts) ++levels;
  const auto parts = static_cast<std::uint32_t>(std::ceil(std::pow(leaves, 1.0 / levels) - 1e-9));
  return std::clamp(parts, 1u, kMaxParts);
}

class TreeBuilder {
 public:
  TreeBuilder(VectorView rows, const TreeOptions& options)
      : rows_(rows),
        options_(options),
        points_(rows.count),
        centroids_(std::size_t{options.centroids} * rows.dimension),
        progress_("centroids", options.centroids, options.quiet, options.interrupted) {
    std::iota(points_.begin(), points_.end(), NodeId{0});
  }

  std::vector<float> run() {
    std::vector<TreeNode> level{{0, rows_.count, 0, options_.centroids}};
    while (!level.empty()) level = split_level(level);
    return std::move(centroids_);
  }

 private:
  std::vector<TreeNode> split_level(const std::vector<TreeNode>& level) {
    std::vector<std::vector<TreeNode>> children(level.size());
    auto is_large = [&](const TreeNode& node) { return node.end - node.begin > kLargeNode; };
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (is_large(level[i])) children[i] = split(level[i], options_.threads);
    }
    parallel_for(level.size(), 1, options_.threads, [&](std::size_t i, std::size_t, unsigned) {
      if (!is_large(level[i])) children[i] = split(level[i], 1);
    });
    std::vector<TreeNode> next;
    for (const auto& nodes : children) next.insert(next.end(), nodes.begin(), nodes.end());
    return next;
  }

  /// Writes the centroids of a last split; otherwise returns the parts, which are to be split in
  /// turn.
  std::vector<TreeNode> split(const TreeNode& node, unsigned threads) {
    const std::size_t count = node.end - node.begin;
    const std::span<NodeId> points(&points_[node.begin], count);
    SplitOptions options;
    options.parts = parts_for(node.leaves);
    options.largest = static_cast<std::uint64_t>(
        std::ceil(static_cast<double>(options_.balance) * static_cast<double>(count) /
                  static_cast<double>(options.parts)));
    options.seed = Random(options_.seed + node.first_leaf * std::uint64_t{64} + node.leaves).next();
    options.threads = threads;
    const Split result = BalancedKmeans(rows_, points, options).run();
    if (options.parts == node.leaves) {
      std::copy(result.centers.begin(), result.centers.end(),
                &centroids_[std::size_t{node.first_leaf} * rows_.dimension]);
      progress_.advance(node.leaves);
      return {};
    }
    return children_of(node, result);
  }

  std::vector<TreeNode> children_of(const TreeNode& node, const Split& split) {
    const std::vector<std::uint32_t> seats = apportion(split.sizes, node.leaves);
    std::vector<TreeNode> children;
    TreeNode child{node.begin, node.begin, node.first_leaf, 0};
    for (std::size_t part = 0; part < seats.size(); ++part) {
      child = {child.end, child.end + split.sizes[part], child.first_leaf + child.leaves,
               seats[part]};
      children.push_back(child);
    }
    const std::vector<NodeId> before(&points_[node.begin],
                                     &points_[node.begin] + split.part_of.size());
    std::vector<std::size_t> next;
    next.reserve(children.size());
    for (const TreeNode& c : children) next.push_back(c.begin);
    for (std::size_t i = 0; i < before.size(); ++i) points_[next[split.part_of[i]]++] = before[i];
    return children;
  }

  const VectorView rows_;
  const TreeOptions options_;
  std::vector<NodeId> points_;  ///< the points of every node are a range of it
  std::vector<float> centroids_;
  Progress progress_;
};

}  // namespace

std::vector<float> train_centroids(VectorView rows, const TreeOptions& options) {
  FARVEC_CHECK(options.centroids > 0 && options.centroids <= rows.count);
  return TreeBuilder(rows, options).run();
}

std::vector<std::uint32_t> apportion(const std::vector<std::uint64_t>& sizes, std::uint32_t seats) {
  std::vector<std::uint32_t> shares(sizes.size(), 0);
  std::uint32_t given = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) given += shares[i] = sizes[i] > 0 ? 1 : 0;
  for (; given < seats; ++given) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      // sizes[i] / (shares[i] + 1) is larger
      if (sizes[i] * (shares[best] + 1) > sizes[best] * (shares[i] + 1)) best = i;
    }
    ++shares[best];
  }
  return shares;
}

}  // namespace farvec::cluster
