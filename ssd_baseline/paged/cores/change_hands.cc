#include "ssd_baseline/paged/cores/change_hands.h"

#include <utility>

namespace farvec::paged {
namespace {

HnswWriteCounts& operator+=(HnswWriteCounts& sum, const HnswWriteCounts& part) {
  sum.inserted += part.inserted;
  sum.replaced += part.replaced;
  sum.deleted += part.deleted;
  sum.retries += part.retries;
  sum.left_out += part.left_out;
  sum.edges_back += part.edges_back;
  sum.pages_added += part.pages_added;
  return sum;
}

PartitionPlacementCounts& operator+=(PartitionPlacementCounts& sum,
                                     const PartitionPlacementCounts& part) {
  sum.placed += part.placed;
  sum.extended += part.extended;
  sum.fallback += part.fallback;
  sum.wished += part.wished;
  sum.given += part.given;
  return sum;
}

}  // namespace

ChangeCounts& ChangeCounts::operator+=(const ChangeCounts& other) {
  counts += other.counts;
  written += other.written;
  placement += other.placement;
  return *this;
}

HnswWriter& ChangeHands::writer() {
  if (!writer_) {
    HnswWriterOptions options{.reads = reads_};
    options.placement = &placement_;
    writer_.emplace(hnsw_, fetcher_, options);
  }
  return *writer_;
}

VertexGetter& ChangeHands::getter() {
  if (!getter_) getter_.emplace(hnsw_, fetcher_);
  return *getter_;
}

ChangeCounts ChangeHands::take_counts() {
  ChangeCounts taken;
  if (getter_) taken.counts.meta += std::exchange(getter_->counts(), {});
  if (!writer_) return taken;
  taken.counts += std::exchange(writer_->counts(), {});
  taken.written = std::exchange(writer_->written(), {});
  taken.placement = std::exchange(placement_.counts(), {});
  return taken;
}

std::size_t ChangeHands::dram_bytes() const {
  return writer_ ? writer_->dram_bytes() : 0;
}

}  // namespace farvec::paged
