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
#include "python/pooled_search.h"
#include "ssd_baseline/paged/cores/paged_part.h"
#include "ssd_baseline/paged/graph/hnsw_facts.h"

namespace farvec::python {
namespace {

using paged::HnswCrew;

paged::HnswReadOptions reads_of(const HnswChoices& choices) {
  return {parsed("search", paged::parse_read_mode, choices.search), choices.min_complete};
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
      hnsw_(paged::open_hnsw(folder,
                             {choices.buffer, choices.durability, "buffer", choices.operations()})),
      turns_(choices.concurrency),
      pool_([this] { return make_core(); }, choices.threads * choices.concurrency) {
  (void)reads_of(choices);
}

CorePointer OpenHnsw::make_core() {
  return paged::PagedCores(*hnsw_, {.reads = reads_of(choices_), .slots = choices_.slots})
      .make_core();
}

paged::HnswCrewOptions OpenHnsw::crew_options(const Patience& patience) const {
  paged::HnswCrewOptions crew;
  crew.reads = reads_of(choices_);
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
  const search::SearchParameters parameters = search::check_limits(call.asked, bounds(), names);
  const dataset::VectorSet stored = indexing::stored_copy(queries, hnsw_->config().metric, 1);
  return pooled_search(pool_, choices_.threads, stored.view(), {parameters, call});
}

paged::ChangingHnsw OpenHnsw::changing(const Patience& patience,
                                       const indexing::OrderOptions& order) const {
  return paged::ChangingHnsw(*hnsw_, crew_options(patience), order);
}

void OpenHnsw::insert(const VectorView& rows, std::span<const std::uint64_t> ids,
                      const std::string& order, const Patience& patience,
                      changes::Receipt& receipt) {
  const indexing::OrderOptions chosen = parsed("order", indexing::parse_order, order);
  paged::ChangingHnsw graph = changing(patience, chosen);
  graph.check({rows, ids});
  const Turn turn(*this, patience);
  graph.insert({rows, ids}, {.interrupted = patience.interrupted}, receipt);
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
  facts["buffer"] = choices_.buffer.empty() ? paged::kUsualBuffer : choices_.buffer;
  facts["buffer_bytes"] = std::uint64_t{hnsw_->store().frames()} * hnsw_->shape().page_bytes;
  facts["durability"] = choices_.durability;
  facts["search"] = choices_.search;
  facts["slots"] = choices_.slots;
  facts["threads"] = choices_.threads;
  return facts;
}

}  // namespace farvec::python
