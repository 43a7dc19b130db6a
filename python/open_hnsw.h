// An OpenHnsw is an HNSW graph on pages, opened to be changed and searched.
#pragma once

#include <cstdint>
#include <memory>
#include <semaphore>
#include <span>
#include <string>

#include "base/progress.h"
#include "base/stored_form.h"
#include "python/arrays.h"
#include "python/core_pool.h"
#include "python/searcher.h"
#include "ssd_baseline/paged/cores/changing_hnsw.h"
#include "ssd_baseline/paged/cores/hnsw_crew.h"
#include "ssd_baseline/paged/graph/hnsw_access.h"

namespace farvec::python {

struct HnswChoices {
  std::string buffer = {};  ///< empty: paged::kUsualBuffer
  std::string durability = "commit";
  std::string search = "pipelined";
  std::uint32_t min_complete = paged::HnswReadOptions{}.min_complete;
  std::uint32_t slots = 8;
  std::uint32_t threads = 1;
  std::uint32_t concurrency = 1;  ///< calls that work on it at once; others wait

  std::uint64_t operations() const { return std::uint64_t{concurrency} * threads * slots; }
};

class OpenHnsw final : public Searcher {
 public:
  /// Opens the graph. Throws Error when another process has it open, or something is damaged.
  OpenHnsw(const std::string& folder, const HnswChoices& choices);

  ElementType type() const override { return hnsw_->config().type; }
  /// With the cosine only directions count: a graph of halves takes all types that become halves.
  bool takes(ElementType given) const override { return stored_type(metric(), given) == type(); }
  std::uint32_t dimension() const override { return hnsw_->config().dimension; }
  Metric metric() const override { return hnsw_->config().metric; }
  std::string place() const override { return folder_; }
  std::optional<std::uint64_t> count() const override { return live(); }
  search::SearchBounds bounds() const override {
    return {.kind = layout::IndexKind::graph, .k = kMostList, .list = kMostList, .width = 1};
  }
  Answer search(const VectorView& queries, const Call& call) override;
  nlohmann::ordered_json describe() const override;

  std::uint64_t live() const { return hnsw_->describe().state.vertices; }
  /// Says how long each operation of a call, and the wait for other calls, may take.
  struct Patience {
    double seconds = 60;
    Interruption interrupted = {};
  };
  /// Inserts rows in the order that `order` names. This and the next functions throw Error,
  /// StatusError and WorkInterrupted.
  void insert(const VectorView& rows, std::span<const std::uint64_t> ids, const std::string& order,
              const Patience& patience, changes::Receipt& receipt);
  void erase(std::span<const std::uint64_t> ids, const Patience& patience,
             changes::Receipt& receipt);
  changes::FoundRows get(std::span<const std::uint64_t> ids, const Patience& patience) const;
  /// Removes marked vertices from the graph; returns how many.
  std::uint64_t vacuum(const Patience& patience);

 private:
  class Turn;
  CorePointer make_core();
  paged::HnswCrewOptions crew_options(const Patience& patience) const;
  paged::ChangingHnsw changing(const Patience& patience,
                               const indexing::OrderOptions& order = {}) const;

  const std::string folder_;
  const HnswChoices choices_;
  const std::unique_ptr<paged::PagedHnsw> hnsw_;
  mutable std::counting_semaphore<> turns_;  ///< for changes and reads by id
  CorePool pool_;
};

}  // namespace farvec::python
