#include "measure/advise/trial.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "dataset/recall.h"
#include "measure/advise/slotted_trial.h"
#include "measure/advise/small_index.h"
#include "search/core/asked_search.h"
#include "search/core/batch_search.h"
#include "search/disk/disk_memory.h"

namespace farvec::measure {
namespace {

/// The number of queries that one copy answers before it is the next one's turn.
constexpr std::size_t kTurn = 50;

/// Returns a device of the same kind as `model`, so that searches take the same path, without its
/// limits.
tiers::TierSpecPointer unlimited(const transport::DeviceModel& model) {
  transport::DeviceModel device;
  device.latency_us = model.reached_by_loads() ? 0.001 : 1.0;
  device.bandwidth_gbps = 1e6;
  device.requests_per_us = 1e6;
  device.block_bytes = model.block_bytes;
  return tiers::emulated_tier(device);
}

/// Returns the traits of the tier that the whole index will be read from.
tiers::TierTraits traits_of(const AdviceDevice& device) {
  const auto tier =
      device.is_measured() ? tiers::parse_tier("ssd") : tiers::emulated_tier(device.model);
  return tier->traits();
}

IndexSize index_size(const OpenIndex& open) {
  const layout::Manifest& manifest = open.manifest();
  IndexSize size;
  const std::uint64_t payload = manifest.region(layout::kRecordsRegion).payload_bytes;
  size.amplification = static_cast<double>(payload) / static_cast<double>(manifest.dataset_bytes());
  size.compute_dram_per_vector =
      static_cast<double>(open.index().dram_bytes()) / static_cast<double>(manifest.count);
  const search::ClusterIndex* clusters = open.index().clusters();
  if (clusters == nullptr) return size;
  size.stray_bytes = manifest.cluster().geometry.record_bytes();
  std::uint64_t lists = 0;
  for (ClusterId c = 0; c < clusters->clusters(); ++c) lists += clusters->locator().list(c).bytes;
  size.list_bytes = static_cast<double>(lists) / clusters->clusters();
  return size;
}

/// Returns the bytes of the largest cache, or what a server usually has when the machine does not
/// say.
std::uint64_t cache_bytes() {
  constexpr std::uint64_t kUsual = std::uint64_t{32} << 20;
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : kUsual;
}

class MemoryTrial final : public Trial {
 public:
  MemoryTrial(const std::filesystem::path& directory, const VectorView& queries,
              const TrialOptions& options)
      : directory_(directory),
        queries_(queries),
        options_(options),
        open_(std::make_unique<OpenIndex>(directory, *unlimited(options.device.model))) {
    shape_.slots = kTrialSlots;
    shape_.list = kMostList;
    shape_.merge_gap_bytes = traits_of(options.device).bytes_per_request;
    if (const auto* clusters = open_->index().clusters()) shape_.probe = clusters->clusters();
  }

  TrialResult count(const dataset::GroundTruth& truth) override {
    TrialResult result;
    result.rows = open_->manifest().count;
    result.size = index_size(*open_);
    const Cores cores = cores_of(*open_);
    const auto most =
        is_graph() ? std::min<std::uint32_t>(kMostList, static_cast<std::uint32_t>(result.rows))
                   : shape_.probe;
    const auto search = [&](std::uint32_t number) {
      dataset::GroundTruth found;
      const auto totals = search::run_batch(cores, queries_, parameters(number), found).totals;
      const dataset::ResultRows rows{found.ids.data(), found.distances.data(), queries_.count,
                                     found.k};
      return Searched{dataset::recall_at_k(rows, truth, options_.k),
                      per_query(totals, queries_.count)};
    };
    result.reached = reach(search, least(), most, options_.recall);
    return result;
  }

  void time(TrialResult& result) override {
    FARVEC_CHECK(result.reached.has_value());
    const auto number = static_cast<std::uint32_t>(std::ceil(result.reached->parameter));
    const VectorView queries = timing_queries(result.reached->counts);
    const bool first = result.at_target.passes_ns.empty();
    time(number, queries, result.at_target);
    time(std::max((number + 1) / 2, least()), queries, result.at_half);
    if (first) result.cache_ns = std::max(cache_ns(number, queries), 0.0);
  }

  std::size_t search_bytes(std::uint32_t number, std::uint32_t cores,
                           std::uint32_t slots) const override {
    const AdviceDevice& device = options_.device;
    search::SearchShape shape;
    shape.cores = cores;
    shape.slots = slots;
    shape.k = options_.k;
    shape.list = shape.probe = number;
    shape.width = options_.width;
    if (device.file != nullptr) {
      const auto plan = search::plan_disk_memory(open_->index(), *device.file, shape);
      return plan.total() - plan.codes - plan.location;
    }
    return device.model.reached_by_loads() ? 0 : search::lane_bytes(open_->index(), shape);
  }

 private:
  using Cores = std::vector<std::unique_ptr<search::SearchCore>>;

  bool is_graph() const { return open_->index().graph() != nullptr; }
  std::uint32_t least() const { return is_graph() ? std::max(options_.k, options_.width) : 1; }

  Cores cores_of(const OpenIndex& index) const { return index.make_cores(shape_); }

  search::BatchParameters parameters(std::uint32_t number) const {
    search::SearchChoice choice = search::ProbeChoice{.clusters = number};
    if (is_graph()) {
      choice = search::GraphChoice{.list = number, .width = std::min(options_.width, number)};
    }
    return {.search = search::searchable(search::SearchParameters::make(
                options_.k, choice, search::limits_of(open_->manifest())))};
  }

  /// Returns the queries for timing: enough of them to read a few times what the cache holds, or a
  /// few times all of an index that it holds.
  VectorView timing_queries(const Counts& counts) const {
    constexpr double kCaches = 4;
    const double code_bytes = static_cast<double>(open_->index().dram_bytes()) /
                              static_cast<double>(open_->manifest().count);
    const double bytes = counts[kBytes] + counts[kEstimates] * code_bytes;
    const auto held = static_cast<double>(std::min(cache_bytes(), open_->bytes()));
    const double wanted = kCaches * held / std::max(bytes, 1.0);
    VectorView queries = options_.timing;
    queries.count = static_cast<std::size_t>(
        std::clamp(wanted, static_cast<double>(std::min(queries_.count, queries.count)),
                   static_cast<double>(queries.count)));
    return queries;
  }

  /// Times searches with all slots busy.
  void time(std::uint32_t number, const VectorView& queries, Timed& timed) const {
    const Cores cores = cores_of(*open_);
    search::BatchParameters searches = parameters(number);
    dataset::GroundTruth results;
    for (std::uint32_t pass = 0; pass <= options_.passes; ++pass) {
      const search::BatchOutcome outcome = search::run_batch(cores, queries, searches, results);
      if (pass > 0) add_pass(timed, outcome, queries.count, searches.repeats);
      const double seconds = outcome.processor_seconds / searches.repeats;
      searches.repeats =
          static_cast<std::uint32_t>(std::clamp(kPassSeconds / seconds + 1, 1.0, 100.0));
    }
  }

  /// Returns how much longer a query takes when there are as many vectors as in the whole index.
  double cache_ns(std::uint32_t number, const VectorView& queries) {
    const std::uint64_t rows = open_->manifest().count;
    const std::uint64_t wanted = (options_.whole_rows + rows - 1) / rows;
    const std::uint64_t affordable = TrialOptions::kMostCopiedBytes / open_->bytes() + 1;
    const std::uint64_t copies = std::min(wanted, affordable);
    if (copies < 2) return 0;
    std::vector<std::unique_ptr<OpenIndex>> indexes;
    std::vector<Cores> cores;
    for (std::uint64_t i = 0; i < copies; ++i) {
      indexes.push_back(std::make_unique<OpenIndex>(directory_, *unlimited(options_.device.model)));
      cores.push_back(cores_of(*indexes.back()));
    }
    std::vector<double> alone;
    std::vector<double> in_turn;
    for (std::uint32_t pass = 0; pass <= options_.passes; ++pass) {
      const double one = turns_ns({cores.data(), 1}, number, queries, pass);
      const double all = turns_ns(cores, number, queries, pass);
      if (pass == 0) continue;  // the first pass warms up
      alone.push_back(one);
      in_turn.push_back(all);
    }
    return median(in_turn) - median(alone);
  }

  /// Runs a few queries on each of the cores in turn and returns the time per query. A query meets
  /// another core in the next pass: else it would find its records in the cache again, however many
  /// copies there are.
  double turns_ns(std::span<Cores> cores, std::uint32_t number, const VectorView& queries,
                  std::size_t turn) const {
    const search::BatchParameters searches = parameters(number);
    dataset::GroundTruth results;
    double seconds = 0;
    for (std::size_t begin = 0; begin < queries.count; begin += kTurn) {
      const VectorView some = queries.part(begin, std::min(kTurn, queries.count - begin));
      seconds += search::run_batch(cores[turn++ % cores.size()], some, searches, results)
                     .processor_seconds;
    }
    return seconds * 1e9 / static_cast<double>(queries.count);
  }

  const std::filesystem::path directory_;
  const VectorView queries_;
  const TrialOptions options_;
  std::unique_ptr<OpenIndex> open_;
  search::SearchShape shape_;
};

}  // namespace

Counts per_query(const search::QueryCounts& totals, std::size_t queries) {
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

void add_pass(Timed& timed, const search::BatchOutcome& outcome, std::size_t queries,
              std::uint32_t repeats) {
  const auto searches = static_cast<double>(queries) * repeats;
  timed.counts = per_query(outcome.totals, queries);
  timed.passes_ns.push_back(outcome.processor_seconds * 1e9 / searches);
  timed.processor_seconds += outcome.processor_seconds;
  timed.wall_seconds += outcome.seconds;
}

std::unique_ptr<Trial> make_trial(const std::filesystem::path& directory, const Setting& setting,
                                  const VectorView& queries, const TrialOptions& options) {
  if (setting.is_slotted()) {
    return std::make_unique<SlottedTrial>(directory, setting.memory_percent, queries, options);
  }
  return std::make_unique<MemoryTrial>(directory, queries, options);
}

}  // namespace farvec::measure
