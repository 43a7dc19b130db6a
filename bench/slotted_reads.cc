// What a search of a slotted index reads and finds, counted over pages that are all in memory: no
// pool, no disk, so the counts are exact.
//   build/release/bin/slotted_reads --index DIR --queries query.u8bin --groundtruth gt.ibin
//     --list 20,40,80 --width 1
// Per query: records expanded (a reader that keeps single records reads one page for each), reads
// when the records of the same color come along, and distinct pages (all records come along), also
// as they would be under the placements of --against.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "bench/run_bench.h"
#include "dataset/groundtruth.h"
#include "dataset/recall.h"
#include "dataset/vector_set.h"
#include "distance/distance.h"
#include "graph/beam_search.h"
#include "layout/index/index_directory.h"
#include "layout/pages/slotted_page.h"
#include "layout/pages/slotted_record.h"
#include "ssd_baseline/slotted/packing/packing.h"
#include "ssd_baseline/slotted/search/slotted_index.h"

namespace farvec {
namespace {

constexpr std::uint32_t kK = 10;

struct Arguments {
  std::string index, queries, truth;
  std::vector<std::uint32_t> lists{20, 40, 80};
  std::uint32_t width = 1;
  std::uint32_t rerank = 0;
  std::vector<std::string> against;
  std::size_t first_query = 0;
  std::string trace;
};

/// What is read of an index once.
struct Index {
  explicit Index(const std::string& path)
      : directory(layout::IndexDirectory::open(path)),
        manifest(directory.manifest()),
        searched(slotted::load_slotted_index(directory, {.quiet = true})),
        geometry(searched.geometry()),
        map(directory.load_page_map({.quiet = true})),
        pages(directory.load_region(layout::kRecordsRegion, {.quiet = true})),
        kernel(distance::pair_kernel(manifest.metric, manifest.stored_type, manifest.dimension)) {}

  std::span<const std::byte> page(std::uint32_t number) const {
    return pages.span().subspan(geometry.page_offset(number), geometry.page_bytes);
  }
  float distance(const std::byte* query, const std::byte* vector) const {
    return kernel(query, vector, manifest.dimension);
  }

  layout::IndexDirectory directory;
  const layout::Manifest& manifest;
  const slotted::SlottedIndex searched;
  const layout::SlottedGeometry& geometry;
  layout::PageMap map;
  HugeBuffer pages;
  distance::PairKernel kernel;
};

/// The graph of an index, decoded, and what its records cost.
struct Graph {
  explicit Graph(const Index& index) : row_capacity(index.geometry.scratch_ids()) {
    const layout::SlottedGeometry& geometry = index.geometry;
    neighbors.resize(geometry.count * row_capacity);
    degrees.resize(geometry.count);
    costs = {std::vector<std::uint16_t>(geometry.count), geometry.page_capacity()};
    for (NodeId id = 0; id < geometry.count; ++id) {
      const std::uint32_t number = index.map.page_of(id);
      const auto page = layout::SlottedPage::parse(geometry, number, index.page(number));
      if (!page.ok()) throw Error("page {}: {}", number, page.status().message());
      const layout::PageSlot slot = page.value().find(id).value();
      const auto record = layout::decode_slotted_record(
          geometry, page.value().record(slot),
          std::span(neighbors).subspan(id * std::size_t{row_capacity}, row_capacity));
      degrees[id] = record.value().degree;
      costs.bytes[id] = static_cast<std::uint16_t>(slot.length + geometry.kSlotBytes);
    }
  }
  AdjacencyView view() const {
    return {neighbors.data(), degrees.data(), degrees.size(), row_capacity, 0};
  }

  std::uint32_t row_capacity;
  std::vector<NodeId> neighbors;
  std::vector<std::uint32_t> degrees;
  layout::RecordCosts costs;
};

/// Pages that queries touch when records lie as `page_of` says.
struct PageCounter {
  PageCounter(std::string name_, std::vector<std::uint32_t> page_of_, std::size_t pages_)
      : name(std::move(name_)), page_of(std::move(page_of_)), seen(pages_) {}

  void touch(NodeId id, std::uint32_t query) {
    std::uint32_t& last = seen[page_of[id]];
    touched += last != query ? 1 : 0;
    last = query;
  }

  std::string name;
  std::vector<std::uint32_t> page_of;
  std::vector<std::uint32_t> seen;
  std::uint64_t touched = 0;
};

std::vector<PageCounter> page_counters(const Index& index,
                                       const std::vector<std::string>& against) {
  std::vector<PageCounter> counters;
  const auto own = index.map.entries();
  counters.emplace_back(index.manifest.slotted().placement,
                        std::vector<std::uint32_t>(own.begin(), own.end()), index.geometry.pages);
  if (against.empty()) return counters;
  const Graph graph(index);
  const graph::AffineSets none;
  for (const std::string& name : against) {
    const layout::PagePlan plan = slotted::pack_records(slotted::parse_packing_kind(name),
                                                        {graph.view(), graph.costs, none, 1, 0});
    fmt::print("placement {}: {} pages, overlap OR(G) {:.4f}\n", name, plan.pages(),
               page_overlap(plan, graph.view()));
    counters.emplace_back(name, pages_of(plan, graph.costs), plan.pages());
  }
  return counters;
}

/// Counts what a reader without a pool would read within one query.
class CountingSource {
 public:
  CountingSource(const Index& index, std::vector<PageCounter>& counters)
      : index_(index),
        counters_(counters),
        record_seen_(index.geometry.count),
        scratch_(index.geometry.scratch_ids()) {}

  void begin_query(std::uint32_t query) { query_ = query; }
  void expect(NodeId) const {}

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    for (const NodeId id : frontier) {
      trace.push_back(query_);
      trace.push_back(id);
      const std::uint32_t number = index_.map.page_of(id);
      const auto page = layout::SlottedPage::parse(index_.geometry, number, index_.page(number));
      if (!page.ok()) return page.status();
      const auto slot = page.value().find(id);
      if (!slot.ok()) return slot.status();
      count(page.value(), slot.value());
      const auto record = layout::decode_slotted_record(
          index_.geometry, page.value().record(slot.value()), scratch_);
      if (!record.ok()) return record.status();
      visit(id, record.value());
    }
    return {};
  }

  std::uint64_t records = 0, colored_reads = 0;
  std::vector<std::uint32_t>
      trace;  ///< the number of a search and a record that it expands, in pairs

 private:
  void count(const layout::SlottedPage& page, const layout::PageSlot& slot) {
    ++records;
    for (PageCounter& counter : counters_) counter.touch(slot.id, query_);
    if (record_seen_[slot.id] == query_) return;
    ++colored_reads;
    record_seen_[slot.id] = query_;
    for (std::uint32_t i = 0; slot.color != 0 && i < page.count(); ++i) {
      const layout::PageSlot other = page.slot(i);
      if (other.color == slot.color) record_seen_[other.id] = query_;
    }
  }

  const Index& index_;
  std::vector<PageCounter>& counters_;
  std::vector<std::uint32_t> record_seen_;
  std::vector<NodeId> scratch_;
  std::uint32_t query_ = 0;
};

/// The results with their true distances.
std::vector<graph::Neighbor> true_distances(const Index& index, const dataset::VectorSet& base,
                                            const std::byte* query,
                                            const graph::CandidateList& results) {
  std::vector<graph::Neighbor> found;
  for (std::uint32_t i = 0; i < results.size(); ++i) {
    const NodeId id = results[i].id;
    found.push_back({id, index.distance(query, base.view().row(id))});
  }
  return found;
}

/// Hits among the k nearest of `found`, which is ranked by distance first when `rerank`.
std::uint32_t hits(std::vector<graph::Neighbor> found, const dataset::GroundTruth& truth,
                   std::size_t query, bool rerank) {
  if (rerank) {
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.distance < b.distance; });
  }
  std::vector<NodeId> ids(kK, kInvalidNode);
  std::vector<float> distances(kK);
  for (std::size_t i = 0; i < std::min<std::size_t>(kK, found.size()); ++i) {
    ids[i] = found[i].id;
    distances[i] = found[i].distance;
  }
  return dataset::hits_at_k({ids.data(), distances.data(), 1, kK}, 0, truth, query, kK);
}

/// An .ibin file of two columns.
void write_trace(const std::string& path, const std::vector<std::uint32_t>& trace) {
  const std::array<std::uint32_t, 2> head{static_cast<std::uint32_t>(trace.size() / 2), 2};
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(head.data()), sizeof head);
  out.write(reinterpret_cast<const char*>(trace.data()),
            static_cast<std::streamsize>(trace.size() * sizeof trace[0]));
  out.close();
  if (!out) throw Error("{}: cannot be written", path);
}

void run(const Arguments& arguments, const std::string& base_path) {
  if (!arguments.trace.empty() && arguments.lists.size() != 1) {
    throw Error("--trace is of one --list");
  }
  const Index index(arguments.index);
  const dataset::VectorSet base = dataset::load(base_path, {});
  const dataset::VectorSet queries = dataset::load(arguments.queries, {});
  const dataset::GroundTruth truth = dataset::read_groundtruth(arguments.truth);
  fmt::print("placement {}: {} pages\n", index.manifest.slotted().placement, index.geometry.pages);
  std::vector<PageCounter> counters = page_counters(index, arguments.against);
  fmt::print("{:>6} {:>8} {:>10} {:>10} {:>12}", "list", "recall", "re-ranked", "records",
             "with colors");
  for (const PageCounter& counter : counters) fmt::print(" {:>14}", "pages " + counter.name);
  fmt::print("\n");
  std::uint32_t stamp = 0;
  for (const std::uint32_t list : arguments.lists) {
    CountingSource source(index, counters);
    for (PageCounter& counter : counters) counter.touched = 0;
    slotted::PreparedQuery prepared;
    const slotted::SlottedScorer scorer{index.searched, prepared};
    graph::BeamScratch scratch;
    const std::uint32_t kept = std::min(list, std::max(kK, arguments.rerank));
    const graph::BeamParameters parameters{kept, list, arguments.width, index.geometry.max_degree,
                                           static_cast<std::uint32_t>(index.geometry.count)};
    double plain = 0, reranked = 0;
    for (std::size_t q = arguments.first_query; q < queries.count(); ++q) {
      source.begin_query(++stamp);
      const std::byte* const query = queries.view().row(q);
      index.searched.prepare(query, prepared);
      const auto start = slotted::find_start(index.searched, prepared, scratch);
      const Status status = graph::beam_search(source, scorer, start.view(), parameters, scratch);
      if (!status.ok()) throw Error("query {}: {}", q, status.message());
      const auto found = true_distances(index, base, query, scratch.results);
      plain += hits(found, truth, q, false);
      reranked += hits(found, truth, q, true);
    }
    const auto count = static_cast<double>(queries.count() - arguments.first_query);
    fmt::print("{:>6} {:>8.4f} {:>10.4f} {:>10.2f} {:>12.2f}", list, plain / count / kK,
               reranked / count / kK, static_cast<double>(source.records) / count,
               static_cast<double>(source.colored_reads) / count);
    for (const PageCounter& counter : counters) {
      fmt::print(" {:>14.2f}", static_cast<double>(counter.touched) / count);
    }
    fmt::print("\n");
    if (!arguments.trace.empty()) write_trace(arguments.trace, source.trace);
  }
}

}  // namespace
}  // namespace farvec

int main(int argc, char** argv) {
  farvec::Arguments arguments;
  std::string base;
  farvec::CommandLine app("Counts what searches of a slotted index read");
  app.add_option("--index", arguments.index, "Slotted index").required();
  app.add_option("--data", base, "What it was built from: recall is by true distance").required();
  app.add_option("--queries", arguments.queries).required();
  app.add_option("--groundtruth", arguments.truth).required();
  app.add_option("--first-query", arguments.first_query, "Leave out the queries before");
  app.add_option("--list", arguments.lists).comma_separated();
  app.add_option("--width", arguments.width);
  app.add_option("--against", arguments.against, "Other placements: bnf,id").comma_separated();
  app.add_option(
      "--trace", arguments.trace,
      "File (.ibin) for a row of two numbers, the search and the record, for each that is "
      "expanded, in order; with one --list");
  app.add_option("--rerank", arguments.rerank, "Results that the last column ranks again");
  return farvec::run_bench(app, argc, argv, [&] { farvec::run(arguments, base); });
}
