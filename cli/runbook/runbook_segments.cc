#include "cli/runbook/runbook_segments.h"

#include <span>
#include <utility>
#include <vector>

#include "base/option_rules.h"
#include "cli/collection/collection_options.h"
#include "graph/usual_degree.h"
#include "tiers/tier_spec.h"

namespace farvec::cli {
namespace {

/// The word for segments that are graphs in slotted pages.
constexpr const char* kPages = "slotted";

// What says how segments are made and searched, by the kind that takes it.
constexpr const char* kEverySegment[] = {"--memtable-rows", "--merge-fanout", "--segments",
                                         "--tier", "--store"};
constexpr const char* kGraphSegments[] = {"--degree", "--build-list", "--alpha", "--code-bits"};
constexpr const char* kPageSegments[] = {"--memory-budget"};
constexpr const char* kReducedSegments[] = {"--by", "--bits-metric", "--second-copy",
                                            "--second-tier", "--refine"};

void add_reduced_options(Command& command, RunbookSegments& segments) {
  add_reduction_option(command, segments.reduction);
  RunbookCollectionOptions& a = segments.options;
  command.add_option("--second-tier", a.second_tier,
                     "With --store: where the second copies are read from [--tier]");
  command
      .add_option(
          "--refine", a.refine,
          "With --store: a search ranks R times k candidates of each segment again [all of\n"
          "its list]")
      .positive();
}

}  // namespace

void add_segment_options(Command& command, RunbookSegments& segments) {
  RunbookCollectionOptions& a = segments.options;
  layout::CollectionOptions& options = a.shape.options;
  command
      .add_option("--segments", segments.kind,
                  "collection: what they are, graph, slotted (a graph in pages) or cluster")
      .one_of({"graph", kPages, "cluster"})
      .show_default();
  command.add_option("--probe", a.probe, "collection of clusters: how many a search probes")
      .positive()
      .show_default();
  add_cluster_segment_options(command, options.clusters, "collection of clusters: ");
  command
      .add_option("--memtable-rows", options.memtable_rows,
                  "collection: rows that are searched in memory before they become a segment")
      .range(1u, layout::CollectionOptions::kMostMemtableRows)
      .show_default();
  command
      .add_option("--merge-fanout", options.merge_fanout,
                  "collection: segments of one size that are merged into one")
      .range(2u, 64u)
      .show_default();
  command
      .add_option("--degree", segments.degree,
                  "collection: most edges per vertex of a segment [32; of --metric ip 48]")
      .range(1u, 1024u);
  command
      .add_option("--build-list", options.list,
                  "collection: L of the searches while a segment is built")
      .range(1u, 10'000u)
      .show_default();
  command
      .add_option("--alpha", options.alpha,
                  "collection: how much longer an edge may be than a detour")
      .show_default();
  command
      .add_option("--code-bits", options.code_bits,
                  "collection: bits per dimension of the codes; 0: no codes, but the vectors\n"
                  "themselves [as the rows need]")
      .range(0u, 8u);
  command.add_option("--tier", a.tier,
                     "collection: where the segments' records lie: " +
                         tiers::tier_usage(tiers::TierUse::here) + " [dram; of slotted pages ssd]");
  command.add_option(
      "--memory-budget", a.memory_budget,
      "collection of slotted pages: bytes, like 64MB, that the pools of all segments\n"
      "share with their maps, buffers and searches [all records fit]");
  add_reduced_options(command, segments);
}

void refuse_unused_segments(const Command& command, const RunbookSegments& segments) {
  const bool clusters = segments.kind == "cluster";
  const bool reduced = segments.reduction.given();
  const std::string of_clusters = "--kind collection --segments cluster";
  std::vector<OptionRule> rules{
      {"--list", !clusters || reduced, "graphs, and with --store; --segments is cluster"},
      {"--probe", clusters, of_clusters}};
  add_rules(kGraphSegments, !clusters, "--kind collection --segments graph", rules);
  add_rules(kPageSegments, segments.kind == kPages, "--kind collection --segments slotted", rules);
  add_rules(kClusterSegmentOptions, clusters, of_clusters, rules);
  add_rules(kReducedSegments, reduced, "--store", rules);
  refuse_unused(command, rules);
  refuse_unused_reduction(command, segments.reduction);
}

void refuse_segments(const Command& command, const std::string& where) {
  std::vector<OptionRule> rules;
  add_rules(kEverySegment, false, where, rules);
  add_rules(kGraphSegments, false, where, rules);
  add_rules(kPageSegments, false, where, rules);
  add_rules(kClusterSegmentOptions, false, where, rules);
  add_rules(kReducedSegments, false, where, rules);
  refuse_unused(command, rules);
}

RunbookCollectionOptions collection_options(const RunbookSegments& segments, Metric metric,
                                            const VectorView& data, layout::Schema schema) {
  RunbookCollectionOptions options = segments.options;
  options.shape.metric = metric;
  options.shape.source_type = data.type;
  options.shape.dimension = data.dimension;
  options.shape.schema = std::move(schema);
  layout::CollectionOptions& shape = options.shape.options;
  const bool pages = segments.kind == kPages;
  shape.kind = pages ? layout::IndexKind::graph : layout::parse_segment_kind(segments.kind);
  if (pages) shape.layout = layout::LayoutKind::slotted;
  if (segments.reduction.given()) shape.store = segments.reduction.wish();
  if (options.tier.empty()) options.tier = collection::usual_tier(shape);
  if (shape.kind == layout::IndexKind::graph) {
    shape.degree = segments.degree.value_or(graph::usual_degree(metric));
  }
  return options;
}

}  // namespace farvec::cli
