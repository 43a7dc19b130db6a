#include "measure/sweep/pages/hnsw_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "base/error.h"
#include "base/stored_form.h"
#include "base/version.h"
#include "dataset/recall.h"
#include "layout/index/manifest.h"
#include "measure/report/json_text.h"
#include "measure/report/machine.h"
#include "measure/report/row_range.h"
#include "measure/report/statistics.h"
#include "measure/report/table.h"
#include "measure/sweep/pages/hnsw_report.h"
#include "measure/sweep/pages/page_access.h"
#include "search/core/batch_search.h"

namespace farvec::measure {
namespace {

using Json = nlohmann::ordered_json;
using paged::HnswDescription;

/// How long one search may take.
constexpr double kSearchMs = 60e3;

constexpr std::array<Column, 12> kHnswColumns{{{"search", 9},
                                               {"buffer", 8},
                                               {"list", 5},
                                               {"slots", 5},
                                               {"threads", 7},
                                               {"recall", 7},
                                               {"qps", 8},
                                               {"spread", 13},
                                               {"p50 us", 9},
                                               {"p99 us", 9},
                                               {"reads", 7},
                                               {"hits %", 7}}};

struct HnswPoint {
  std::string search;
  std::string buffer;
  std::uint32_t list = 0;
  std::uint32_t slots = 0;
  std::uint32_t threads = 0;
};

/// What the passes of one point found.
struct HnswSamples {
  std::vector<double> qps;
  std::vector<double> p50_us;
  std::vector<double> p99_us;
  double recall = 0;
  /// What the first pass counted.
  paged::HnswCounts counts;
  std::uint64_t page_reads = 0;
  std::uint64_t buffer_bytes = 0;
};

class Measurement {
 public:
  Measurement(const HnswSweep& sweep, SweepFile& file)
      : sweep_(sweep),
        file_(file),
        description_(open_hnsw(sweep.index, {.quiet = sweep.manner.quiet})->describe()),
        truth_(sweep.questions.load_truth()),
        queries_(load_rows(sweep.questions, description_.config)),
        range_(parse_range(sweep.range, queries_.count(), "--queries-range")) {
    check_truth(sweep.questions, truth_, range_.end, sweep.k);
  }

  void run() {
    if (sweep_.manner.table) print_header(kHnswColumns);
    for (const std::string& buffer : sweep_.buffers) {
      for (const std::uint32_t threads : sweep_.threads) {
        for (const std::uint32_t slots : sweep_.slots) {
          for (const std::uint32_t list : sweep_.lists)
            run_group({"", buffer, list, slots, threads});
        }
      }
    }
  }

 private:
  static dataset::VectorSet load_rows(const SweepQuestions& questions,
                                      const paged::HnswConfig& config) {
    return stored_for(config, questions.load_rows(config.metric), questions.queries);
  }

  bool interrupted() const { return asked_to_end(sweep_.manner.interrupted); }

  /// Measures all ways of reading, in turn.
  void run_group(HnswPoint point) {
    std::vector<HnswPoint> points;
    for (const std::string& search : sweep_.searches) {
      point.search = search;
      if (!file_.has(parameters(point))) points.push_back(point);
    }
    std::vector<HnswSamples> samples(points.size());
    for (std::uint32_t pass = 0; pass < sweep_.passes; ++pass) {
      for (std::size_t i = 0; i < points.size(); ++i) {
        measure(points[i], samples[i]);
        if (interrupted()) throw WorkInterrupted();
      }
    }
    for (std::size_t i = 0; i < points.size(); ++i) report(points[i], samples[i]);
  }

  void measure(const HnswPoint& point, HnswSamples& samples) {
    PageAccess access;
    access.buffer = point.buffer;
    access.changes = false;
    access.quiet = sweep_.manner.quiet;
    access.search = point.search;
    access.min_complete = sweep_.min_complete;
    access.slots = point.slots;
    access.threads = point.threads;
    const auto hnsw = open_hnsw(sweep_.index, access);
    const auto counts = std::make_shared<paged::SearchCounts>();
    const auto cores = make_cores(*hnsw, access, counts);
    warm(cores, point);
    (void)counts->take();
    const std::uint64_t reads = hnsw->store().counts().page_reads;
    dataset::GroundTruth found;
    search::BatchOutcome outcome =
        search::run_batch(cores, rows_in(queries_.view(), range_), batch(point), found);
    if (interrupted()) return;
    samples.qps.push_back(static_cast<double>(outcome.latency_us.size()) / outcome.seconds);
    samples.p50_us.push_back(percentile(outcome.latency_us, 0.5));
    samples.p99_us.push_back(percentile(outcome.latency_us, 0.99));
    if (samples.qps.size() > 1) return;
    samples.counts = counts->take();
    samples.page_reads = hnsw->store().counts().page_reads - reads;
    samples.buffer_bytes = hnsw->store().frames() * hnsw->store().page_bytes();
    samples.recall = recall(found);
  }

  search::BatchParameters batch(const HnswPoint& point) const {
    const search::GraphChoice choice{.list = std::max(sweep_.k, point.list)};
    return {.search = search::searchable(search::SearchParameters::make(sweep_.k, choice)),
            .deadline_ms = kSearchMs,
            .stop = sweep_.manner.interrupted};
  }

  /// Searches the queries that are not measured, so that the buffer holds what searches left.
  void warm(std::span<const std::unique_ptr<search::SearchCore>> cores, const HnswPoint& point) {
    for (const RowRange& other :
         {RowRange{0, range_.begin}, RowRange{range_.end, queries_.count()}}) {
      if (other.begin >= other.end) continue;
      dataset::GroundTruth found;
      search::run_batch(cores, rows_in(queries_.view(), other), batch(point), found);
    }
  }

  double recall(const dataset::GroundTruth& found) const {
    const bool exact = !stores_unit_vectors(description_.config.metric);
    return dataset::recall_at_k(
        {found.ids.data(), exact ? found.distances.data() : nullptr, found.queries, sweep_.k},
        truth_, sweep_.k, range_.begin);
  }

  Json parameters(const HnswPoint& point) const {
    Json json{{"index", sweep_.index}};
    json.update(hnsw_json(description_));
    json.update({{"tier", "ssd"},
                 {"search", point.search},
                 {"min_complete", sweep_.min_complete},
                 {"buffer", point.buffer},
                 {"list", point.list},
                 {"slots", point.slots},
                 {"threads", point.threads},
                 {"k", sweep_.k},
                 {"queries_file", sweep_.questions.queries},
                 {"queries_xxh3", layout::fingerprint(queries_.view())},
                 {"first_query", range_.begin},
                 {"queries", range_.end - range_.begin},
                 {"passes", sweep_.passes}});
    return json;
  }

  void report(const HnswPoint& point, const HnswSamples& samples) {
    const Summary qps(samples.qps);
    const auto queries = static_cast<double>(range_.end - range_.begin);
    const auto per_query = [&](std::uint64_t total) {
      return static_cast<double>(total) / queries;
    };
    const paged::FetchCounts pages = pages_of(samples.counts);
    if (sweep_.manner.table) {
      print_row(kHnswColumns,
                {point.search, point.buffer, fmt::to_string(point.list),
                 fmt::to_string(point.slots), fmt::to_string(point.threads),
                 fmt::format("{:.4f}", samples.recall), fmt::format("{:.0f}", qps.median),
                 qps.spread(), fmt::format("{:.1f}", median(samples.p50_us)),
                 fmt::format("{:.1f}", median(samples.p99_us)),
                 fmt::format("{:.1f}", per_query(samples.page_reads)),
                 fmt::format("{:.1f}", 100 * hit_ratio(pages))});
    }
    Json row = parameters(point);
    row.update({{"recall", samples.recall},
                {"qps", qps.median},
                {"qps_min", qps.least},
                {"qps_max", qps.most},
                {"p50_us", median(samples.p50_us)},
                {"p99_us", median(samples.p99_us)},
                {"buffer_bytes", samples.buffer_bytes},
                {"reads_per_query", per_query(samples.page_reads)},
                {"bytes_per_query", per_query(samples.page_reads * description_.page_bytes)},
                {"pages_per_query", per_query(pages.asked)},
                {"hit_ratio", hit_ratio(pages)},
                {"miss_penalty_us", miss_penalty_us(pages)},
                {"visited_per_query", per_query(visited(samples.counts))},
                {"distances_per_query", per_query(distances(samples.counts))},
                {"layers", layers_json(samples.counts)},
                {"host", host_description()},
                {"command", command_description()},
                {"commit", commit()}});
    file_.append(json_text(row));
  }

  const HnswSweep& sweep_;
  SweepFile& file_;
  const HnswDescription description_;
  const dataset::GroundTruth truth_;
  const dataset::VectorSet queries_;
  const RowRange range_;
};

}  // namespace

std::vector<nlohmann::ordered_json> sweep_hnsw(HnswSweep sweep, const SweepFiles& files) {
  constexpr std::uint32_t kAutoSlots = 8;
  std::replace(sweep.slots.begin(), sweep.slots.end(), 0u, kAutoSlots);
  return with_files(files, [&](SweepFile& file) {
    for (const std::string& search : sweep.searches) (void)paged::parse_read_mode(search);
    Measurement(sweep, file).run();
  });
}

}  // namespace farvec::measure
