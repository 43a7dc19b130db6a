#include "graph/deletion_repair.h"

#include <algorithm>
#include <memory>
#include <span>

#include "base/check.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "graph/robust_prune.h"

namespace farvec::graph {
namespace {

constexpr std::size_t kVertexChunk = 256;
/// Vertices that are out may lead to others that are out. This is the most that are looked through
/// for one vertex that stays.
constexpr std::size_t kMostLookedThrough = 1024;

bool contains(const std::vector<NodeId>& ids, NodeId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

struct DeletionRepair::Worker {
  Worker(const VamanaGrowth& growth, const Hubs& hubs)
      : prune(growth.space(), {growth.options().degree, growth.options().alpha}, &hubs) {}

  RobustPrune prune;
  std::vector<NodeId> stay;    ///< neighbours that stay, by their new numbers
  std::vector<NodeId> gone;    ///< vertices to look through, each once, by their former numbers
  std::vector<NodeId> behind;  ///< what those lead to, by new numbers
};

DeletionRepair::DeletionRepair(const Graph& former, const RowSet& out)
    : former_(former), numbers_(former.count(), kInvalidNode) {
  for (NodeId v = 0; v < former.count(); ++v) {
    if (out.contains(v)) continue;
    numbers_[v] = static_cast<NodeId>(kept_.size());
    kept_.push_back(v);
  }
  FARVEC_CHECK(kept_.size() + out.count() == former.count(), "{} of {} vertices cannot be out",
               out.count(), former.count());
}

std::uint64_t DeletionRepair::run(VamanaGrowth& growth) const {
  const Hubs hubs = hubs_that_stay(growth.options().degree);
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned t = 0; t < growth.threads(); ++t) {
    workers.push_back(std::make_unique<Worker>(growth, hubs));
  }
  Progress progress("repair", kept_.size(), growth.options().quiet);
  parallel_for(kept_.size(), kVertexChunk, growth.threads(),
               [&](std::size_t begin, std::size_t end, unsigned w) {
                 if (growth.options().interrupted()) throw WorkInterrupted();
                 for (std::size_t v = begin; v < end; ++v) {
                   const auto edges = choose_edges(v, growth.options().degree, *workers[w]);
                   growth.graph().set_neighbors(v, edges);
                 }
                 progress.advance(end - begin);
                 growth.options().advanced(end - begin);
               });
  std::uint64_t distances = 0;
  for (const auto& worker : workers) distances += worker->prune.distances();
  return distances;
}

/// The hubs of the former graph, by new numbers.
Hubs DeletionRepair::hubs_that_stay(std::uint32_t degree) const {
  Hubs hubs(kept_.size(), degree);
  std::vector<NodeId> stay;
  for (const NodeId v : kept_) {
    stay.clear();
    for (const NodeId neighbor : former_.neighbors(v)) {
      if (numbers_[neighbor] != kInvalidNode) stay.push_back(numbers_[neighbor]);
    }
    hubs.replace({}, stay);
  }
  return hubs;
}

/// Chooses the edges of the vertex with the new number `v`.
std::span<const NodeId> DeletionRepair::choose_edges(std::size_t v, std::uint32_t degree,
                                                     Worker& worker) const {
  const auto number = static_cast<NodeId>(v);
  split_neighbors(kept_[v], worker);
  if (worker.stay.size() > degree) {
    return worker.prune.run(number, std::span<const NodeId>(worker.stay));
  }
  if (worker.gone.empty() || worker.stay.size() == degree) return worker.stay;
  look_behind(degree, worker);
  return worker.prune.extend(number, worker.stay, worker.behind);
}

void DeletionRepair::split_neighbors(NodeId former, Worker& worker) const {
  worker.stay.clear();
  worker.gone.clear();
  for (const NodeId neighbor : former_.neighbors(former)) {
    const NodeId number = numbers_[neighbor];
    if (number == kInvalidNode) {
      worker.gone.push_back(neighbor);
    } else {
      worker.stay.push_back(number);
    }
  }
}

/// Finds the vertices that stay among the neighbours of all gone neighbours. While these and the
/// neighbours that stay are fewer than `degree`, it looks through the gone vertices that were met
/// on the way as well.
void DeletionRepair::look_behind(std::uint32_t degree, Worker& worker) const {
  worker.behind.clear();
  const std::size_t direct = worker.gone.size();
  const std::size_t most = std::max(direct, kMostLookedThrough);
  for (std::size_t i = 0; i < worker.gone.size(); ++i) {
    if (i >= direct && worker.stay.size() + worker.behind.size() >= degree) break;
    for (const NodeId next : former_.neighbors(worker.gone[i])) {
      const NodeId number = numbers_[next];
      if (number != kInvalidNode) {
        if (!contains(worker.stay, number) && !contains(worker.behind, number)) {
          worker.behind.push_back(number);
        }
      } else if (worker.gone.size() < most && !contains(worker.gone, next)) {
        worker.gone.push_back(next);
      }
    }
  }
}

}  // namespace farvec::graph
