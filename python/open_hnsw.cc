#include "python/open_hnsw.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "base/parallel.h"
#include "base/status_error.h"
#include "indexing/order/insertion_order.h"
#include "indexing/source.h"
#include "python/arrays.h"
#include "python/errors.h"
#include "ssd_baseline/paged/graph/hnsw_facts.h"

namespace farvec::python {
namespace {

using paged::HnswCrew;
using paged::HnswWork;

search::QueryCounts counts_of(const paged::HnswCounts& counts, std::uint32_t page_bytes) {
  const paged::FetchCounts pages = pages_of(counts);
  search::QueryCounts sum;
  sum.hops = visited(counts);
  sum.reads = pages.asked - pages.hits;
  sum.bytes = sum.reads * page_bytes;
  sum.cache_hits = pages.hits;
  sum.distances = distances(counts);
  return sum;
}

}  // namespace

/// Is the turn of a call: while it lives, one call fewer may begin.
class OpenHnsw::Turn {
 public:
  Turn(const OpenHnsw& open, const Patience& patience) : turns_(open.turns_) {
    constexpr std::chrono::milliseconds kLook{100};
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(patience.seconds);
    while (!turns_.try_acquire_for(kLook)) {
      if (asked_to_end(patience.interrupted)) throw WorkInterrupted();
      if (std::chrono::steady_clock::now() < end) continue;
      throw StatusError(StatusCode::deadline_exceeded,
                        "other calls had the graph for {} s: concurrency allows {} at once",
                        patience.seconds, open.choices_.concurrency);
    }
  }
  ~Turn() { turns_.release(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::counting_semaphore<>& turns_;
};

OpenHnsw::OpenHnsw(const std::string& folder, const HnswChoices& choices)
    : folder_(folder),
      choices_(choices),
      hnsw_(paged::open_hnsw(folder, {choices.buffer, choices.durability, "buffer", true})),
      turns_(choices.concurrency) {
  (void)parsed("search", paged::parse_read_mode, choices.search);
}

paged::HnswCrewOptions OpenHnsw::crew_options(const Patience& patience) const {
  paged::HnswCrewOptions crew;
  crew.reads = {paged::parse_read_mode(choices_.search), choices_.min_complete};
  crew.threads = choices_.threads;
  crew.slots = choices_.slots;
  crew.deadline_us = patience.seconds * 1e6;
  crew.acknowledge_each = choices_.durability == "commit";
  if (patience.interrupted) crew.interrupted = patience.interrupted;
  return crew;
}

Answer OpenHnsw::search(const VectorView& queries, const Call& call) {
  search::SearchNames names = kArgumentNames;
  names.bound = ", the most there is";
  (void)search::check_limits(call.asked, bounds(), names);
  const Patience patience{call.deadline_seconds, call.interrupted};
  const Turn turn(*this, patience);
  const dataset::VectorSet stored = indexing::stored_copy(queries, hnsw_->config().metric, 1);
  const std::uint32_t k = call.asked.k;
  Answer answer;
  dataset::GroundTruth& out = answer.neighbors;
  out.queries = queries.count;
  out.k = k;
  out.ids.assign(out.queries * k, kInvalidNode);
  out.distances.assign(out.queries * k, std::numeric_limits<float>::infinity());
  paged::HnswAnswers answers{.k = k,
                             .list = std::max(call.asked.list, k),
                             .ids = out.ids,
                             .distances = out.distances,
                             .latency_us = {}};
  const HnswWork work = HnswCrew(*hnsw_, crew_options(patience)).search(stored.view(), answers);
  if (work.done < queries.count) throw WorkInterrupted();
  answer.totals = counts_of(work.counts, hnsw_->shape().page_bytes);
  return answer;
}

paged::ChangingHnsw OpenHnsw::changing(const Patience& patience,
                                       const indexing::OrderOptions& order) const {
  return paged::ChangingHnsw(*hnsw_, crew_options(patience), order);
}

void OpenHnsw::insert(const VectorView& rows, std::span<const std::uint64_t> ids,
                      const std::string& order, const Patience& patience,
                      changes::Receipt& receipt) {
  const indexing::OrderOptions chosen = parsed("order", indexing::parse_order, order);
  const Turn turn(*this, patience);
  paged::ChangingHnsw graph = changing(patience, chosen);
  graph.check(rows, ids);
  graph.insert(rows, ids, {.interrupted = patience.interrupted}, receipt);
}

void OpenHnsw::erase(std::span<const std::uint64_t> ids, const Patience& patience,
                     changes::Receipt& receipt) {
  const Turn turn(*this, patience);
  changing(patience).erase(ids, {.interrupted = patience.interrupted}, receipt);
}

changes::FoundRows OpenHnsw::get(std::span<const std::uint64_t> ids,
                                 const Patience& patience) const {
  const Turn turn(*this, patience);
  return changing(patience).get(ids, {.interrupted = patience.interrupted});
}

std::uint64_t OpenHnsw::vacuum(const Patience& patience) {
  const Turn turn(*this, patience);
  // The marked vertices before and afterwards do not tell the number: other calls delete meanwhile.
  return HnswCrew(*hnsw_, crew_options(patience)).vacuum().vacuum.removed;
}

nlohmann::ordered_json OpenHnsw::describe() const {
  nlohmann::ordered_json facts{{"index", folder_}, {"tier", "ssd"}};
  facts.update(paged::hnsw_json(hnsw_->describe()));
  facts["buffer"] = choices_.buffer;
  facts["durability"] = choices_.durability;
  facts["search"] = choices_.search;
  facts["slots"] = choices_.slots;
  facts["threads"] = choices_.threads;
  return facts;
}

}  // namespace farvec::python
