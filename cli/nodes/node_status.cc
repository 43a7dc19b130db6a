#include "cli/nodes/node_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "layout/index/manifest.h"

namespace farvec::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace compute_v1 = compute_node::v1;
namespace memory_v1 = memory_node::v1;

/// Returns the two largest units: "2 d 3 h", "4 min 5 s".
std::string duration_text(double seconds) {
  // A node may say any number, or none.
  constexpr double kMostSeconds = 1e12;
  const double told = std::isnan(seconds) ? 0 : std::clamp(seconds, 0.0, kMostSeconds);
  const auto whole = static_cast<std::uint64_t>(told);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 86'400) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} d {} h", whole / 86'400, whole % 86'400 / 3600);
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string memory_text(const compute_v1::DescribeResponse& node) {
  const std::string budget =
      node.memory_budget() > 0 ? ", of a budget of " + megabytes(node.memory_budget()) : "";
  return megabytes(node.compute_dram_bytes()) + " in this node" + budget;
}

std::string following_text(const compute_v1::DescribeResponse& node) {
  const std::string sight = fmt::format("what was there {:.1f} ms ago", node.freshness_ms());
  return node.follow_failure().empty() ? sight : sight + ", not now: " + node.follow_failure();
}

/// Adds a line under the first one.
void add_line(std::string& text, const char* what, const std::string& value) {
  text += fmt::format("\n  {:<12} {}", what, value);
}

std::string metric_word(compute_v1::Metric metric) {
  switch (metric) {
    case compute_v1::METRIC_L2:
      return "l2";
    case compute_v1::METRIC_INNER_PRODUCT:
      return "ip";
    case compute_v1::METRIC_COSINE:
      return "cosine";
    case compute_v1::METRIC_HAMMING:
      return "hamming";
    case compute_v1::METRIC_JACCARD:
      return "jaccard";
    default:
      return "unknown";
  }
}

std::string type_word(compute_v1::ElementType type) {
  for (const ElementType known : kElementTypes) {
    // The wire's numbers are the library's plus one.
    if (static_cast<int>(known) + 1 == static_cast<int>(type)) {
      return std::string(to_string(known));
    }
  }
  return "unknown";
}

Json index_facts(const compute_v1::DescribeResponse& node) {
  Json facts{{"vectors", node.count()},
             {"dimension", node.dimension()},
             {"type", type_word(node.type())},
             {"metric", metric_word(node.metric())},
             {"layout", node.layout()},
             {"clusters", node.clusters()},
             {"tier", node.tier()},
             {"index_bytes", node.index_bytes()},
             {"compute_dram_bytes", node.compute_dram_bytes()},
             {"memory_budget", node.memory_budget()},
             {"page_search", node.page_search()}};
  if (!node.schema().empty()) facts["schema"] = node.schema();
  if (node.has_freshness_ms()) facts["freshness_ms"] = node.freshness_ms();
  if (!node.follow_failure().empty()) facts["follow_failure"] = node.follow_failure();
  return facts;
}

Json index_facts(const layout::Manifest& manifest) {
  return {{"dataset", manifest.dataset.name},       {"vectors", manifest.count},
          {"dimension", manifest.dimension},        {"type", to_string(manifest.source_type)},
          {"metric", to_string(manifest.metric)},   {"layout", manifest.layout_name()},
          {"memory_nodes", manifest.memory_nodes()}};
}

std::string index_text(const Json& index) {
  return fmt::format("{} vectors of {} x {} ({}), {}", index["vectors"].get<std::uint64_t>(),
                     index["dimension"].get<std::uint32_t>(), index["type"].get<std::string>(),
                     index["metric"].get<std::string>(), index["layout"].get<std::string>());
}

Json node_facts(const compute_v1::StatsResponse& stats) {
  Json nodes = Json::array();
  for (const compute_v1::MemoryNodeState& state : stats.memory_nodes()) {
    Json node{{"address", state.address()}, {"attached", state.attached()}};
    if (state.attached()) node["node"] = state.node();
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Json recall_facts(const compute_v1::StatsResponse& stats) {
  Json cells = Json::array();
  for (const compute_v1::RecallCell& cell : stats.recalls()) {
    cells.push_back({{"plan", cell.plan()},
                     {"filter", cell.filter()},
                     {"samples", cell.samples()},
                     {"wanted", cell.wanted()},
                     {"found", cell.found()}});
  }
  return {{"recall", stats.recall()}, {"skipped", stats.recall_skipped()}, {"cells", cells}};
}

std::string recall_text(const compute_v1::StatsResponse& stats) {
  std::uint64_t samples = 0;
  for (const compute_v1::RecallCell& cell : stats.recalls()) samples += cell.samples();
  return fmt::format("{:.3f}; {} searches were repeated exactly", stats.recall(), samples);
}

void add_nodes(std::string& text, const compute_v1::StatsResponse& stats) {
  const char* what = "memory nodes";
  for (const compute_v1::MemoryNodeState& state : stats.memory_nodes()) {
    add_line(text, std::exchange(what, ""),
             state.attached() ? fmt::format("{}: attached, node {}", state.address(), state.node())
                              : fmt::format("{}: not attached", state.address()));
  }
}

Json copies_facts(const collection::v1::StatsResponse& state) {
  return {{"log_nodes", state.log_nodes()},
          {"log_copies", state.log_copies()},
          {"segment_copies_missing", state.segment_copies_missing()},
          {"failure", state.failure()}};
}

void add_copies(std::string& text, const collection::v1::StatsResponse& state) {
  if (state.log_nodes() > 0) {
    add_line(text, "log",
             fmt::format("on {} of {} memory nodes", state.log_copies(), state.log_nodes()));
  }
  if (state.segment_copies_missing() > 0) {
    add_line(text, "segments",
             fmt::format("copies missing on memory nodes: {}", state.segment_copies_missing()));
  }
  if (!state.failure().empty()) add_line(text, "failure", state.failure());
}

std::string text_of(const std::string& address, const ComputeNodeAnswers& answers,
                    const Json& facts) {
  const auto& [describe, stats, collection] = answers;
  const bool serving = describe.attached();
  std::string text = fmt::format("compute node {} ({}): {}", address, describe.version(),
                                 serving ? "serving" : "waiting for " + describe.memory_node());
  add_line(text, "uptime", duration_text(stats.uptime_seconds()));
  if (serving) {
    add_line(text, "index", index_text(facts["index"]) + ", tier " + describe.tier());
    add_line(text, "generation", std::to_string(describe.generation()));
    add_line(text, "memory", memory_text(describe));
    if (!describe.page_search().empty()) add_line(text, "pages", describe.page_search());
    if (describe.has_freshness_ms()) add_line(text, "follows", following_text(describe));
  }
  add_line(text, "switches",
           fmt::format("{} to a newer index, {} refused, {} times opened again", stats.switches(),
                       stats.switches_refused(), stats.reattaches()));
  add_line(
      text, "in flight",
      fmt::format("{} queries, {} waiting", stats.queries_in_flight(), stats.queries_queued()));
  add_line(text, "answered",
           fmt::format("{} queries, p99 {:.0f} us; {} rejected, {} late, {} unavailable, {} failed",
                       stats.queries_ok(), stats.latency_p99_us(), stats.queries_rejected(),
                       stats.queries_deadline_exceeded(), stats.queries_unavailable(),
                       stats.queries_failed()));
  if (stats.has_recall()) add_line(text, "recall", recall_text(stats));
  add_nodes(text, stats);
  if (collection) add_copies(text, *collection);
  return text;
}

std::string log_text(const memory_v1::Log& log) {
  const std::string writer =
      log.has_writer() ? fmt::format("a writer, whose lease runs for {} ms", log.writer_lease_ms())
                       : "no writer";
  return fmt::format("{}, epoch {}, {}", megabytes(log.bytes()), log.epoch(), writer);
}

Json log_facts(const memory_v1::Log& log) {
  return {{"bytes", log.bytes()},
          {"generation", log.generation()},
          {"epoch", log.epoch()},
          {"has_writer", log.has_writer()},
          {"writer_leases_expired", log.writer_leases_expired()}};
}

std::uint64_t region_bytes(const memory_v1::DescribeResponse& describe) {
  std::uint64_t sum = 0;
  for (const auto& region : describe.regions()) sum += region.bytes();
  return sum;
}

std::string text_of(const std::string& address, const MemoryNodeAnswers& answers,
                    const Json& facts) {
  const auto& [describe, stats] = answers;
  std::string text = fmt::format("memory node {} ({}): {}", address, describe.version(),
                                 state_word(describe.state()));
  if (describe.loaded_bytes() < describe.total_bytes()) {
    add_line(text, "loading",
             fmt::format("{} of {}", megabytes(describe.loaded_bytes()),
                         megabytes(describe.total_bytes())));
  }
  if (describe.verified_bytes() < region_bytes(describe)) {
    add_line(text, "verified",
             fmt::format("{} of {}", megabytes(describe.verified_bytes()),
                         megabytes(region_bytes(describe))));
  }
  add_line(text, "uptime", duration_text(stats.uptime_seconds()));
  if (facts.contains("index")) {
    const Json& index = facts["index"];
    add_line(text, "index",
             fmt::format("{}; node {} of {}", index_text(index), describe.node(),
                         index["memory_nodes"].get<std::uint32_t>()));
    add_line(text, "generation", std::to_string(describe.generation()));
  }
  if (describe.has_log()) add_line(text, "log", log_text(describe.log()));
  add_line(text, "published",
           fmt::format("{} indexes since the start, {} in memory ({}, {})", stats.publications(),
                       stats.tables(), megabytes(stats.table_bytes()), describe.backing()));
  add_line(text, "leases",
           fmt::format("{} held; {} given, {} given back, {} expired", stats.leases(),
                       stats.attaches(), stats.detaches(), stats.expirations()));
  return text;
}

}  // namespace

const char* state_word(memory_v1::State state) {
  switch (state) {
    case memory_v1::STATE_LOADING:
      return "loading";
    case memory_v1::STATE_SERVING:
      return "serving";
    case memory_v1::STATE_DRAINING:
      return "draining";
    default:
      return "unknown";
  }
}

NodeStatus status_of(const std::string& address, const ComputeNodeAnswers& answers) {
  const auto& [describe, stats, collection] = answers;
  NodeStatus status;
  status.serving = describe.attached();
  Json& facts = status.facts;
  facts = {{"node", "compute"},
           {"address", address},
           {"version", describe.version()},
           {"serving", status.serving},
           {"uptime_seconds", stats.uptime_seconds()},
           {"source", describe.memory_node()},
           {"switches", stats.switches()},
           {"switches_refused", stats.switches_refused()},
           {"reattaches", stats.reattaches()},
           {"queries_in_flight", stats.queries_in_flight()},
           {"queries_queued", stats.queries_queued()},
           {"queries_ok", stats.queries_ok()},
           {"queries_rejected", stats.queries_rejected()},
           {"queries_deadline_exceeded", stats.queries_deadline_exceeded()},
           {"queries_unavailable", stats.queries_unavailable()},
           {"queries_failed", stats.queries_failed()},
           {"latency_p99_us", stats.latency_p99_us()},
           {"memory_nodes", node_facts(stats)}};
  if (status.serving) {
    facts["generation"] = describe.generation();
    facts["index"] = index_facts(describe);
  }
  if (stats.has_recall()) facts["recall"] = recall_facts(stats);
  if (collection) facts["collection"] = copies_facts(*collection);
  status.text = text_of(address, answers, facts);
  return status;
}

NodeStatus status_of(const std::string& address, const MemoryNodeAnswers& answers) {
  const auto& [describe, stats] = answers;
  NodeStatus status;
  status.serving = describe.state() == memory_v1::STATE_SERVING;
  Json& facts = status.facts;
  facts = {{"node", "memory"},
           {"address", address},
           {"version", describe.version()},
           {"serving", status.serving},
           {"state", state_word(describe.state())},
           {"uptime_seconds", stats.uptime_seconds()},
           {"loaded_bytes", describe.loaded_bytes()},
           {"total_bytes", describe.total_bytes()},
           {"verified_bytes", describe.verified_bytes()},
           {"backing", describe.backing()},
           {"publications", stats.publications()},
           {"tables", stats.tables()},
           {"table_bytes", stats.table_bytes()},
           {"leases", stats.leases()},
           {"attaches", stats.attaches()},
           {"detaches", stats.detaches()},
           {"expirations", stats.expirations()}};
  if (!describe.manifest_json().empty()) {
    facts["generation"] = describe.generation();
    facts["placement_node"] = describe.node();
    facts["index"] = index_facts(layout::manifest_from_json(
        describe.manifest_json(), fmt::format("the manifest of {}", address)));
  }
  if (describe.has_log()) facts["log"] = log_facts(describe.log());
  status.text = text_of(address, answers, facts);
  return status;
}

}  // namespace farvec::cli
