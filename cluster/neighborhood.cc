#include "cluster/neighborhood.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace farvec::cluster {

Neighborhood::Neighborhood(const Clustering& former, graph::Graph centroids, unsigned threads)
    : index_({Metric::l2, ElementType::f32, former.space_dimension, former.space_dimension,
              former.centroids, std::move(centroids)},
             threads),
      root_(former.count()),
      branches_(former.count()) {
  std::iota(root_.begin(), root_.end(), ClusterId{0});
  for (ClusterId c = 0; c < branches_.size(); ++c) branches_[c].push_back(c);
}

void Neighborhood::find_former(const float* place, std::uint32_t wanted, Scratch& scratch) const {
  index_.search(place, wanted, scratch.search);
  scratch.work.distances += scratch.search.counts.distances;
  scratch.work.estimates += scratch.search.counts.estimates;
}

std::vector<ClusterId> Neighborhood::find(const float* place, std::uint32_t wanted,
                                          Scratch& scratch) const {
  std::vector<ClusterId> found;
  for (;; wanted *= 4) {
    find_former(place, wanted, scratch);
    for (const NearCluster& near : scratch.search.found) {
      const std::vector<ClusterId>& branches = branches_[near.cluster];
      found.insert(found.end(), branches.begin(), branches.end());
    }
    if (!found.empty() || wanted >= index_.count()) return found;
  }
}

void Neighborhood::add(ClusterId from, ClusterId part) {
  FARVEC_CHECK(part == root_.size(), "cluster {} comes as number {}", part, root_.size());
  root_.push_back(root_[from]);
  branches_[root_[from]].push_back(part);
}

void Neighborhood::remove(ClusterId cluster) {
  std::erase(branches_[root_[cluster]], cluster);
}

}  // namespace farvec::cluster
