// What a clustering costs a search, without the rest of the system: recall against clusters probed,
// vectors scanned, and requests with and without grouping and deduplication, by brute force over
// the memberships. Clusters to probe are chosen on the first half of the queries; all else is of
// the second.
//   build/release/bin/cluster_recall --data base.u8bin --queries query.u8bin --truth gt.ibin
//     --clusters 160000 --heads vectors --closure sptag --replicas 1,2,4,8 --json rows.jsonl
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/command_line.h"
#include "base/output_file.h"
#include "base/parallel.h"
#include "bench/probe_curves.h"
#include "bench/run_bench.h"
#include "cluster/centroid_index.h"
#include "cluster/clustering.h"
#include "cluster/grouping.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_set.h"

namespace farvec {
namespace {

struct Arguments {
  std::string data, queries, truth, json;
  std::vector<std::uint32_t> clusters{8000}, replicas{1, 8};
  std::vector<std::string> heads{"means"}, closures{"fitted"};
  std::vector<float> ratios{cluster::ClusteringOptions{}.closure_ratio};
  std::vector<float> factors{cluster::ClusteringOptions{}.rng_factor};
  std::vector<float> balances{cluster::ClusteringOptions{}.balance};
  std::vector<double> targets{0.90, 0.95};
  std::vector<std::uint32_t> refinements{cluster::ClusteringOptions{}.refinements};
  std::size_t sample = 0;
  std::uint32_t max_probe = 1024;
};

struct Inputs {
  dataset::VectorSet data, queries;
  dataset::GroundTruth truth;
};

/// Queries of one half.
struct Half {
  std::size_t begin = 0, end = 0;
};

/// The true k nearest and all that tie with the last of them.
std::span<const NodeId> nearest_of(const dataset::GroundTruth& truth, std::size_t query) {
  const auto distances = truth.distances_of(query);
  std::size_t count = kK;
  while (count < truth.k && distances[count] <= distances[kK - 1]) ++count;
  return truth.ids_of(query).first(count);
}

/// One clustering under examination.
class Examination {
 public:
  /// All are kept by reference; the index is of the clustering's centroids.
  Examination(const Inputs& inputs, const cluster::Clustering& clustering,
              const cluster::CentroidIndex& index, std::uint32_t max_probe)
      : inputs_(inputs),
        clustering_(clustering),
        max_probe_(
            static_cast<std::uint32_t>(std::min<std::size_t>(max_probe, clustering.count()))),
        index_(index) {}

  /// Every cluster's probes when each query of the half probes so many.
  std::vector<std::uint64_t> frequencies(Half half, std::uint32_t probe) const {
    std::vector<std::uint64_t> counts(clustering_.count(), 0);
    cluster::CentroidScratch scratch;
    for (std::size_t q = half.begin; q < half.end; ++q) {
      index_.search(inputs_.queries.view().row(q), probe, scratch);
      for (const auto& near : scratch.found) ++counts[near.cluster];
    }
    return counts;
  }

  Curves curves(Half half, const Homes& homes) const {
    const Postings postings(clustering_);
    const unsigned threads = resolve_threads(0);
    std::vector<QueryCounter> counters(threads,
                                       QueryCounter(clustering_, postings, homes, max_probe_));
    std::vector<cluster::CentroidScratch> scratch(threads);
    std::vector<Curves> parts(threads, Curves(max_probe_));
    parallel_for(half.end - half.begin, 16, threads,
                 [&](std::size_t begin, std::size_t end, unsigned w) {
                   for (std::size_t q = half.begin + begin; q < half.begin + end; ++q) {
                     index_.search(inputs_.queries.view().row(q), max_probe_, scratch[w]);
                     counters[w].add(scratch[w].found, nearest_of(inputs_.truth, q), parts[w]);
                   }
                 });
    return sum_of(std::move(parts), static_cast<double>(half.end - half.begin));
  }

  /// Means of what it takes to find the nearest clusters.
  nlohmann::ordered_json centroid_search(Half half, std::uint32_t probe) const {
    cluster::CentroidScratch scratch;
    double distances = 0, estimates = 0;
    for (std::size_t q = half.begin; q < half.end; ++q) {
      index_.search(inputs_.queries.view().row(q), probe, scratch);
      distances += scratch.counts.distances;
      estimates += scratch.counts.estimates;
    }
    const auto queries = static_cast<double>(half.end - half.begin);
    return {{"centroid_distances", distances / queries},
            {"centroid_estimates", estimates / queries}};
  }

  std::uint32_t max_probe() const { return max_probe_; }
  const cluster::Clustering& clustering() const { return clustering_; }
  std::size_t dram_bytes() const { return index_.dram_bytes(); }

 private:
  static Curves sum_of(std::vector<Curves> parts, double queries) {
    const auto columns = parts[0].columns();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      double sum = 0;
      for (std::size_t p = 0; p < columns[c]->size(); ++p) {
        for (Curves& part : parts) sum += (*part.columns()[c])[p] / queries;
        (*columns[c])[p] = sum;
      }
    }
    return parts[0];
  }

  const Inputs& inputs_;
  const cluster::Clustering& clustering_;
  const std::uint32_t max_probe_;
  const cluster::CentroidIndex& index_;
};

std::vector<ClusterId> homes_of(const cluster::Clustering& clustering,
                                const std::vector<std::uint64_t>& frequencies) {
  return cluster::group_by_frequency(clustering.membership(), frequencies, resolve_threads(0));
}

nlohmann::ordered_json facts_of(const cluster::ClusteringOptions& options,
                                const cluster::ClusteringStats& stats,
                                const cluster::Clustering& clustering) {
  const Postings postings(clustering);
  std::size_t largest = 0;
  for (const auto& list : postings.lists) largest = std::max(largest, list.size());
  const std::size_t rows = clustering.membership().count();
  return {{"clusters", clustering.count()},
          {"heads", to_string(options.heads)},
          {"closure", to_string(options.closure)},
          {"replicas", options.replicas},
          {"closure_ratio", stats.closure_ratio},
          {"rng_factor", stats.rng_factor},
          {"balance", options.balance},
          {"refinements", options.refinements},
          {"copies", static_cast<double>(clustering.clusters.size()) / static_cast<double>(rows)},
          {"largest_own", stats.largest_own},
          {"largest", largest},
          {"displaced", stats.displaced},
          {"refilled", stats.refilled},
          {"seconds", stats.training_seconds + stats.assignment_seconds}};
}

/// The figures of one recall, of the second half.
nlohmann::ordered_json figures(const Examination& examined, const Curves& curves, Half half,
                               std::uint32_t probe) {
  const auto lists = static_cast<double>(probe);
  nlohmann::ordered_json row{{"probe", probe},
                             {"recall", curves.recall[probe]},
                             {"scanned", curves.scanned[probe]},
                             {"distinct", curves.distinct[probe]},
                             {"plain", lists + curves.scanned[probe]},
                             {"dedup", lists + curves.distinct[probe]}};
  for (std::size_t g = 0; g < kGroupings; ++g) {
    const double pieces = curves.pieces[g][probe];
    row[fmt::format("grouped_{}", kGroupingNames[g])] = pieces + curves.alone[g][probe];
    row[fmt::format("both_{}", kGroupingNames[g])] = pieces + curves.strays[g][probe];
  }
  row.update(examined.centroid_search(half, probe));
  row["centroid_dram_bytes"] = examined.dram_bytes();
  return row;
}

void examine(const Arguments& arguments, const Examination& examined, std::size_t queries,
             nlohmann::ordered_json facts, OutputFile* out) {
  const cluster::Clustering& clustering = examined.clustering();
  const Half first{0, queries / 2}, second{queries / 2, queries};
  const Curves chosen = examined.curves(first, {});
  for (const double target : arguments.targets) {
    std::uint32_t probe = 1;
    while (probe < examined.max_probe() && chosen.recall[probe] < target) ++probe;
    if (chosen.recall[probe] < target) {
      fmt::print("recall {} needs more than {} clusters\n", target, probe);
      continue;
    }
    const Homes homes{homes_of(clustering, {}),
                      homes_of(clustering, examined.frequencies(first, probe)),
                      homes_of(clustering, examined.frequencies(second, probe))};
    facts["wanted"] = target;
    facts.update(figures(examined, examined.curves(second, homes), second, probe));
    fmt::print("{}\n", facts.dump());
    if (out != nullptr) {
      const std::string line = facts.dump() + "\n";
      out->append(line.data(), line.size());
    }
  }
  std::fflush(stdout);
}

/// The first clusters of every vector, at most so many: what a build with that R has, where the
/// closure does not depend on R.
cluster::Clustering cut(const cluster::Clustering& from, std::uint32_t replicas) {
  cluster::Clustering few{from.space_dimension, from.centroids, {0}, {}};
  for (std::size_t v = 0; v < from.membership().count(); ++v) {
    const auto of = from.membership().of(v);
    const auto kept = of.first(std::min<std::size_t>(of.size(), replicas));
    few.clusters.insert(few.clusters.end(), kept.begin(), kept.end());
    few.begins.push_back(few.clusters.size());
  }
  return few;
}

/// Every combination of the lists but that of replicas.
std::vector<cluster::ClusteringOptions> combinations(const Arguments& arguments) {
  using Options = cluster::ClusteringOptions;
  std::vector<Options> all(1);
  all[0].quiet = true;
  all[0].sample = arguments.sample;
  auto multiply = [&](const auto& values, auto set) {
    std::vector<Options> next;
    for (Options options : all) {
      for (const auto& value : values) {
        set(options, value);
        next.push_back(options);
      }
    }
    all = std::move(next);
  };
  multiply(arguments.clusters, [](Options& o, auto value) { o.clusters = value; });
  multiply(arguments.heads, [](Options& o, const auto& word) { o.heads = parse_heads(word); });
  multiply(arguments.closures,
           [](Options& o, const auto& word) { o.closure = parse_closure(word); });
  multiply(arguments.refinements, [](Options& o, auto value) { o.refinements = value; });
  multiply(arguments.balances, [](Options& o, auto value) { o.balance = value; });
  multiply(arguments.ratios, [](Options& o, auto value) { o.closure_ratio = value; });
  multiply(arguments.factors, [](Options& o, auto value) { o.rng_factor = value; });
  return all;
}

cluster::CentroidIndex make_index(const VectorView& queries,
                                  const cluster::Clustering& clustering) {
  return cluster::CentroidIndex(
      {Metric::l2, queries.type, queries.dimension, clustering.space_dimension,
       clustering.centroids,
       cluster::build_centroid_graph(clustering.centroids, clustering.space_dimension, {1, 0}),
       false, false},
      resolve_threads(0));
}

void run(const Arguments& arguments) {
  const Inputs inputs{dataset::load(arguments.data), dataset::load(arguments.queries),
                      dataset::read_groundtruth(arguments.truth)};
  std::optional<OutputFile> out;
  if (!arguments.json.empty()) out.emplace(arguments.json, std::uint64_t{1} << 20);
  for (cluster::ClusteringOptions options : combinations(arguments)) {
    const bool depends = options.closure == ClosureRule::fitted && options.closure_ratio == 0;
    cluster::ClusteringStats stats;
    cluster::Clustering most;
    std::optional<cluster::CentroidIndex> index;
    for (auto r = arguments.replicas.rbegin(); r != arguments.replicas.rend(); ++r) {
      options.replicas = *r;
      if (depends || most.clusters.empty()) {
        most = cluster::build_clusters(inputs.data.view(), Metric::l2, options, &stats);
        index.emplace(make_index(inputs.queries.view(), most));
      }
      const cluster::Clustering few = cut(most, *r);
      examine(arguments, Examination(inputs, few, *index, arguments.max_probe),
              inputs.queries.count(), facts_of(options, stats, few), out ? &*out : nullptr);
    }
  }
  if (out) out->commit();
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::Arguments arguments;
  farvec::CommandLine app("Recall against clusters probed, for every combination of the lists");
  app.add_option("--data", arguments.data).required();
  app.add_option("--queries", arguments.queries).required();
  app.add_option("--truth", arguments.truth, "k >= 10, with distances").required();
  app.add_option("--clusters", arguments.clusters).comma_separated();
  app.add_option("--replicas", arguments.replicas, "ascending").comma_separated();
  app.add_option("--heads", arguments.heads, "means, vectors, rounded").comma_separated();
  app.add_option("--closure", arguments.closures, "fitted, spann, sptag").comma_separated();
  app.add_option("--ratio", arguments.ratios, "0: of the closure").comma_separated();
  app.add_option("--rng", arguments.factors, "0: of the closure").comma_separated();
  app.add_option("--balance", arguments.balances).comma_separated();
  app.add_option("--refinements", arguments.refinements).comma_separated();
  app.add_option("--recall", arguments.targets).comma_separated();
  app.add_option("--sample", arguments.sample);
  app.add_option("--max-probe", arguments.max_probe);
  app.add_option("--json", arguments.json, "File for the rows, one object a line");
  return farvec::run_bench(app, argc, argv, [&] { farvec::run(arguments); });
}
