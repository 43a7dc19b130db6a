// What a collection's searches are while it changes, and what they are afterwards beside an index
// that is built from nothing of the same vectors.
//   build/release/bin/collection_changes --data base.u8bin --queries query.u8bin --metric l2
//     --folder /tmp/set --rows 1000000 --list 45 --code-bits 4 --json out.jsonl
// The rows are put in a random order. The first half is imported; four tenths are inserted while
// one thread searches as fast as it can (--paced: every so often); then a tenth is deleted and a
// tenth is replaced by the rows that are left. Recall is against exact neighbours of what is live.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/random.h"
#include "bench/collection_searcher.h"
#include "bench/run_bench.h"
#include "collection/search/collection_part.h"
#include "collection/write/collection.h"
#include "collection/write/facts.h"
#include "dataset/recall.h"
#include "dataset/vector_set.h"
#include "indexing/source.h"
#include "measure/report/machine.h"
#include "measure/report/measurement.h"
#include "measure/report/statistics.h"
#include "measure/report/table.h"
#include "measure/runbook/collection_write.h"
#include "measure/runbook/step_truth.h"
#include "search/core/batch_search.h"

namespace farvec {
namespace {

using changes::Receipt;
using collection::Collection;
using Json = nlohmann::ordered_json;

constexpr double kPatienceUs = 3600e6;
constexpr auto kQuiet = std::chrono::seconds(3);  ///< of searches alone, before anything changes

struct Arguments {
  std::string data, queries, metric = "l2", folder, json, tier = "dram";
  std::uint64_t rows = 1'000'000;
  std::uint32_t k = 10, list = 45, slots = 16, batch = 64, passes = 5, most_queries = 2000;
  std::string durability = "commit";
  double pace_us = 0;
  layout::CollectionOptions options;
};

/// `count` rows of the file in a random order.
dataset::VectorSet shuffled(const std::string& path, std::uint64_t count) {
  const dataset::VectorSet file = dataset::load(path);
  if (count > file.count()) throw Error("'{}' has {} rows", path, file.count());
  std::vector<std::uint32_t> order(file.count());
  std::iota(order.begin(), order.end(), 0u);
  Random random(1);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  dataset::VectorSet rows(count, file.dimension(), file.type());
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(rows.mutable_row(i), file.view().row(order[i]), rows.view().row_bytes());
  }
  return rows;
}

class Study {
 public:
  explicit Study(const Arguments& arguments)
      : arguments_(arguments),
        lines_(arguments.json),
        rows_(shuffled(arguments.data, arguments.rows)),
        queries_(dataset::load(arguments.queries, {.max_rows = arguments.most_queries})),
        metric_(parse_metric(arguments.metric)),
        stored_queries_(indexing::stored_copy(queries_.view(), metric_, 1)),
        live_(arguments.rows) {}

  void run() {
    const auto n = static_cast<NodeId>(arguments_.rows);
    const std::string folder = arguments_.folder + "/set";
    auto set = open(folder);
    import(*set, 0, n / 2);
    tell("half imported", measure(*set));
    tell("searched while four tenths are inserted",
         insert_beside_searches(*set, n / 2, n / 10 * 9));
    set->settle();
    tell("all inserted and settled", measure(*set));
    erase(*set, 0, n / 20);
    erase(*set, n / 2, n / 2 + n / 25);
    replace(*set, n / 10 * 9, n / 10 * 9 + n / 20, n / 10);
    replace(*set, n / 10 * 9 + n / 20, n, n / 10 * 6);
    tell("a tenth deleted and a tenth replaced", measure(*set));
    tell("searched while all is merged into one", compact_beside_searches(*set));
    const Json merged = measure(*set);
    tell("merged into one", merged);
    tell("built from nothing", rebuilt());
    lines_.write();
  }

 private:
  std::unique_ptr<Collection> open(const std::string& folder) const {
    layout::CollectionManifest shape;
    shape.metric = metric_;
    shape.source_type = rows_.type();
    shape.dimension = rows_.dimension();
    shape.options = arguments_.options;
    Collection::create(folder, shape);
    collection::CollectionAccess access =
        measure::write_access({.durability = arguments_.durability, .build_threads = 1});
    access.segments = collection::SegmentAccess::on(arguments_.tier);
    access.segments.shape.slots = arguments_.slots;
    access.segments.shape.list = arguments_.list;
    access.link = true;
    return std::make_unique<Collection>(folder, access);
  }

  VectorView part(NodeId begin, NodeId end) const { return rows_.view().part(begin, end - begin); }
  static std::vector<std::uint64_t> numbered(NodeId begin, std::size_t count) {
    std::vector<std::uint64_t> ids(count);
    std::iota(ids.begin(), ids.end(), std::uint64_t{begin});
    return ids;
  }

  void import(Collection& set, NodeId begin, NodeId end) {
    (void)set.import({part(begin, end), numbered(begin, end - begin)});
    live_.apply({++step_, measure::StepKind::insert, begin, end, begin});
  }
  void erase(Collection& set, NodeId begin, NodeId end) {
    Receipt receipt;
    set.erase(numbered(begin, end - begin), patience(), receipt);
    live_.apply({++step_, measure::StepKind::erase, begin, end, begin});
  }
  /// Ids from first_id on get the rows.
  void replace(Collection& set, NodeId begin, NodeId end, NodeId first_id) {
    Receipt receipt;
    set.insert({part(begin, end), numbered(first_id, end - begin)}, patience(), receipt);
    live_.apply({++step_, measure::StepKind::replace, begin, end, first_id});
  }
  static changes::Patience patience() { return {.until = now_ticks() + us_to_ticks(kPatienceUs)}; }

  /// Recall, rate and latencies of searches alone.
  Json measure(const Collection& set) {
    std::vector<std::unique_ptr<search::SearchCore>> cores;
    cores.push_back(
        collection::make_collection_core([&set] { return set.view(); }, arguments_.slots));
    const search::BatchParameters batch{
        .search = search::searchable(search::SearchParameters::make(
            arguments_.k, search::GraphChoice{.list = arguments_.list}))};
    std::vector<double> rates;
    dataset::GroundTruth found;
    search::BatchOutcome outcome;
    for (std::uint32_t pass = 0; pass < arguments_.passes; ++pass) {
      outcome = search::run_batch(cores, stored_queries_.view(), batch, found);
      rates.push_back(static_cast<double>(queries_.count()) / outcome.seconds);
    }
    const measure::TruthInput input{.data = rows_.view(),
                                    .queries = queries_.view(),
                                    .metric = metric_,
                                    .k = arguments_.k,
                                    .folder = {},
                                    .quiet = true};
    const auto truth =
        measure::truth_of_step(input, {step_, measure::StepKind::search, 0, 0, 0}, live_);
    const measure::Summary spread(rates);
    const auto queries = static_cast<double>(queries_.count());
    return {{"recall", dataset::recall_at_k({found.ids.data(), nullptr, found.queries, found.k},
                                            truth, arguments_.k)},
            {"qps", spread.median},
            {"qps_least", spread.least},
            {"qps_most", spread.most},
            {"p50_us", measure::percentile(outcome.latency_us, 0.5)},
            {"p99_us", measure::percentile(outcome.latency_us, 0.99)},
            {"reads", static_cast<double>(outcome.totals.reads) / queries},
            {"bytes", static_cast<double>(outcome.totals.bytes) / queries},
            {"set", set.now()}};
  }

  /// What `change` does, and what the searches beside it do before and meanwhile.
  Json beside_searches(const Collection& set, const std::function<Json()>& change) {
    const SearcherOptions options{arguments_.k, arguments_.list, arguments_.slots,
                                  arguments_.pace_us, kPatienceUs};
    Searcher searcher(options, set, stored_queries_.view());
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const Ticks begin = now_ticks();
    std::this_thread::sleep_for(kQuiet);
    const Ticks changed = now_ticks();
    Json json = change();
    const Ticks end = now_ticks();
    const auto samples = searcher.stop();
    json["searches_before"] = summary(samples, begin, changed);
    json["searches_meanwhile"] = summary(samples, changed, end);
    return json;
  }

  Json insert_beside_searches(Collection& set, NodeId begin, NodeId end) {
    Json json = beside_searches(set, [&]() -> Json {
      std::vector<float> waits;
      for (NodeId next = begin; next < end; next += arguments_.batch) {
        const NodeId behind = std::min(end, next + arguments_.batch);
        const Ticks start = now_ticks();
        Receipt receipt;
        set.insert({part(next, behind), numbered(next, behind - next)}, patience(), receipt);
        waits.push_back(static_cast<float>(ticks_to_us(now_ticks() - start)));
      }
      const double us = std::accumulate(waits.begin(), waits.end(), 0.0);
      return {{"inserted", end - begin},
              {"batch", arguments_.batch},
              {"inserts_per_s", (end - begin) / (us / 1e6)},
              {"batch_p50_us", measure::percentile(waits, 0.5)},
              {"batch_p99_us", measure::percentile(waits, 0.99)}};
    });
    live_.apply({++step_, measure::StepKind::insert, begin, end, begin});
    return json;
  }

  Json compact_beside_searches(Collection& set) {
    return beside_searches(set, [&]() -> Json {
      const Ticks start = now_ticks();
      set.compact();
      return {{"compact_s", ticks_to_us(now_ticks() - start) / 1e6}};
    });
  }

  /// The live vectors as one segment that was built from nothing.
  Json rebuilt() {
    dataset::VectorSet rows(live_.count(), rows_.dimension(), rows_.type());
    std::vector<std::uint64_t> ids;
    for (const NodeId id : live_.ids()) {
      std::memcpy(rows.mutable_row(ids.size()), rows_.view().row(live_.row_of(id)),
                  rows.view().row_bytes());
      ids.push_back(id);
    }
    auto set = open(arguments_.folder + "/rebuilt");
    const Ticks start = now_ticks();
    (void)set->import({rows.view(), ids});
    const double seconds = ticks_to_us(now_ticks() - start) / 1e6;
    Json json = measure(*set);
    json["build_s"] = seconds;
    return json;
  }

  void tell(const char* what, const Json& facts) {
    Json line{{"what", what}, {"tier", arguments_.tier}, {"list", arguments_.list}};
    line.update(facts);
    line["host"] = measure::host_description();
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
    lines_.append(line.dump());
  }

  const Arguments& arguments_;
  measure::JsonLines lines_;
  const dataset::VectorSet rows_;
  const dataset::VectorSet queries_;
  const Metric metric_;
  const dataset::VectorSet stored_queries_;
  measure::LiveSet live_;
  std::uint32_t step_ = 0;
};

void add_options(Command& app, Arguments& a) {
  app.add_option("--data", a.data, "Vector file").required();
  app.add_option("--queries", a.queries, "Vector file").required();
  app.add_option("--metric", a.metric, "l2, ip or cosine").show_default();
  app.add_option("--folder", a.folder, "Folder for two collections, which stay").required();
  app.add_option("--rows", a.rows, "Of the file, in a random order").show_default();
  app.add_option("--most-queries", a.most_queries, "Of their file").show_default();
  app.add_option("--k", a.k, "Neighbours wanted").show_default();
  app.add_option("--list", a.list, "L of the searches").show_default();
  app.add_option("--slots", a.slots, "Searches in flight").show_default();
  app.add_option("--batch", a.batch, "Rows of an insert").show_default();
  app.add_option("--passes", a.passes, "Times that all queries are searched").show_default();
  app.add_option("--pace-us", a.pace_us, "Between searches beside changes; 0: none").show_default();
  app.add_option("--tier", a.tier, "Of the segments").show_default();
  app.add_option("--durability", a.durability, "Of inserts").show_default();
  app.add_option("--memtable-rows", a.options.memtable_rows, "Of a memtable").show_default();
  app.add_option("--merge-fanout", a.options.merge_fanout, "Segments of a merge").show_default();
  app.add_option("--degree", a.options.degree, "R of the segments").show_default();
  app.add_option("--build-list", a.options.list, "L of the builds").show_default();
  app.add_option("--alpha", a.options.alpha, "Of the builds").show_default();
  app.add_option("--code-bits", a.options.code_bits, "Per dimension [as rows need]");
  app.add_option("--json", a.json, "File of the lines that are printed");
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::CommandLine app("A collection's searches while it changes", "collection_changes");
  farvec::Arguments arguments;
  farvec::add_options(app, arguments);
  return farvec::run_bench(app, argc, argv, [&] { farvec::Study(arguments).run(); });
}
