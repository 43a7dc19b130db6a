#include "cli/advice/trial.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "cli/advice/small_index.h"
#include "cli/batch_search.h"
#include "dataset/recall.h"

namespace farvec::cli {
namespace {

constexpr std::uint32_t kMostList = 4096;
constexpr std::uint32_t kSlots = 16;
/// Queries that one copy answers before the next one's turn.
constexpr std::size_t kTurn = 50;
constexpr double kPassSeconds = 0.05;

/// A device of the same kind as `model`, so that searches take the same path, without its limits.
transport::TierSpec unlimited(const transport::DeviceModel& model) {
  transport::TierSpec tier;
  tier.kind = transport::TierKind::emulated;
  tier.model.latency_us = model.reached_by_loads() ? 0.001 : 1.0;
  tier.model.bandwidth_gbps = 1e6;
  tier.model.requests_per_us = 1e6;
  tier.model.block_bytes = model.block_bytes;
  return tier;
}

transport::TierSpec emulated(const transport::DeviceModel& model) {
  transport::TierSpec tier;
  tier.kind = transport::TierKind::emulated;
  tier.model = model;
  return tier;
}

Counts per_query(const compute_node::QueryCounts& totals, std::size_t queries) {
  Counts counts{};
  counts[kHops] = static_cast<double>(totals.hops);
  counts[kReads] = static_cast<double>(totals.reads);
  counts[kBytes] = static_cast<double>(totals.bytes);
  counts[kEstimates] = static_cast<double>(totals.estimates);
  counts[kDistances] = static_cast<double>(totals.distances);
  counts[kClusters] = static_cast<double>(totals.clusters);
  counts[kGroupReads] = static_cast<double>(totals.group_reads);
  counts[kListReads] = static_cast<double>(totals.list_reads);
  counts[kStrayReads] = static_cast<double>(totals.stray_reads);
  for (double& count : counts) count /= static_cast<double>(queries);
  return counts;
}

IndexSize index_size(const OpenIndex& open) {
  const layout::Manifest& manifest = open.manifest();
  IndexSize size;
  const std::uint64_t payload = manifest.region(layout::kRecordsRegion).payload_bytes;
  size.amplification = static_cast<double>(payload) / static_cast<double>(manifest.dataset_bytes());
  size.compute_dram_per_vector =
      static_cast<double>(open.index().dram_bytes()) / static_cast<double>(manifest.count);
  const compute_node::ClusterIndex* clusters = open.index().clusters();
  if (clusters == nullptr) return size;
  size.stray_bytes = manifest.cluster.record_bytes();
  std::uint64_t lists = 0;
  for (ClusterId c = 0; c < clusters->clusters(); ++c) lists += clusters->locator().list(c).bytes;
  size.list_bytes = static_cast<double>(lists) / clusters->clusters();
  return size;
}

class Trial {
 public:
  Trial(const std::filesystem::path& directory, const VectorView& queries,
        const TrialOptions& options)
      : directory_(directory),
        queries_(queries),
        options_(options),
        open_(std::make_unique<OpenIndex>(directory, unlimited(options.device))) {
    core_options_.slots = kSlots;
    core_options_.max_list = kMostList;
    core_options_.merge_gap_bytes = transport::bytes_per_request(emulated(options.device));
    if (const auto* clusters = open_->index().clusters()) {
      core_options_.max_probe = clusters->clusters();
    }
  }

  TrialResult count(const dataset::GroundTruth& truth) {
    TrialResult result;
    result.rows = open_->manifest().count;
    result.size = index_size(*open_);
    const Cores cores = cores_of(*open_);
    const auto most =
        is_graph() ? std::min<std::uint32_t>(kMostList, static_cast<std::uint32_t>(result.rows))
                   : core_options_.max_probe;
    const auto search = [&](std::uint32_t number) {
      dataset::GroundTruth found;
      const auto totals = run_batch(cores, queries_, parameters(number), found).totals;
      const dataset::ResultRows rows{found.ids.data(), found.distances.data(), queries_.count,
                                     found.k};
      return Searched{dataset::recall_at_k(rows, truth, options_.k),
                      per_query(totals, queries_.count)};
    };
    result.reached = reach(search, least(), most, options_.recall);
    return result;
  }

  void time(TrialResult& result) {
    const auto number = static_cast<std::uint32_t>(std::ceil(result.reached->parameter));
    const bool first = result.at_target.ns == 0;
    time(number, result.at_target);
    time(std::max((number + 1) / 2, least()), result.at_half);
    if (first) result.cache_ns = std::max(cache_ns(number), 0.0);
  }

 private:
  using Cores = std::vector<std::unique_ptr<compute_node::SearchCore>>;

  bool is_graph() const { return open_->index().graph() != nullptr; }
  std::uint32_t least() const { return is_graph() ? std::max(options_.k, options_.width) : 1; }

  Cores cores_of(OpenIndex& index) const {
    Cores cores;
    cores.push_back(index.make_core(core_options_));
    return cores;
  }

  BatchParameters parameters(std::uint32_t number) const {
    BatchParameters parameters;
    parameters.k = options_.k;
    parameters.list = number;
    parameters.width = std::min(options_.width, number);
    parameters.probing.clusters = number;
    return parameters;
  }

  /// Searches in full flight.
  void time(std::uint32_t number, Timed& timed) const {
    const Cores cores = cores_of(*open_);
    BatchParameters searches = parameters(number);
    dataset::GroundTruth results;
    for (std::uint32_t pass = 0; pass <= options_.passes; ++pass) {  // the first is short
      const BatchOutcome outcome = run_batch(cores, queries_, searches, results);
      timed.counts = per_query(outcome.totals, queries_.count);
      const double seconds = outcome.processor_seconds / searches.repeats;
      const double ns = seconds * 1e9 / static_cast<double>(queries_.count);
      timed.ns = timed.ns == 0 ? ns : std::min(ns, timed.ns);
      searches.repeats =
          static_cast<std::uint32_t>(std::clamp(kPassSeconds / seconds + 1, 1.0, 100.0));
    }
  }

  /// What a query takes longer when the cache does not hold the index.
  double cache_ns(std::uint32_t number) {
    const std::uint64_t rows = open_->manifest().count;
    const std::uint64_t wanted = (options_.whole_rows + rows - 1) / rows;
    const std::uint64_t affordable = TrialOptions::kMostCopiedBytes / open_->bytes() + 1;
    const std::uint64_t copies = std::min(wanted, affordable);
    if (copies < 2) return 0;
    std::vector<std::unique_ptr<OpenIndex>> indexes;
    std::vector<Cores> cores;
    for (std::uint64_t i = 0; i < copies; ++i) {
      indexes.push_back(std::make_unique<OpenIndex>(directory_, unlimited(options_.device)));
      cores.push_back(cores_of(*indexes.back()));
    }
    double alone = std::numeric_limits<double>::infinity();
    double in_turn = alone;
    for (std::uint32_t pass = 0; pass <= options_.passes; ++pass) {  // the first warms up
      alone = std::min(alone, turns_ns({cores.data(), 1}, number, pass));
      in_turn = std::min(in_turn, turns_ns(cores, number, pass));
    }
    return in_turn - alone;
  }

  /// A few queries on each of the cores in turn. A query meets another core in the next pass: else
  /// it would find its records in the cache again, however many copies there are.
  double turns_ns(std::span<Cores> cores, std::uint32_t number, std::size_t turn) const {
    const BatchParameters searches = parameters(number);
    dataset::GroundTruth results;
    double seconds = 0;
    for (std::size_t begin = 0; begin < queries_.count; begin += kTurn) {
      VectorView some = queries_;
      some.data = queries_.row(begin);
      some.count = std::min(kTurn, queries_.count - begin);
      seconds += run_batch(cores[turn++ % cores.size()], some, searches, results).processor_seconds;
    }
    return seconds * 1e9 / static_cast<double>(queries_.count);
  }

  const std::filesystem::path directory_;
  const VectorView queries_;
  const TrialOptions options_;
  std::unique_ptr<OpenIndex> open_;
  compute_node::SearchCoreOptions core_options_;
};

}  // namespace

TrialResult count_index(const std::filesystem::path& directory, const Sample& sample,
                        const VectorView& queries, const TrialOptions& options) {
  return Trial(directory, queries, options).count(sample.truth);
}

void time_index(const std::filesystem::path& directory, const VectorView& queries,
                const TrialOptions& options, TrialResult& result) {
  FARVEC_CHECK(result.reached.has_value());
  Trial(directory, queries, options).time(result);
}

}  // namespace farvec::cli
