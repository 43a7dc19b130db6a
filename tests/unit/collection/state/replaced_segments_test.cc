#include "collection/state/replaced_segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/unit/collection/comes.h"

namespace farvec::collection {
namespace {

/// No test searches the segments.
class NoBytes final : public SegmentBytes {
 public:
  NoBytes() { manifest_.description = layout::GraphDescription{}; }
  const layout::Manifest& manifest() const override { return manifest_; }
  std::uint64_t count() const override { return 0; }
  search::SearchIndex load_index(const layout::LoadOptions&, tiers::NodeSet*) const override {
    throw Error("there is no index");
  }
  std::unique_ptr<tiers::IndexRecords> records(const layout::LoadOptions&) const override {
    return nullptr;
  }
  HugeBuffer read_records(const layout::LoadOptions&, tiers::NodeSet*) const override {
    throw Error("there is no index");
  }

 private:
  layout::Manifest manifest_;
};

std::shared_ptr<Segment> a_segment(std::uint64_t number) {
  return std::make_shared<Segment>(number, SegmentFacts{RowIds({number}), {}},
                                   std::make_unique<NoBytes>(), SegmentAccess{});
}

View view_of(std::initializer_list<std::shared_ptr<Segment>> segments) {
  View view;
  for (const auto& segment : segments) view.segments.push_back({segment, nullptr});
  return view;
}

/// What was deleted, in this order.
class Deleted {
 public:
  ReplacedSegments::Remove remove() {
    return [this](std::uint64_t number) {
      const std::lock_guard lock(mutex_);
      numbers_.push_back(number);
    };
  }
  std::vector<std::uint64_t> sorted() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::uint64_t> numbers = numbers_;
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> numbers_;
};

using Numbers = std::vector<std::uint64_t>;

TEST(ReplacedSegments, FilesGoWhenNoManifestNamesThemAndNothingHoldsThem) {
  Deleted deleted;
  ReplacedSegments replaced(deleted.remove());
  std::shared_ptr<Segment> held = a_segment(1);
  std::weak_ptr<Segment> unheld;
  {
    std::shared_ptr<Segment> other = a_segment(2);
    unheld = other;
    replaced.add(view_of({held, std::move(other), a_segment(3)}), view_of({}));
  }
  EXPECT_TRUE(comes([&] { return unheld.expired(); }));
  replaced.end_unused();
  EXPECT_EQ(deleted.sorted(), Numbers{}) << "a manifest may name them";
  replaced.note_manifest([](std::uint64_t number) { return number == 3; });
  replaced.end_unused();
  EXPECT_TRUE(comes([&] { return deleted.sorted() == Numbers{2}; }));
  held.reset();
  EXPECT_TRUE(comes([&] { return deleted.sorted() == Numbers{1, 2}; }));
  replaced.note_manifest([](std::uint64_t) { return false; });
  EXPECT_TRUE(comes([&] { return deleted.sorted() == Numbers{1, 2, 3}; }));
}

TEST(ReplacedSegments, WhatIsStillInTheViewStays) {
  Deleted deleted;
  ReplacedSegments replaced(deleted.remove());
  const std::shared_ptr<Segment> stays = a_segment(1);
  replaced.add(view_of({stays, a_segment(2)}), view_of({stays}));
  replaced.note_manifest([](std::uint64_t) { return false; });
  EXPECT_TRUE(comes([&] { return deleted.sorted() == Numbers{2}; }));
  EXPECT_EQ(stays.use_count(), 1);
}

TEST(ReplacedSegments, ADiscardedSegmentIsInNoManifest) {
  Deleted deleted;
  ReplacedSegments replaced(deleted.remove());
  replaced.discard(a_segment(7));
  EXPECT_TRUE(comes([&] { return deleted.sorted() == Numbers{7}; }));
}

TEST(ReplacedSegments, TheirEndLeavesWhatIsHeldOrNamed) {
  Deleted deleted;
  const std::shared_ptr<Segment> held = a_segment(1);
  {
    ReplacedSegments replaced(deleted.remove());
    replaced.add(view_of({held, a_segment(2)}), view_of({}));
    replaced.note_manifest([](std::uint64_t) { return false; });
    replaced.add(view_of({a_segment(3)}), view_of({}));
  }
  EXPECT_EQ(deleted.sorted(), Numbers{2});
  EXPECT_EQ(held.use_count(), 1);
}

TEST(ReplacedSegments, FilesOfAnotherProcessAreNotTouched) {
  std::weak_ptr<Segment> segment;
  ReplacedSegments replaced;
  {
    std::shared_ptr<Segment> own = a_segment(1);
    segment = own;
    replaced.add(view_of({std::move(own)}), view_of({}));
  }
  EXPECT_TRUE(comes([&] { return segment.expired(); }));
}

}  // namespace
}  // namespace farvec::collection
