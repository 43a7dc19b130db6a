#include "postgres/engine/open_index.h"

#include "base/status_error.h"
#include "base/types.h"
#include "changes/batches.h"
#include "changes/changing.h"
#include "changes/receipt.h"
#include "postgres/engine/picked_rows.h"
#include <algorithm>
#include <utility>

namespace farvec::postgres {
namespace {

constexpr ToldBuild kNoBuild{.rows = 0, .linked = 0, .finished = 1, .zero = 0};

/// Raises a number that others raise too.
void raise(std::atomic<std::uint64_t>& number, std::uint64_t to) {
  std::uint64_t now = number.load(std::memory_order_relaxed);
  while (now < to && !number.compare_exchange_weak(now, to, std::memory_order_seq_cst)) {
  }
}

/// Inserts the rows of a batch that share no vector.
void insert_rest(collection::Collection& collection, SharedVectors& shared,
                 const changes::RowBatch& batch, const Sharing& sharing, Ticks until) {
  changes::Receipt receipt;
  const std::optional<std::vector<std::size_t>> left = shared.take(batch, sharing);
  if (!left) {
    collection.insert(batch, {.until = until}, receipt);
    return shared.inserted(batch, sharing);
  }
  if (left->empty()) return;
  const PickedRows rest(batch, *left);
  collection.insert(rest.batch(), {.until = until}, receipt);
  shared.inserted(rest.batch(), sharing);
}

}  // namespace

OpenIndex::OpenIndex(std::filesystem::path folder, IndexName name, OpenedFolder opened)
    : folder_(std::move(folder)),
      name_(name),
      collection_(std::move(opened.collection)),
      shared_({.folder = folder_,
               .name = name,
               .collection = *collection_,
               .list = std::move(opened.aliases),
               .covered = opened.mark.covered}),
      mark_(std::move(opened.mark)),
      covered_(mark_.covered),
      marking_(mark_.covered) {}

void OpenIndex::load() const {
  const collection::ViewPointer view = collection_->view();
  for (const collection::View::Bulk& bulk : view->segments) bulk.segment->records().load();
}

bool OpenIndex::insert(std::span<const std::uint64_t> vids, std::span<const std::byte> vectors,
                       const layout::TupleView& tuples, Ticks until, const Sharing& sharing) {
  const layout::CollectionManifest& shape = collection_->shape();
  const std::size_t row_bytes = packed_bytes(shape.source_type, shape.dimension);
  if (vectors.size() != vids.size() * row_bytes) {
    throw StatusError(StatusCode::invalid_argument, "{} vectors have {} bytes and should have {}",
                      vids.size(), vectors.size(), vids.size() * row_bytes);
  }
  const VectorView rows =
      packed_view(vectors.data(), vids.size(), shape.dimension, shape.source_type);
  const changes::RowBatch batch{rows, vids, tuples};
  collection_->check(batch);
  const std::shared_ptr<IndexBuild> build = building();
  if (build != nullptr) return build->take(batch);
  insert_rest(*collection_, shared_, batch, sharing, until);
  if (vids.empty()) return true;
  const auto [least, most] = std::minmax_element(vids.begin(), vids.end());
  if (*least < marking_.load(std::memory_order_seq_cst)) {
    make_durable(until);
  }
  raise(told_, *most + 1);
  changed_.store(true, std::memory_order_release);
  return true;
}

void OpenIndex::begin_build(std::size_t most_bytes) {
  const std::lock_guard lock(build_mutex_);
  build_ = std::make_shared<IndexBuild>(*collection_, most_bytes);
}

std::shared_ptr<IndexBuild> OpenIndex::building() const {
  const std::lock_guard lock(build_mutex_);
  return build_;
}

ToldBuild OpenIndex::wait_for_room(Ticks until) {
  const std::shared_ptr<IndexBuild> build = building();
  return build == nullptr ? kNoBuild : build->wait_for_room(until);
}

ToldBuild OpenIndex::build(Ticks until) {
  const std::shared_ptr<IndexBuild> build = building();
  if (build == nullptr) return kNoBuild;
  const ToldBuild told = build->advance(until);
  if (told.finished != 0) {
    const std::lock_guard lock(build_mutex_);
    build_.reset();
  }
  return told;
}

void OpenIndex::erase(std::span<const std::uint64_t> vids, Ticks until) {
  shared_.erase(vids, until);
  changed_.store(true, std::memory_order_release);
}

changes::FoundRows OpenIndex::get(std::span<const std::uint64_t> vids, Ticks until) const {
  return changes::get_all(*collection_, shared_.vertices_of(vids), {.patience = {.until = until}});
}

void OpenIndex::covers(std::uint64_t vid, bool ready) {
  raise(covered_, vid);
  if (ready) ready_.store(true, std::memory_order_relaxed);
  caught_up_.store(true, std::memory_order_release);
}

void OpenIndex::flush(std::uint64_t vid, Ticks until) {
  if (!caught_up()) {
    throw StatusError(StatusCode::failed_precondition,
                      "the index has to catch up with its table before it can be made durable");
  }
  const std::lock_guard lock(flushing_);
  raise(marking_, vid);
  make_durable(until);
  if (vid <= mark_.covered) return;
  layout::CoverageMark mark = mark_;
  mark.covered = vid;
  layout::write_coverage(folder_, mark);
  mark_ = mark;
  raise(covered_, vid);
}

void OpenIndex::make_durable(Ticks until) {
  shared_.save(until);
  collection_->make_durable({.until = until});
}

void OpenIndex::flush_told(Ticks until) {
  if (!ready() || !changed_.exchange(false, std::memory_order_acq_rel)) return;
  try {
    flush(told_.load(std::memory_order_relaxed), until);
  } catch (...) {
    changed_.store(true, std::memory_order_release);
    throw;
  }
}

ToldState OpenIndex::state() const {
  const bool is_ready = ready();  // it is read before the VID that it is ready from
  const collection::ViewSize size = size_of(*collection_->view());
  return {.covered = covered_.load(std::memory_order_relaxed),
          .rows = static_cast<std::uint64_t>(static_cast<std::int64_t>(size.live) +
                                             shared_.more_rows()),
          .bytes = size.segment_bytes,
          .memory = memory(),
          .ready = is_ready ? 1u : 0u,
          .zero = 0};
}

std::size_t OpenIndex::memory() const {
  const collection::ViewSize size = size_of(*collection_->view());
  const std::shared_ptr<IndexBuild> build = building();
  return size.segment_bytes + size.dram_bytes + shared_.bytes() +
         (build == nullptr ? 0 : build->bytes());
}

}  // namespace farvec::postgres
