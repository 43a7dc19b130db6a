// ChangingHnsw changes a paged HNSW through the interface that all indexes have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "changes/changing.h"
#include "indexing/order/insertion_order.h"
#include "ssd_baseline/paged/cores/background_vacuum.h"
#include "ssd_baseline/paged/cores/hnsw_crew.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged {

/// Changes a graph on pages. Ids are below 2^32 - 1; a larger one is refused, and the message names
/// it. A version is a position in the graph's log. flush() writes every changed page to the disk;
/// compact() is a vacuum. Where cores serve the crew's queue, it goes on after its caller has given
/// up.
///
/// An id that is in the graph ends the insert, or its row is replaced, as the crew has it. Receipts
/// count no row of a call that fails, though the rows before the failed one are in. Rows that get()
/// returns are each of their own moment.
class ChangingHnsw final : public changes::Changing {
 public:
  /// Borrows the graph. A call ends by its own deadline as well as by the crew's; its interruption,
  /// where it has one, replaces the crew's.
  /// The rows of each call are inserted in the given order, in which near rows find their pages in
  /// the buffer.
  explicit ChangingHnsw(PagedHnsw& hnsw, HnswCrewOptions crew = {},
                        const indexing::OrderOptions& order = {});

  changes::RowShape row_shape() const override;
  /// See changes::Changing. With the cosine only directions count: rows of every type that is
  /// stored as the graph's type are taken. Rows with attributes are refused.
  void check(const changes::RowBatch& batch) const override;
  void insert(const changes::RowBatch& batch, const changes::Patience& patience,
              changes::Receipt& receipt) override;
  void erase(std::span<const std::uint64_t> ids, const changes::Patience& patience,
             changes::Receipt& receipt) override;
  changes::FoundRows get(std::span<const std::uint64_t> ids,
                         const changes::Patience& patience) const override;
  bool flush(const Interruption& give_up = {}) override;
  bool compact(const Interruption& give_up = {}) override;
  nlohmann::ordered_json now() const override;

  /// Says what compact() has done, and does.
  VacuumState vacuum_state() const { return vacuum_.state(); }
  /// Ends the vacuum that runs, and lets none begin.
  void stop_vacuum() { vacuum_.stop(); }

 private:
  HnswCrew crew(const changes::Patience& patience) const;
  void require_all(const HnswWork& work, std::size_t count,
                   const changes::Patience& patience) const;

  PagedHnsw& hnsw_;
  const HnswCrewOptions crew_;
  const indexing::OrderOptions order_;
  BackgroundVacuum vacuum_;
};

}  // namespace farvec::paged
