#include "postgres/engine/open_index.h"

#include "base/full_disk.h"
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
/// More fresh rows than this that have no links become a segment when all have come: threads that
/// build make one sooner than the linker links them one by one.
constexpr std::uint64_t kManyUnlinked = 8192;
/// How long rows wait for room before they look whether a segment can be made, which gives it.
constexpr double kBetweenLooksUs = 100e3;
/// How long the background rests for rows that lack since the last that came: a process that tells
/// them may end.
constexpr double kRestUs = 2e6;

/// Raises a number that others raise too.
void raise(std::atomic<std::uint64_t>& number, std::uint64_t to) {
  std::uint64_t now = number.load(std::memory_order_relaxed);
  while (now < to && !number.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
  }
}

std::uint32_t next_opening() {
  static std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint64_t unlinked_in(const collection::View& view) {
  std::uint64_t rows = 0;
  for (const collection::View::Fresh& fresh : view.memtables) rows += fresh.memtable->unlinked();
  return rows;
}

/// Copies as much of a text as there is room for, with a zero after it.
template <std::size_t bytes>
void put(char (&to)[bytes], const std::string& text) {
  text.copy(to, bytes - 1);
}

}  // namespace

OpenIndex::OpenIndex(std::filesystem::path folder, IndexName name, OpenedFolder opened)
    : folder_(std::move(folder)),
      name_(name),
      place_(std::move(opened.place)),
      segments_(std::move(opened.segments)),
      collection_(std::move(opened.collection)),
      shared_({.folder = folder_,
               .name = name,
               .collection = *collection_,
               .list = std::move(opened.aliases)}),
      opening_(next_opening()) {}

void OpenIndex::load() const {
  const collection::ViewPointer view = collection_->view();
  for (const collection::View::Bulk& bulk : view->segments) bulk.segment->records().load();
}

bool OpenIndex::insert(std::span<const std::uint64_t> vids, std::span<const std::byte> vectors,
                       const layout::TupleView& tuples, Ticks until, const Manner& manner) {
  const layout::CollectionManifest& shape = collection_->shape();
  const std::size_t row_bytes = packed_bytes(shape.source_type, shape.dimension);
  if (vectors.size() != vids.size() * row_bytes) {
    throw StatusError(StatusCode::invalid_argument, "{} vectors have {} bytes and should have {}",
                      vids.size(), vectors.size(), vids.size() * row_bytes);
  }
  const VectorView rows =
      packed_view(vectors.data(), vids.size(), shape.dimension, shape.source_type);
  const changes::RowBatch batch{rows, vids, tuples};
  const std::shared_ptr<IndexBuild> build = building();
  if (build != nullptr || manner.coming != Coming::many_that_lack) {
    collection_->check(batch);
  } else {
    // The collection checks the vectors of rows that lack once more: a part of them may be in.
    changes::check_shape(batch, *view()->schema);
  }
  if (build != nullptr) return build->take(batch);
  insert_rest(batch, until, manner);
  return true;
}

/// Inserts the rows of a batch that share no vector.
void OpenIndex::insert_rest(const changes::RowBatch& batch, Ticks until, const Manner& manner) {
  const std::optional<std::vector<std::size_t>> left = shared_.take(batch, manner.sharing);
  if (!left) return insert_all(batch, until, manner);
  if (left->empty()) return;
  const PickedRows rest(batch, *left);
  insert_all(rest.batch(), until, manner);
}

void OpenIndex::insert_all(const changes::RowBatch& batch, Ticks until, const Manner& manner) {
  const bool many = manner.coming == Coming::many_that_lack;
  if (many) rest();
  std::size_t done = 0;
  while (done < batch.rows.count) {
    const changes::RowBatch rest = batch.part(done, batch.rows.count - done);
    const Ticks look = std::min(until, now_ticks() + us_to_ticks(kBetweenLooksUs));
    changes::Receipt receipt;
    try {
      if (many) {
        collection_->insert_unlinked(rest, {.until = look}, receipt);
      } else {
        collection_->insert(rest, {.until = look}, receipt);
      }
    } catch (const changes::Refusal& refusal) {
      if (refusal.code == StatusCode::resource_exhausted && collection_->build_lacks_disk()) {
        throw FullDisk("{}", refusal.reason);
      }
      const bool waited = now_ticks() >= look && look < until;
      if (!waited || !collection_->build_failure().empty()) throw;
    }
    done += receipt.done;
  }
  shared_.inserted(batch, manner.sharing);
}

/// Nothing is searched before it has caught up, so links and segments can wait until then.
void OpenIndex::rest() {
  if (!caught_up()) collection_->rest(now_ticks() + us_to_ticks(kRestUs));
}

void OpenIndex::end_rest() {
  collection_->end_rest();
}

void OpenIndex::begin_build(std::size_t most_bytes) {
  end_rest();
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
  erased_.store(true, std::memory_order_relaxed);
}

/// Aliases have their hosts' vertices; hosts that have gone are there for these alone.
HeldVids OpenIndex::held_now() const {
  const layout::AliasList list = shared_.list();
  SharedRows rows{.more = {}, .gone = {list.gone.begin(), list.gone.end()}};
  rows.more.reserve(list.aliases.size());
  for (const layout::Alias& alias : list.aliases) rows.more.push_back(alias.id);
  return {view(), rows};
}

/// Returns what was there when the pass began. All VIDs of a pass came before it, so those that
/// come or go meanwhile are not compared, or have gone for ever. A pass that was given up is
/// compared with what is there now.
std::shared_ptr<const HeldVids> OpenIndex::held_for(const AskLacks& asked) {
  const std::lock_guard lock(pass_mutex_);
  if ((asked.pass & ASK_PASS_BEGINS) != 0) {
    pass_ = asked.number;
    pass_pages_.clear();
    pass_held_.reset();
  }
  if (asked.number == 0 || asked.number != pass_) {
    return std::make_shared<const HeldVids>(held_now());
  }
  pass_asked_at_ = now_ticks();
  if (pass_held_ == nullptr) pass_held_ = std::make_shared<const HeldVids>(held_now());
  return pass_held_;
}

/// What a pass holds keeps segments that were merged since.
void OpenIndex::forget_old_pass() {
  const std::lock_guard lock(pass_mutex_);
  if (now_ticks() - pass_asked_at_ > us_to_ticks(kRestUs)) pass_held_.reset();
}

/// Notes pages of a pass, and returns at its end the VIDs that are on none of them. Two passes at a
/// time are those of a request that was given up and of another one: only the last that began ends.
std::vector<std::uint64_t> OpenIndex::note_pages(const AskLacks& asked, const HeldVids& held,
                                                 std::span<const AskPage> pages) {
  const std::lock_guard lock(pass_mutex_);
  if (asked.number == 0 || asked.number != pass_) return {};
  for (const AskPage& page : pages) pass_pages_.insert(page.number);
  if ((asked.pass & ASK_PASS_ENDS) == 0) return {};
  pass_ = 0;
  pass_held_.reset();
  const auto all = std::exchange(pass_pages_, {});
  return held.elsewhere(all, {asked.from, asked.until});
}

/// What a comparison erases that was given up was dead when its pages were read, and is for ever.
std::vector<AskBits> OpenIndex::lacks(const AskLacks& asked, std::span<const AskPage> pages,
                                      Ticks until) {
  rest();
  const std::shared_ptr<const HeldVids> held = held_for(asked);
  PageDifferences found = compare_pages(*held, pages, {asked.from, asked.until});
  const std::vector<std::uint64_t> elsewhere = note_pages(asked, *held, pages);
  found.gone.insert(found.gone.end(), elsewhere.begin(), elsewhere.end());
  if (!found.gone.empty()) erase(found.gone, until);
  return std::move(found.lacks);
}

changes::FoundRows OpenIndex::get(std::span<const std::uint64_t> vids, Ticks until) const {
  changes::FoundRows rows =
      changes::get_all(*collection_, shared_.vertices_of(vids), {.patience = {.until = until}});
  shared_.put_own_values(vids, rows);
  return rows;
}

void OpenIndex::covers(std::uint64_t vid, bool ready) {
  raise(covered_, vid);
  if (ready) ready_.store(true, std::memory_order_relaxed);
  caught_up_.store(true, std::memory_order_release);
  if (unlinked_in(*view()) > kManyUnlinked) collection_->freeze_soon();
  end_rest();
}

void OpenIndex::save(Ticks until) {
  forget_old_pass();
  bool erased = erased_.exchange(false, std::memory_order_relaxed);
  try {
    erased = shared_.save(until) || erased;
  } catch (...) {
    if (erased) erased_.store(true, std::memory_order_relaxed);
    throw;
  }
  if (erased) collection_->save_soon();
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
          .opening = opening_};
}

std::size_t OpenIndex::memory() const {
  const collection::ViewSize size = size_of(*collection_->view());
  const std::shared_ptr<IndexBuild> build = building();
  return size.loaded_bytes + own_pool_bytes(size.segment_bytes) + size.dram_bytes +
         shared_.bytes() + (build == nullptr ? 0 : build->bytes());
}

/// A pool is filled later, and never has more than all records.
std::size_t OpenIndex::own_pool_bytes(std::uint64_t segment_bytes) const {
  if (place_.pool_bytes == 0 || segments_.shape.pools == nullptr) return 0;
  return std::min(segment_bytes, place_.pool_bytes);
}

ToldPlace OpenIndex::told_place() const {
  const collection::ViewPointer now = view();
  const layout::CollectionOptions& options = shape().options;
  ToldPlace told{};
  put(told.tier, segments_.tier->name());
  put(told.device, collection::modelled_device(segments_));
  if (segments_.shape.pools != nullptr) {
    told.pool = segments_.shape.pools->bytes();
    told.pool_used = segments_.shape.pools->used();
  }
  told.loaded = size_of(*now).loaded_bytes;
  told.layout = asked_layout(options.layout);
  told.code_bits = options.code_bits ? *options.code_bits + 1 : 0;
  told.segments = static_cast<std::uint32_t>(now->segments.size());
  return told;
}

}  // namespace farvec::postgres
