#include "measure/sweep/pages/hnsw_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/stored_form.h"
#include "layout/index/manifest.h"
#include "measure/sweep/pages/hnsw_report.h"
#include "measure/sweep/pages/page_access.h"
#include "measure/sweep/pass_samples.h"
#include "measure/sweep/sweep_cell.h"

namespace farvec::measure {
namespace {

/// How long one search may take.
constexpr double kSearchMs = 60e3;
/// How long searches fill the buffer before those that say how fast they are.
constexpr double kFillMs = 1000;

constexpr Column kHnswColumns[] = {{"search", 9},  {"buffer", 8}, {"list", 5},  {"slots", 5},
                                   {"threads", 7}, {"recall", 7}, {"qps", 8},   {"spread", 13},
                                   {"p50 us", 9},  {"p99 us", 9}, {"reads", 7}, {"hits %", 7}};

struct HnswPoint {
  std::size_t group = 0;  ///< the same for points that differ in their search alone
  std::string search;
  std::string buffer;
  std::uint32_t list = 0;
  std::uint32_t slots = 0;
  std::uint32_t threads = 0;
};

/// Holds what all cells of a sweep share.
struct HnswContext {
  const HnswSweep& sweep;
  const SweepQueries& queries;
  const paged::HnswDescription& description;
  double open_seconds = 0;  ///< how long it takes to open the graph
  std::uint64_t queries_xxh3 = 0;
};

/// Every pass opens the graph anew, with an empty buffer that the queries that are not measured
/// fill, and searches every query once. Recall and counts are those of the first pass.
class HnswCell final : public SweepCell {
 public:
  HnswCell(HnswPoint point, const HnswContext& context)
      : point_(std::move(point)), context_(context), queries_(context.queries) {}

  std::size_t group() const override { return point_.group; }
  std::span<const Column> columns() const override { return kHnswColumns; }
  double work() const override { return point_.list; }

  nlohmann::ordered_json parameters() const override {
    nlohmann::ordered_json row{{"index", context_.sweep.index}};
    row.update(hnsw_json(context_.description));
    row.update({{"tier", "ssd"},
                {"search", point_.search},
                {"min_complete", context_.sweep.min_complete},
                {"buffer", point_.buffer},
                {"list", point_.list},
                {"slots", point_.slots},
                {"threads", point_.threads},
                {"k", queries_.k},
                {"queries_file", context_.sweep.questions.queries},
                {"queries_xxh3", context_.queries_xxh3},
                {"first_query", queries_.range.begin},
                {"queries", queries_.rows.count},
                {"passes", queries_.passes}});
    return row;
  }

  void prepare() override {
    const std::uint32_t k = queries_.k;
    const search::GraphChoice choice{.list = std::max(k, point_.list)};
    parameters_.search = search::searchable(search::SearchParameters::make(k, choice));
    parameters_.deadline_ms = kSearchMs;
    parameters_.stop = queries_.interrupted;
  }

  void measure_pass(std::uint32_t pass) override {
    const auto hnsw = open_hnsw(context_.sweep.index, access());
    const auto counts = std::make_shared<paged::SearchCounts>();
    const auto cores = make_cores(*hnsw, access(), counts);
    queries_.warm(cores, parameters_);
    (void)counts->take();
    const std::uint64_t reads = hnsw->store().counts().page_reads;
    dataset::GroundTruth found;
    samples_.add_pass(search::run_batch(cores, queries_.rows, parameters_, found));
    if (pass > 0 || asked_to_end(queries_.interrupted)) return;
    counts_ = counts->take();
    page_reads_ = hnsw->store().counts().page_reads - reads;
    buffer_bytes_ = hnsw->store().frames() * hnsw->store().page_bytes();
    samples_.recall =
        queries_.recall(found, !stores_unit_vectors(context_.description.config.metric));
  }

  std::string pace() const override {
    return fmt::format("{} {} {}", point_.search, point_.buffer, point_.slots * point_.threads);
  }

  double probe_seconds() override {
    prepare();
    const auto hnsw = open_hnsw(context_.sweep.index, access());
    const auto cores = make_cores(*hnsw, access());
    search::BatchParameters filling = parameters_;
    filling.limit_ms = kFillMs;
    queries_.warm(cores, filling);
    return queries_.probe_seconds(cores, parameters_);
  }

  double seconds(double search_seconds) const override {
    const auto searches = static_cast<double>(queries_.all.count());
    return queries_.passes * (context_.open_seconds + searches * search_seconds);
  }

  std::vector<std::string> table_cells() const override {
    std::vector<std::string> cells{point_.search, point_.buffer, fmt::to_string(point_.list),
                                   fmt::to_string(point_.slots), fmt::to_string(point_.threads)};
    if (failed()) return cells;
    for (std::string& cell : samples_.cells()) cells.push_back(std::move(cell));
    cells.push_back(one_decimal(per_query(page_reads_)));
    cells.push_back(one_decimal(100 * hit_ratio(pages_of(counts_))));
    return cells;
  }

  void add_facts(nlohmann::ordered_json& row) const override {
    if (failed()) return;
    const paged::FetchCounts pages = pages_of(counts_);
    samples_.add_to(row);
    row.update({{"buffer_bytes", buffer_bytes_},
                {"reads_per_query", per_query(page_reads_)},
                {"bytes_per_query", per_query(page_reads_ * context_.description.page_bytes)},
                {"pages_per_query", per_query(pages.asked)},
                {"hit_ratio", hit_ratio(pages)},
                {"miss_penalty_us", miss_penalty_us(pages)},
                {"visited_per_query", per_query(visited(counts_))},
                {"distances_per_query", per_query(distances(counts_))},
                {"layers", layers_json(counts_)}});
  }

 private:
  PageAccess access() const {
    return {.buffer = point_.buffer,
            .search = point_.search,
            .min_complete = context_.sweep.min_complete,
            .slots = point_.slots,
            .threads = point_.threads,
            .changes = false,
            .quiet = context_.sweep.manner.quiet};
  }

  double per_query(std::uint64_t total) const {
    return static_cast<double>(total) / static_cast<double>(queries_.rows.count);
  }

  const HnswPoint point_;
  const HnswContext& context_;
  const SweepQueries& queries_;
  search::BatchParameters parameters_;
  PassSamples samples_;
  // What the first pass counted:
  paged::HnswCounts counts_;
  std::uint64_t page_reads_ = 0;
  std::uint64_t buffer_bytes_ = 0;
};

/// Throws Error for words that no graph understands: no combination with them is one.
void check_words(const HnswSweep& sweep) {
  for (const std::string& search : sweep.searches) (void)paged::parse_read_mode(search);
  for (const std::string& buffer : sweep.buffers) {
    (void)paged::buffer_bytes(buffer, 0, {.least = 0}, "--buffer");
  }
}

/// Returns what the graph is, and the seconds that it takes to open it.
std::pair<paged::HnswDescription, double> look_at(const HnswSweep& sweep) {
  const auto start = std::chrono::steady_clock::now();
  const auto hnsw = open_hnsw(sweep.index, {.changes = false, .quiet = sweep.manner.quiet});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {hnsw->describe(), took.count()};
}

/// Lists every combination. The ways of reading are measured in turn.
std::vector<std::unique_ptr<SweepCell>> cells_of(const HnswContext& context) {
  const HnswSweep& sweep = context.sweep;
  std::vector<std::unique_ptr<SweepCell>> cells;
  std::size_t group = 0;
  for (const std::string& buffer : sweep.buffers) {
    for (const std::uint32_t threads : sweep.threads) {
      for (const std::uint32_t slots : sweep.slots) {
        for (const std::uint32_t list : sweep.lists) {
          for (const std::string& search : sweep.searches) {
            cells.push_back(std::make_unique<HnswCell>(
                HnswPoint{group, search, buffer, list, slots, threads}, context));
          }
          ++group;
        }
      }
    }
  }
  return cells;
}

}  // namespace

std::vector<nlohmann::ordered_json> sweep_hnsw(HnswSweep sweep, const SweepFiles& files) {
  constexpr std::uint32_t kAutoSlots = 8;
  std::replace(sweep.slots.begin(), sweep.slots.end(), 0u, kAutoSlots);
  return with_files(files, [&](SweepFile& file) {
    check_words(sweep);
    const auto [description, open_seconds] = look_at(sweep);
    const SweepQuestions& asked = sweep.questions;
    const paged::HnswConfig& config = description.config;
    SweepQueries queries(asked, stored_for(config, asked.load_rows(config.metric), asked.queries),
                         sweep.range, sweep.k);
    queries.passes = sweep.passes;
    queries.interrupted = sweep.manner.interrupted;
    const HnswContext context{sweep, queries, description, open_seconds,
                              layout::fingerprint(queries.all.view())};
    SweepRun(cells_of(context), queries, file, sweep.manner).run();
  });
}

}  // namespace farvec::measure
