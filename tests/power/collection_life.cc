#include "tests/power/collection_life.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <span>
#include <thread>
#include <utility>

#include "base/error.h"
#include "collection/segment/segment_folder.h"
#include "tests/power/die.h"

namespace farvec::power {
namespace {

using collection::Collection;

constexpr unsigned kWriters = 3;
constexpr std::uint32_t kDimension = 12;
constexpr std::uint64_t kIdsEach = 300;
constexpr std::uint64_t kMostInBatch = 25;
/// In the journal, of the making of the collection.
constexpr unsigned kMaker = 999;
constexpr double kPatienceUs = 300e6;

layout::CollectionManifest shape() {
  layout::CollectionManifest shape;
  shape.metric = Metric::l2;
  shape.source_type = ElementType::f32;
  shape.stored_type = ElementType::f32;
  shape.dimension = kDimension;
  shape.options.memtable_rows = 200;
  shape.options.merge_fanout = 3;
  shape.options.degree = 12;
  shape.options.list = 24;
  return shape;
}

collection::CollectionAccess access() {
  collection::CollectionAccess access;
  access.segments = collection::SegmentAccess::on("dram");
  access.segments.threads = 1;
  return access;
}

Change change_of(unsigned writer, std::uint64_t number, const Rows& /*now*/) {
  Random random = random_of(writer, number);
  Change change;
  change.inserts = random.below(4) != 0;
  change.imports = random.below(16) == 0;
  const std::uint64_t first = random.below(kIdsEach);
  for (std::uint64_t i = 0, count = 1 + random.below(kMostInBatch); i < count; ++i) {
    change.ids.push_back(writer * kIdsEach + (first + i) % kIdsEach);
    if (change.inserts) change.rows.push_back(random_row(random, kDimension));
  }
  return change;
}

/// What changes no row, now and then.
void maintain(unsigned writer, std::uint64_t number, Collection& collection) {
  switch (Random(random_of(writer, number).next()).below(60)) {
    case 0:
      return void(collection.flush());
    case 1:
      return void(collection.compact());
    default:
      return;
  }
}

}  // namespace

CollectionLife::CollectionLife(std::filesystem::path folder, Journal& journal)
    : folder_(std::move(folder)),
      journal_(journal),
      script_{'c', "collection", kWriters, kIdsEach, change_of} {}

void CollectionLife::make() {
  std::filesystem::remove_all(folder_);
  Collection::create(folder_, shape());
  journal_.done(script_.index, kMaker, 0);
}

std::string CollectionLife::check() {
  if (journal_.history(script_.index, kMaker).done.empty()) make();
  const auto start = std::chrono::steady_clock::now();
  collection_ = std::make_unique<Collection>(folder_, access());
  const std::chrono::duration<double, std::milli> opened = std::chrono::steady_clock::now() - start;
  const collection::ViewPointer view = collection_->view();
  for (const auto& bulk : view->segments)
    bulk.segment->folder().directory().verify({.quiet = true});
  const Rows rows = stored_rows();
  if (collection::size_of(*view).live != rows.size()) {
    throw Error("collection: {} rows are live, {} have an id that was sent",
                collection::size_of(*view).live, rows.size());
  }
  begins_ = settle(script_, journal_, rows);
  const collection::Recovery& recovery = collection_->recovery();
  return fmt::format("collection opened in {:.0f} ms ({} changes, {} torn bytes, {} segments): {}",
                     opened.count(), recovery.changes, recovery.torn_bytes, view->segments.size(),
                     words_of(begins_));
}

Rows CollectionLife::stored_rows() const {
  std::vector<std::uint64_t> ids(kWriters * kIdsEach);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = i;
  const changes::FoundRows found =
      collection_->get(ids, {.until = now_ticks() + us_to_ticks(kPatienceUs)});
  Rows rows;
  const std::byte* next = found.rows.data();
  for (const std::uint64_t id : ids) {
    if (!found.found[id]) continue;
    std::vector<float>& row = rows[id];
    row.resize(kDimension);
    std::memcpy(row.data(), next, kDimension * sizeof(float));
    next += kDimension * sizeof(float);
  }
  return rows;
}

void CollectionLife::live() {
  std::vector<std::thread> threads;
  for (unsigned writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([this, writer] { or_die([&] { write(writer); }); });
  }
  for (std::thread& thread : threads) thread.join();
  throw Error("collection: its writers have ended");
}

void CollectionLife::write(unsigned writer) {
  for (Beginning& now = begins_[writer];; ++now.next) {
    const Change change = script_.change(writer, now.next, now.rows);
    journal_.begin(script_.index, writer, now.next);
    carry_out(change);
    journal_.done(script_.index, writer, now.next);
    maintain(writer, now.next, *collection_);
  }
}

void CollectionLife::carry_out(const Change& change) {
  const changes::Patience patience{.until = now_ticks() + us_to_ticks(kPatienceUs)};
  changes::Receipt receipt;
  if (!change.inserts) {
    collection_->erase(change.ids, patience, receipt);
  } else {
    std::vector<float> packed;
    for (const auto& row : change.rows) packed.insert(packed.end(), row.begin(), row.end());
    const VectorView rows =
        packed_view(packed.data(), change.ids.size(), kDimension, ElementType::f32);
    if (change.imports) {
      (void)collection_->import({rows, change.ids});
    } else {
      collection_->insert({rows, change.ids}, patience, receipt);
    }
  }
}

}  // namespace farvec::power
