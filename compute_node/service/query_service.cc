#include "compute_node/service/query_service.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <span>

#include "base/unreachable_error.h"
#include "base/version.h"
#include "changes/receipt.h"
#include "compute_node/service/call.h"
#include "graph/beam_search.h"
#include "rpc/status.h"

namespace farvec::compute_node {
namespace {

void fill_counts(const search::QueryCounts& counts, v1::QueryCounts& out) {
  out.set_hops(counts.hops);
  out.set_reads(counts.reads);
  out.set_bytes(counts.bytes);
  out.set_cache_hits(counts.cache_hits);
  out.set_estimates(counts.estimates);
  out.set_distances(counts.distances);
  out.set_lost(counts.lost);
  out.set_clusters(counts.clusters);
  out.set_group_reads(counts.group_reads);
  out.set_list_reads(counts.list_reads);
  out.set_stray_reads(counts.stray_reads);
  out.set_pool_misses(counts.pool_misses);
  out.set_rerank_reads(counts.rerank_reads);
  out.set_matches(counts.matches);
  out.set_attribute_reads(counts.attribute_reads);
  out.set_walks(counts.walks);
  out.set_bridges(counts.bridges);
  out.set_scans(counts.scans);
}

/// Writes both kinds of ids, for clients that know only one kind, as long as the ids fit it.
void fill_user_ids(std::span<const std::uint64_t> ids, v1::QueryResult& out) {
  out.mutable_user_ids()->Add(ids.begin(), ids.end());
  const bool narrow =
      std::all_of(ids.begin(), ids.end(), [](std::uint64_t id) { return id < kInvalidNode; });
  if (narrow) out.mutable_ids()->Add(ids.begin(), ids.end());
}

void fill_result(const QueuedTask& task, const Batch& batch, v1::QueryResult& out) {
  const search::SearchAnswer& answer = task.answer;
  out.set_latency_us(ticks_to_us(task.clock.finished - batch.admitted));
  fill_counts(answer.counts, *out.mutable_counts());
  if (!answer.status.ok()) {
    out.set_status(static_cast<std::uint32_t>(answer.status.code()));
    out.set_message(answer.status.message());
    return;
  }
  out.set_coverage(static_cast<float>(answer.coverage));
  const std::span<const std::uint64_t> ids(answer.ids, answer.found);
  if (batch.shape().user_ids) {
    fill_user_ids(ids, out);
  } else {
    for (const std::uint64_t row : ids) out.add_ids(static_cast<NodeId>(row));
  }
  out.mutable_distances()->Add(answer.distances, answer.distances + answer.found);
}

/// Writes the attributes that the batch selects, as far as `room` bytes allow, which it makes less.
/// Returns how that went.
Status fill_attributes(const QueuedTask& task, const Batch& batch, const layout::Schema& schema,
                       std::size_t& room, v1::QueryResult& out) {
  if (batch.shape().select.empty() || !task.answer.status.ok() || task.answer.found == 0) return {};
  try {
    const layout::Tuples whole = task.answer.attributes->read();
    const layout::Tuples rows = select_columns(whole.view(), schema, batch.shape().select);
    if (rows.bytes.size() > room) {
      return {StatusCode::invalid_argument,
              "select: the attributes of the results of one call take more than 16 MiB: ask for "
              "fewer queries or results a call, or for fewer columns"};
    }
    room -= rows.bytes.size();
    out.mutable_attributes()->assign(reinterpret_cast<const char*>(rows.bytes.data()),
                                     rows.bytes.size());
    out.mutable_attribute_ends()->Add(rows.ends.begin(), rows.ends.end());
    return {};
  } catch (const UnreachableError& error) {
    spdlog::warn("attributes of results cannot be read now: {}", error.what());
    return {StatusCode::unavailable,
            "no memory node that has the attributes of the results answers: try again"};
  } catch (const std::exception& error) {
    spdlog::error("attributes of results cannot be read: {}", error.what());
    return {StatusCode::data_loss,
            "the attributes of the results cannot be read: the node's log has the reason"};
  }
}

void fill_stats(const StatisticsSnapshot& now, v1::StatsResponse& out) {
  std::uint64_t all = 0;
  for (std::uint64_t queries : now.queries) all += queries;
  const std::uint64_t ok = now.with(StatusCode::ok);
  const std::uint64_t rejected = now.with(StatusCode::resource_exhausted);
  const std::uint64_t late = now.with(StatusCode::deadline_exceeded);
  const std::uint64_t unavailable = now.with(StatusCode::unavailable);
  out.set_queries_ok(ok);
  out.set_queries_rejected(rejected);
  out.set_queries_deadline_exceeded(late);
  out.set_queries_unavailable(unavailable);
  out.set_queries_failed(all - ok - rejected - late - unavailable);
  out.set_queries_partial(now.partial);
  out.set_refused_queue_full(now.queue_full);
  out.set_refused_too_late(now.too_late);
  out.set_expired_in_queue(now.expired_waiting);
  fill_counts(now.totals, *out.mutable_totals());
  out.set_latency_p50_us(now.latency.percentile(0.50) / ticks_per_us());
  out.set_latency_p99_us(now.latency.percentile(0.99) / ticks_per_us());
  out.set_latency_max_us(ticks_to_us(now.latency.max()));
  now.latency.for_each([&](double ticks, std::uint64_t count) {
    v1::LatencyBucket& bucket = *out.add_latencies();
    bucket.set_us(ticks / ticks_per_us());
    bucket.set_count(count);
  });
}

void fill_recall(const RecallSnapshot& now, v1::StatsResponse& out) {
  now.for_each([&](RecallPlan plan, RecallFilter filter, const RecallCell& cell) {
    v1::RecallCell& told = *out.add_recalls();
    told.set_plan(std::string(to_string(plan)));
    told.set_filter(std::string(to_string(filter)));
    told.set_samples(cell.samples);
    told.set_wanted(cell.wanted);
    told.set_found(cell.found);
  });
  out.set_recall_skipped(now.skipped);
  if (now.recent.samples > 0) out.set_recall(now.recall());
}

void fill_engine_stats(const Engine& engine, v1::StatsResponse& out) {
  const ServedIndex index = engine.present();
  out.set_queries_in_flight(engine.running());
  out.set_queries_queued(engine.queued());
  out.set_expected_wait_us(ticks_to_us(engine.expected(1, 0, now_ticks())));
  // Relaxed, because each is a sample on its own.
  out.set_reads_in_flight(engine.counters().reads_in_flight.load(std::memory_order_relaxed));
  out.set_stalls(engine.counters().stalls.load(std::memory_order_relaxed));
  out.set_code_bytes(index.code_bytes);
  out.set_offset_bytes(index.offset_bytes);
  out.set_cache_bytes(index.cache_bytes);
  const auto bytes = static_cast<double>(index.code_bytes + index.offset_bytes + index.cache_bytes);
  out.set_compute_dram_bytes_per_vector(
      bytes / static_cast<double>(std::max<std::uint64_t>(1, index.count)));
  for (const tiers::NodeSet::Member& state : engine.memory_nodes()) {
    v1::MemoryNodeState& node = *out.add_memory_nodes();
    node.set_address(state.address);
    node.set_attached(state.attached);
    node.set_node(state.node);
  }
}

grpc::Status no_index(const Supervisor& supervisor) {
  return rpc::to_grpc(StatusCode::unavailable,
                      fmt::format("waiting for {}", supervisor.waiting_for()));
}

grpc::Status too_late(Ticks expected, Ticks left) {
  return rpc::to_grpc(StatusCode::resource_exhausted,
                      fmt::format("too late: the answer is expected in {:.1f} ms, after four "
                                  "fifths of the {:.1f} ms to the deadline; ask again when the "
                                  "queue is shorter, or allow more time",
                                  ticks_to_us(expected) / 1e3, ticks_to_us(left) / 1e3));
}

}  // namespace

/// One Search from its arrival to OnDone. It deletes itself.
class QueryService::SearchCall final : public grpc::ServerUnaryReactor {
 public:
  SearchCall(ServiceStatistics& statistics, RecallSampler* recall, v1::SearchResponse& response)
      : statistics_(statistics), recall_(recall), response_(response) {}

  /// Ties a batch to this call. Nothing of the call is used after its Finish.
  void expect(Batch& batch, const ServedIndex& index) {
    batch.cancel_flag = cancelled_;
    if (!batch.shape().select.empty() && index.schema) schema_ = *index.schema();
    batch.answer = [this, generation = index.generation](Batch& done) { answer(done, generation); };
  }

 private:
  void answer(Batch& batch, std::uint64_t generation) {
    batch.refuse_late_answer(now_ticks());
    statistics_.record(batch);
    if (recall_ != nullptr) recall_->offer(batch);
    response_.set_generation(generation);
    Status first;
    bool any_ok = false;
    std::size_t room = changes::kMostReadAttributes;
    for (QueuedTask& task : batch.tasks()) {
      v1::QueryResult& out = *response_.add_results();
      const Status selected = fill_attributes(task, batch, schema_, room, out);
      if (!selected.ok()) task.answer.status = selected;
      any_ok |= task.answer.status.ok();
      if (first.ok()) first = task.answer.status;
      fill_result(task, batch, out);
    }
    Finish(any_ok ? grpc::Status::OK : rpc::to_grpc(first));
  }

  void OnCancel() override { cancelled_->store(true, std::memory_order_relaxed); }
  void OnDone() override { delete this; }

  ServiceStatistics& statistics_;
  RecallSampler* const recall_;
  v1::SearchResponse& response_;
  layout::Schema schema_;  ///< set where the call selects columns
  const std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
};

QueryService::QueryService(Supervisor& supervisor, ServiceStatistics& statistics,
                           QueryServiceOptions options, RecallSampler* recall)
    : supervisor_(supervisor), statistics_(statistics), options_(options), recall_(recall) {}

grpc::ServerUnaryReactor* QueryService::Search(grpc::CallbackServerContext* context,
                                               const v1::SearchRequest* request,
                                               v1::SearchResponse* response) {
  auto* call = new SearchCall(statistics_, recall_, *response);
  const Verdict verdict = admit(*context, *request, *call);
  if (!verdict.status.ok()) {
    const auto queries = static_cast<std::uint64_t>(std::max(1, request->queries_size()));
    statistics_.refuse(rpc::to_status_code(verdict.status.error_code()), verdict.refusal, queries);
    if (verdict.refusal != Refusal::none) {
      tell_refusal(*context, to_string(verdict.refusal), verdict.retry_after);
    }
    call->Finish(verdict.status);
  }
  return call;
}

QueryService::Verdict QueryService::admit(grpc::CallbackServerContext& context,
                                          const v1::SearchRequest& request, SearchCall& call) {
  const Ticks deadline = deadline_of(context, options_.default_deadline);
  if (draining_.load(std::memory_order_relaxed)) {
    return {rpc::to_grpc(StatusCode::unavailable, "the compute node is shutting down")};
  }
  const std::shared_ptr<Engine> engine = supervisor_.engine();
  if (engine == nullptr) return {no_index(supervisor_)};
  Admission admission = check_request(request, engine->index(), options_.limits);
  if (!admission.wrong.empty()) {
    return {rpc::to_grpc(StatusCode::invalid_argument, admission.wrong)};
  }
  admission.shape.deadline = deadline;
  return submit(*engine, request, admission.shape, call);
}

QueryService::Verdict QueryService::submit(Engine& engine, const v1::SearchRequest& request,
                                           const BatchShape& shape, SearchCall& call) {
  const Ticks now = now_ticks();
  if (shape.deadline <= now) {
    return {rpc::to_grpc(StatusCode::deadline_exceeded, "the deadline passed before admission")};
  }
  const Ticks expected = engine.expected(shape.queries, shape.work, now);
  if (const Ticks left = shape.deadline - now; comes_too_late(expected, left)) {
    return {too_late(expected, left), Refusal::too_late, expected + expected / 4 - left};
  }
  auto batch = make_batch(request, engine.index(), shape);
  call.expect(*batch, engine.index());
  const Status status = engine.submit(batch);
  if (status.ok()) return {grpc::Status::OK};
  return {rpc::to_grpc(status.code(), fmt::format("{}: {} queries came, {} of {} places are taken",
                                                  status.message(), shape.queries, engine.queued(),
                                                  engine.options().queue)),
          Refusal::queue_full, expected / 2};
}

grpc::ServerUnaryReactor* QueryService::Describe(grpc::CallbackServerContext* context,
                                                 const v1::DescribeRequest*,
                                                 v1::DescribeResponse* response) {
  const std::shared_ptr<Engine> engine = supervisor_.engine();
  response->set_attached(engine != nullptr);
  response->set_version(std::string(version()));
  response->set_memory_node(supervisor_.waiting_for());
  response->set_cores(options_.threads);
  response->set_slots_per_core(options_.slots_per_core);
  response->set_default_list(options_.limits.default_list);
  response->set_default_width(options_.limits.default_width);
  response->set_default_probe(options_.limits.default_probe);
  response->set_max_probe(options_.limits.max_probe);
  response->set_max_k(options_.limits.max_k);
  response->set_max_list(options_.limits.max_list);
  response->set_max_width(options_.limits.max_width);
  response->set_max_queries_per_call(options_.limits.max_queries);
  if (engine != nullptr) describe_index(engine->present(), *response);
  return finish_now(*context, grpc::Status::OK);
}

void QueryService::describe_index(const ServedIndex& index, v1::DescribeResponse& response) const {
  response.set_generation(index.generation);
  response.set_type(to_proto(index.source_type));
  response.set_stored_type(to_proto(index.stored_type));
  response.set_metric(to_proto(index.metric));
  response.set_dimension(index.dimension);
  response.set_max_queries_per_call(
      most_queries(options_.limits, packed_bytes(index.source_type, index.dimension)));
  response.set_count(index.count);
  response.set_degree(index.degree);
  response.set_clusters(index.clusters);
  response.set_layout(index.layout);
  response.set_refines(index.refines);
  response.set_tier(index.tier);
  response.set_code_bits(index.code_bits);
  response.set_index_bytes(index.index_bytes);
  response.set_compute_dram_bytes(index.code_bytes + index.offset_bytes + index.cache_bytes +
                                  index.search_bytes);
  response.set_cache_bytes(index.cache_bytes);
  response.set_search_bytes(index.search_bytes);
  response.set_memory_budget(index.memory_budget);
  response.set_page_search(index.page_search);
  if (index.schema) response.set_schema(layout::to_string(*index.schema()));
  if (!index.following) return;
  response.set_freshness_ms(index.following->stale_us / 1e3);
  response.set_follow_failure(index.following->failure);
}

grpc::ServerUnaryReactor* QueryService::Stats(grpc::CallbackServerContext* context,
                                              const v1::StatsRequest*,
                                              v1::StatsResponse* response) {
  fill_stats(statistics_.snapshot(), *response);
  if (recall_ != nullptr) fill_recall(recall_->snapshot(), *response);
  const std::chrono::duration<double> uptime = std::chrono::steady_clock::now() - started_;
  response->set_uptime_seconds(uptime.count());
  response->set_reattaches(supervisor_.reopened());
  response->set_switches(supervisor_.switched());
  response->set_switches_refused(supervisor_.refused().sum());
  const std::shared_ptr<Engine> engine = supervisor_.engine();
  response->set_attached(engine != nullptr);
  if (engine == nullptr) return finish_now(*context, grpc::Status::OK);
  response->set_generation(engine->index().generation);
  fill_engine_stats(*engine, *response);
  return finish_now(*context, grpc::Status::OK);
}

namespace {

/// Returns why there are no counts.
grpc::Status no_probes(const Engine& engine, const v1::ProbeCountsRequest& request) {
  const bool collection = engine.index().user_ids;
  if (collection != request.has_segment()) {
    return rpc::to_grpc(StatusCode::failed_precondition,
                        collection ? "probes of a collection are counted by segment: say which"
                                   : "segments are those of a collection, and this node serves an "
                                     "index");
  }
  if (engine.index().kind != layout::IndexKind::cluster) {
    return rpc::to_grpc(StatusCode::failed_precondition,
                        fmt::format("probes are counted in clusters, and this node serves {}",
                                    collection ? "a collection of graphs" : "a graph"));
  }
  return rpc::to_grpc(StatusCode::not_found,
                      fmt::format("the collection has no segment {} now", request.segment()));
}

}  // namespace

grpc::ServerUnaryReactor* QueryService::ProbeCounts(grpc::CallbackServerContext* context,
                                                    const v1::ProbeCountsRequest* request,
                                                    v1::ProbeCountsResponse* response) {
  const std::shared_ptr<Engine> engine = supervisor_.engine();
  if (engine == nullptr) return finish_now(*context, no_index(supervisor_));
  const std::optional<search::ProbeTally> probes =
      request->has_segment() ? engine->segment_probes(request->segment()) : engine->probes();
  if (!probes) return finish_now(*context, no_probes(*engine, *request));
  response->set_dataset(probes->dataset);
  response->set_centroids_xxh3(probes->centroids_xxh3);
  response->mutable_counts()->Add(probes->counts.begin(), probes->counts.end());
  response->set_generation(engine->index().generation);
  return finish_now(*context, grpc::Status::OK);
}

}  // namespace farvec::compute_node
