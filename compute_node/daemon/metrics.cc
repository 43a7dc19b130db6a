#include "compute_node/daemon/metrics.h"

#include <algorithm>
#include <cmath>

#include "compute_node/collection/collection_service.h"
#include "compute_node/daemon/regrouper.h"

namespace farvec::compute_node {
namespace {

constexpr double kMicrosecond = 1e-6;
using Families = std::vector<prometheus::MetricFamily>;

prometheus::MetricFamily& add(Families& families, const char* name, const char* help,
                              prometheus::MetricType type) {
  prometheus::MetricFamily family;
  family.name = std::string("farvec_compute_") + name;
  family.help = help;
  family.type = type;
  return families.emplace_back(std::move(family));
}

void add_counter(Families& families, const char* name, const char* help, std::uint64_t value) {
  prometheus::ClientMetric metric;
  metric.counter.value = static_cast<double>(value);
  add(families, name, help, prometheus::MetricType::Counter).metric.push_back(metric);
}

void add_gauge(Families& families, const char* name, const char* help, double value) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  add(families, name, help, prometheus::MetricType::Gauge).metric.push_back(metric);
}

void add_queries(Families& families, const StatisticsSnapshot& now) {
  auto& family = add(families, "queries_total", "Queries by the status they ended with",
                     prometheus::MetricType::Counter);
  for (StatusCode code : {StatusCode::ok, StatusCode::cancelled, StatusCode::invalid_argument,
                          StatusCode::deadline_exceeded, StatusCode::resource_exhausted,
                          StatusCode::internal, StatusCode::unavailable, StatusCode::data_loss}) {
    prometheus::ClientMetric metric;
    metric.label.push_back({"status", std::string(to_string(code))});
    metric.counter.value = static_cast<double>(now.with(code));
    family.metric.push_back(std::move(metric));
  }
}

void add_refusals(Families& families, const StatisticsSnapshot& now) {
  auto& family = add(families, "queries_refused_total",
                     "Sound queries that got no slot: the queue was full, the answer would have "
                     "come too late, or the time ran out in the queue",
                     prometheus::MetricType::Counter);
  for (const auto& [reason, queries] : {std::pair{to_string(Refusal::queue_full), now.queue_full},
                                        std::pair{to_string(Refusal::too_late), now.too_late},
                                        std::pair{"expired_in_queue", now.expired_waiting}}) {
    prometheus::ClientMetric metric;
    metric.label.push_back({"reason", reason});
    metric.counter.value = static_cast<double>(queries);
    family.metric.push_back(std::move(metric));
  }
}

void add_latency(Families& families, const LatencyHistogram& latency) {
  prometheus::ClientMetric metric;
  metric.histogram.sample_count = latency.count();
  metric.histogram.sample_sum = latency.sum() / ticks_per_us() * kMicrosecond;
  for (int octave = 3; octave < 30; ++octave) {
    const double us = std::ldexp(1.0, octave);
    metric.histogram.bucket.push_back({latency.below(us_to_ticks(us)), us * kMicrosecond});
  }
  metric.histogram.bucket.push_back({latency.count(), INFINITY});
  add(families, "query_latency_seconds", "From admission to result, of queries that ended well",
      prometheus::MetricType::Histogram)
      .metric.push_back(std::move(metric));
}

void add_totals(Families& families, const search::QueryCounts& totals) {
  add_counter(families, "hops_total", "Frontiers expanded", totals.hops);
  add_counter(families, "reads_total",
              "Reads of the tier, of one record or several near each other", totals.reads);
  add_counter(families, "read_bytes_total", "Bytes fetched from the tier", totals.bytes);
  add_counter(families, "cache_hits_total", "Records found in a record cache or the pool",
              totals.cache_hits);
  add_counter(families, "pool_misses_total",
              "Records of slotted pages that were not in the pool when they were asked for",
              totals.pool_misses);
  add_counter(families, "rerank_reads_total", "Reads of vectors to rank results again",
              totals.rerank_reads);
  add_counter(families, "estimates_total", "Distances estimated from codes", totals.estimates);
  add_counter(families, "distances_total", "Exact distances", totals.distances);
  add_counter(families, "matches_total", "Rows that met the filters of searches", totals.matches);
  add_counter(families, "walks_total", "Graphs that searches walked, one in each segment",
              totals.walks);
  add_counter(families, "scans_total",
              "Segments of which searches compared rows one by one in place of a walk",
              totals.scans);
  add_counter(families, "bridges_total", "Vertices that walks read for their neighbours alone",
              totals.bridges);
  add_counter(families, "attribute_reads_total", "Results whose attributes were read from a file",
              totals.attribute_reads);
  add_counter(families, "clusters_probed_total", "Clusters probed", totals.clusters);
  add_counter(families, "group_reads_total", "Reads of clusters' groups", totals.group_reads);
  add_counter(families, "list_reads_total", "Reads of clusters' addresses", totals.list_reads);
  add_counter(families, "stray_reads_total", "Reads of vectors by their addresses",
              totals.stray_reads);
  add_counter(families, "lost_reads_total", "Records that no memory node could deliver",
              totals.lost);
}

void add_refused_switches(Families& families, const RefusedSwitches& refused) {
  auto& family = add(families, "switches_refused_total",
                     "Times a newer index could not take over and the older one stayed",
                     prometheus::MetricType::Counter);
  const auto add_reason = [&family](const char* reason, const std::atomic<std::uint64_t>& count) {
    prometheus::ClientMetric metric;
    metric.label.push_back({"reason", reason});
    // Relaxed, because it is a sample on its own.
    metric.counter.value = static_cast<double>(count.load(std::memory_order_relaxed));
    family.metric.push_back(std::move(metric));
  };
  add_reason("open", refused.open);
  add_reason("cores", refused.cores);
}

void add_refused_changes(Families& families, const collection::v1::StatsResponse& now) {
  auto& family = add(families, "collection_refused_total",
                     "Calls that were sound and not served: too many under way, no room for fresh "
                     "rows, or their turn came too late",
                     prometheus::MetricType::Counter);
  for (const auto& [reason, calls] :
       {std::pair{to_string(ChangeRefusal::queue_full), now.refused_queue_full()},
        std::pair{to_string(ChangeRefusal::no_room), now.refused_no_room()},
        std::pair{to_string(ChangeRefusal::too_late), now.refused_too_late()}}) {
    prometheus::ClientMetric metric;
    metric.label.push_back({"reason", reason});
    metric.counter.value = static_cast<double>(calls);
    family.metric.push_back(std::move(metric));
  }
}

void add_pages(Families& families, const collection::v1::PagesState& now) {
  add_gauge(families, "pages", "Pages of the graph", static_cast<double>(now.pages()));
  add_gauge(families, "pages_in_buffer", "Pages that the buffer has room for",
            static_cast<double>(now.buffer_pages()));
  add_counter(families, "pages_read_total", "Pages read from the disk", now.read());
  add_counter(families, "pages_written_total", "Pages written to the disk", now.written());
  add_gauge(families, "vacuum_running", "1 while a vacuum removes deleted rows",
            now.vacuuming() ? 1 : 0);
  add_counter(families, "vacuumed_rows_total", "Rows that vacuums have removed", now.vacuumed());
}

void add_collection(Families& families, const collection::v1::StatsResponse& now) {
  const auto gauge = [&](const char* name, const char* help, std::uint64_t value) {
    add_gauge(families, name, help, static_cast<double>(value));
  };
  gauge("collection_rows", "Rows that are live", now.rows());
  gauge("collection_rows_out", "Rows of segments that are deleted or replaced", now.rows_out());
  gauge("collection_rows_updated", "Rows of segments whose attributes were updated in DRAM",
        now.rows_updated());
  gauge("collection_segments", "Segments", now.segments());
  gauge("collection_segment_bytes", "Bytes of all files of the segments", now.segment_bytes());
  gauge("collection_memtable_rows", "Live rows that no segment holds", now.memtable_rows());
  gauge("collection_memtable_bytes", "Memory set aside for them", now.memtable_bytes());
  gauge("collection_log_bytes", "Bytes of the log's files", now.log_bytes());
  gauge("collection_log_nodes", "Memory nodes that the log is to lie on; 0: it lies in the folder",
        now.log_nodes());
  gauge("collection_log_copies", "Memory nodes that have all of the log", now.log_copies());
  gauge("collection_segment_copies_missing", "Copies of segments that memory nodes are to hold yet",
        now.segment_copies_missing());
  gauge("collection_calls_in_flight", "Inserts, deletes and updates under way or waiting",
        now.calls_in_flight());
  gauge("collection_bytes_in_flight", "Bytes of these calls", now.bytes_in_flight());
  add_counter(families, "collection_inserted_total", "Rows inserted", now.inserted());
  add_counter(families, "collection_replaced_total", "Rows inserted in place of others",
              now.replaced());
  add_counter(families, "collection_deleted_total", "Rows deleted", now.deleted());
  add_counter(families, "collection_updated_total", "Rows given other attributes", now.updated());
  add_refused_changes(families, now);
  add_counter(families, "collection_failed_calls_total", "Calls that ended with another error",
              now.calls_failed());
  add_counter(families, "collection_segments_built_total", "Memtables that became segments",
              now.segments_built());
  add_counter(families, "collection_segments_merged_total", "Segments that took others' place",
              now.segments_merged());
  gauge("collection_merge_segments", "Segments that the merge under way makes one of; 0: none is",
        now.merge_segments());
  gauge("collection_merge_rows", "Rows of that one", now.merge_rows());
  gauge("collection_merge_rows_linked", "Rows of it that are linked", now.merge_rows_linked());
  add_counter(families, "collection_merged_bytes_total", "Read and written by merges",
              now.merged_bytes());
  add_counter(families, "collection_failures_total",
              "Times a segment could not be built, merged or saved", now.failures());
  if (now.has_pages()) add_pages(families, now.pages());
}

void add_following(Families& families, const Following& following) {
  add_gauge(families, "freshness_seconds",
            "What was acknowledged before this time is in what is searched",
            following.stale_us * kMicrosecond);
  add_gauge(families, "following", "1 while the changes of another process are followed",
            following.failure.empty());
  add_counter(families, "segment_switches_total", "Times other segments were opened",
              following.switches);
  add_counter(families, "follow_failures_total", "Attempts to open others that failed",
              following.failures);
}

void add_recall_counter(Families& families, const RecallSnapshot& now, const char* name,
                        const char* help, std::uint64_t RecallCell::*number) {
  auto& family = add(families, name, help, prometheus::MetricType::Counter);
  now.for_each([&](RecallPlan plan, RecallFilter filter, const RecallCell& cell) {
    prometheus::ClientMetric metric;
    metric.label = {{"plan", std::string(to_string(plan))},
                    {"filter", std::string(to_string(filter))}};
    metric.counter.value = static_cast<double>(cell.*number);
    family.metric.push_back(std::move(metric));
  });
}

void add_recall(Families& families, const RecallSnapshot& now) {
  add_recall_counter(families, now, "recall_samples_total",
                     "Searches that were repeated exactly, by plan and by the share of rows that "
                     "met the filter",
                     &RecallCell::samples);
  add_recall_counter(families, now, "recall_wanted_total",
                     "True neighbours of the searches that were repeated exactly",
                     &RecallCell::wanted);
  add_recall_counter(families, now, "recall_found_total",
                     "True neighbours that the searches had found", &RecallCell::found);
  add_counter(families, "recall_skipped_total",
              "Searches that were drawn and not repeated: another one was, or there was no time",
              now.skipped);
  if (now.recent.samples == 0) return;
  add_gauge(families, "recall", "Recall of the last 100 searches that were repeated exactly",
            now.recall());
}

void add_engine(Families& families, const Engine& engine) {
  const ServedIndex index = engine.present();
  const TierCounters& counters = engine.counters();
  add_gauge(families, "queue_depth", "Queries that wait for a slot", engine.queued());
  add_gauge(families, "expected_wait_seconds",
            "What a query that comes now is expected to wait for others; 0: not known",
            ticks_to_us(engine.expected(1, 0, now_ticks())) * kMicrosecond);
  add_gauge(families, "searches_in_flight", "Queries in slots", engine.running());
  // Relaxed, because each is a sample on its own.
  add_gauge(families, "reads_in_flight", "Reads posted and not completed, sampled",
            static_cast<double>(counters.reads_in_flight.load(std::memory_order_relaxed)));
  add_counter(families, "stalls_total", "Posts that found the read limit reached",
              counters.stalls.load(std::memory_order_relaxed));
  const std::vector<tiers::NodeSet::Member> nodes = engine.memory_nodes();
  const auto attached = std::count_if(
      nodes.begin(), nodes.end(), [](const tiers::NodeSet::Member& node) { return node.attached; });
  add_gauge(families, "memory_nodes", "Memory nodes that were named",
            static_cast<double>(nodes.size()));
  add_gauge(families, "memory_nodes_attached", "Memory nodes that are read",
            static_cast<double>(attached));
  add_gauge(families, "vectors", "Vectors in the index", static_cast<double>(index.count));
  add_gauge(families, "code_bytes", "Codes or centroids in local DRAM",
            static_cast<double>(index.code_bytes));
  add_gauge(families, "offset_bytes", "Offsets or table of clusters in local DRAM",
            static_cast<double>(index.offset_bytes));
  add_gauge(families, "cache_bytes", "Record caches or pool in local DRAM",
            static_cast<double>(index.cache_bytes));
  add_gauge(families, "search_bytes", "Buffers and searches in flight, as planned (tier ssd)",
            static_cast<double>(index.search_bytes));
  add_gauge(families, "memory_budget_bytes", "--memory-budget; 0: none",
            static_cast<double>(index.memory_budget));
}

}  // namespace

Families ServiceMetrics::Collect() const {
  const StatisticsSnapshot now = statistics_.snapshot();
  const std::shared_ptr<Engine> engine = supervisor_.engine();
  Families families;
  families.reserve(70);  // add() hands out references
  add_queries(families, now);
  add_refusals(families, now);
  add_latency(families, now.latency);
  add_totals(families, now.totals);
  add_counter(families, "partial_queries_total", "Answered with a coverage below 1", now.partial);
  add_gauge(families, "attached", "1 while queries can be answered", engine != nullptr);
  add_counter(families, "reattaches_total", "Times the index was opened again",
              supervisor_.reopened());
  add_counter(families, "switches_total", "Times a newer index took over", supervisor_.switched());
  add_refused_switches(families, supervisor_.refused());
  if (regrouper_ != nullptr) {
    add_counter(families, "regroupings_total",
                "Times that the index was grouped by its probes again and published",
                regrouper_->published());
  }
  if (engine != nullptr) {
    add_engine(families, *engine);
    if (const auto following = engine->present().following) add_following(families, *following);
  }
  if (recall_ != nullptr) add_recall(families, recall_->snapshot());
  if (changes_ != nullptr) add_collection(families, changes_->stats());
  return families;
}

}  // namespace farvec::compute_node
