#include "cli/runbook/runbook_node.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/parallel.h"
#include "cli/interrupt.h"
#include "cli/refusals.h"
#include "client/remote_search.h"
#include "dataset/view_reader.h"
#include "measure/report/row_range.h"

namespace farvec::cli {
namespace {

/// A step waits for its node as long as a step of a local index waits for room.
constexpr std::chrono::minutes kDeadline{60};
constexpr std::uint32_t kRetries = 30;

client::RemoteSearchOptions search_options(const RunbookOptions& run,
                                           const RunbookNodeOptions& options, std::uint32_t k) {
  client::RemoteSearchOptions search;
  search.node = options.node;
  search.parameters.k = k;
  search.parameters.list = std::max(run.list, k);
  search.parameters.probing.clusters = options.probe;
  search.parameters.filter = run.filter;
  search.queries_per_call = 1;
  search.retries = kRetries;
  search.interrupted = interrupted;
  return search;
}

}  // namespace

RunbookNode::RunbookNode(const RunbookOptions& run, const RunbookNodeOptions& options)
    : run_(run),
      options_(options),
      changing_(options.node,
                {.deadline = kDeadline, .retries = kRetries, .refused = tell_refusals()},
                options.metric) {
  const std::uint64_t rows = stats().rows();
  if (rows > 0) {
    throw Error("compute node {} serves {} vectors already: a runbook begins with an empty index",
                options.node.address, rows);
  }
  for (std::uint32_t s = 0; s < run.access.slots; ++s) {
    stubs_.push_back(client::connect_to_node(options.node));
  }
}

collection::v1::StatsResponse RunbookNode::stats() const {
  return changing_.stats({.deadline = std::chrono::minutes(1), .retries = kRetries});
}

void RunbookNode::settle() {
  const collection::v1::StatsResponse now = stats();
  const double all = static_cast<double>(now.rows()) + static_cast<double>(now.rows_out());
  const bool due = static_cast<double>(now.rows_out()) > options_.vacuum_share * all;
  if (now.has_pages() && due) (void)changing_.compact(interrupted);
}

/// Each slot has a connection of its own, and takes the next query when its call has ended.
void RunbookNode::search(const VectorView& queries, dataset::GroundTruth& results,
                         std::vector<float>& latency_us) {
  const client::RemoteSearchOptions options = search_options(run_, options_, results.k);
  std::vector<float> latencies(queries.count);
  const auto serve = [&](std::size_t q, unsigned slot) {
    dataset::ViewReader query(measure::rows_in(queries, {q, q + 1}), "the queries");
    const auto start = std::chrono::steady_clock::now();
    const auto found = client::search_node(*stubs_[slot], options, query).neighbors;
    latencies[q] =
        std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - start).count();
    std::ranges::copy(found.ids, &results.ids[q * results.k]);
    std::ranges::copy(found.distances, &results.distances[q * results.k]);
  };
  parallel_for(queries.count, 1, static_cast<unsigned>(stubs_.size()),
               [&](std::size_t begin, std::size_t, unsigned slot) { serve(begin, slot); });
  latency_us.insert(latency_us.end(), latencies.begin(), latencies.end());
}

measure::DiskBytes RunbookNode::disk_bytes() const {
  const collection::v1::StatsResponse now = stats();
  return {.read = now.pages().read() * now.pages().page_bytes(), .written = now.written_bytes()};
}

std::uint64_t RunbookNode::stored_bytes() const {
  const collection::v1::StatsResponse now = stats();
  return now.segment_bytes() + now.pages().pages() * now.pages().page_bytes() + now.log_bytes();
}

nlohmann::ordered_json RunbookNode::describe() const {
  return {{"kind", "node"},
          {"address", options_.node.address},
          {"now", changing_.now()},
          {"list", run_.list},
          {"probe", options_.probe},
          {"slots", run_.access.slots},
          {"vacuum_share", options_.vacuum_share},
          {"filter", run_.filter}};
}

}  // namespace farvec::cli
