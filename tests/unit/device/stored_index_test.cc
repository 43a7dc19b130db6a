#include "device/stored_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "base/error.h"
#include "layout/collection/index_attributes.h"
#include "layout/index/index_writer.h"
#include "tests/unit/device/failing_memory.h"
#include "tests/unit/layout/index/index_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::device {
namespace {

using layout::kDeviceUnitBytes;
using testing::HasSubstr;

constexpr std::size_t kBytes = 12 * kDeviceUnitBytes;

std::shared_ptr<DeviceStore> open_writer(const std::shared_ptr<Medium>& medium) {
  return DeviceStore::open(std::make_unique<FailingMemory>(medium), MemoryAccess::read_write);
}

class StoredIndexTest : public testing::Test {
 protected:
  StoredIndexTest() {
    layout::RandomIndex(500).write(folder_.file("first"));
    layout::RandomIndex(800, layout::LayoutKind::packed).write(folder_.file("second"));
    DeviceStore::format(std::make_unique<FailingMemory>(medium_), false);
  }

  layout::IndexDirectory directory(const std::string& name) const {
    return layout::IndexDirectory::open(folder_.file(name));
  }
  std::shared_ptr<const StoredIndex> put(const std::shared_ptr<DeviceStore>& store,
                                         const std::string& index, const std::string& name,
                                         std::uint32_t node = 0) const {
    return store_index(store, directory(index), node, name, {.threads = 1, .quiet = true});
  }

  const tests::TemporaryFolder folder_;
  const std::shared_ptr<Medium> medium_ = std::make_shared<Medium>(kBytes);
};

TEST_F(StoredIndexTest, RowsOfTenantsAreRefused) {
  const auto store = open_writer(medium_);
  const auto index = directory("first");
  const auto give = [&](const char* text, const layout::Value& value) {
    const layout::Schema schema = layout::parse_schema(text);
    layout::Tuples tuples;
    const std::vector<layout::Value> values{value};
    for (std::uint64_t row = 0; row < index.manifest().count; ++row) tuples.append(schema, values);
    layout::write_index_attributes(index.path(), index.manifest(), schema, tuples.view());
  };
  give("owner: string tenant", std::string("a"));
  EXPECT_THAT(tests::message_of([&] { (void)put(store, "first", ""); }),
              testing::HasSubstr("belong to tenants"));
  EXPECT_FALSE(store->directory().slots[0]);
  give("price: i64", std::int64_t{5});
  EXPECT_NE(put(store, "first", ""), nullptr);
}

TEST_F(StoredIndexTest, HasTheBytesOfTheDirectory) {
  const auto store = open_writer(medium_);
  for (const std::string name : {"first", "second"}) {
    const auto stored = put(store, name, "");
    EXPECT_EQ(stored->entry().name, name);
    const auto index = directory(name);
    EXPECT_EQ(stored->manifest_json(), layout::manifest_to_json(index.manifest()));
    for (std::uint32_t region = 0; region < layout::kRegionCount; ++region) {
      const HugeBuffer expected = index.load_region(region, {.threads = 1, .quiet = true});
      const auto found = stored->region(region);
      EXPECT_TRUE(std::ranges::equal(found, expected.span())) << name << " " << region;
    }
    std::atomic<std::uint64_t> verified{0};
    stored->verify(2, [&verified](std::uint64_t bytes) { verified += bytes; });
    EXPECT_EQ(verified, index.manifest().node_bytes(0));
  }
}

TEST_F(StoredIndexTest, IsFoundByWhatItIs) {
  const auto store = open_writer(medium_);
  const auto slot_of = [](const std::shared_ptr<const StoredIndex>& found) {
    return found ? std::optional(found->slot()) : std::nullopt;
  };
  EXPECT_EQ(slot_of(StoredIndex::find(store, directory("first"), 0)), std::nullopt);
  EXPECT_EQ(slot_of(StoredIndex::find(store, 0)), std::nullopt);
  const std::uint32_t first = put(store, "first", "same")->slot();
  const std::uint32_t second = put(store, "second", "same")->slot();
  EXPECT_EQ(slot_of(StoredIndex::find(store, directory("first"), 0)), first);
  EXPECT_EQ(slot_of(StoredIndex::find(store, directory("second"), 0)), second);
  EXPECT_EQ(slot_of(StoredIndex::find(store, directory("first"), 1)), std::nullopt);
  EXPECT_EQ(slot_of(StoredIndex::find(store, 0)), second) << "the newest";
  EXPECT_TRUE(store->remove(first));
  EXPECT_EQ(put(store, "first", "same")->slot(), first);
  EXPECT_EQ(slot_of(StoredIndex::find(store, 0)), first);
}

TEST_F(StoredIndexTest, AnyDamagedChunkIsNamed) {
  const auto store = open_writer(medium_);
  const auto stored = put(store, "first", "");
  for (std::uint32_t region = 0; region < layout::kRegionCount; ++region) {
    const auto bytes = stored->region(region);
    for (const std::size_t at : {std::size_t{64}, layout::kRegionHeaderBytes, bytes.size() - 1}) {
      bytes[at] ^= std::byte{2};
      EXPECT_THAT(tests::message_of([&] { stored->verify(1); }),
                  HasSubstr(fmt::format("of region {}", region)));
      bytes[at] ^= std::byte{2};
    }
    // Headers are looked at when the index is attached, too.
    bytes[20] ^= std::byte{2};
    EXPECT_THAT(tests::message_of([&] { (void)StoredIndex::attach(store, stored->slot()); }),
                HasSubstr("'first' on dev"));
    bytes[20] ^= std::byte{2};
  }
  stored->verify(1);
}

TEST_F(StoredIndexTest, ADamagedDescriptionIsLoadedAgain) {
  const auto store = open_writer(medium_);
  const auto stored = put(store, "first", "");
  store->bytes(stored->entry().description)[30] ^= std::byte{1};
  EXPECT_THAT(tests::message_of([&] { (void)StoredIndex::attach(store, stored->slot()); }),
              HasSubstr("the description of 'first' is damaged"));
  EXPECT_EQ(StoredIndex::find(store, directory("first"), 0), nullptr);
}

TEST_F(StoredIndexTest, SharesOfAPlacedIndexLieSideBySide) {
  layout::RandomIndex(500).write(folder_.file("placed"));
  layout::write_placement(folder_.file("placed"), [](const layout::IndexDirectory& index) {
    return std::optional(layout::make_placement(index.load_locator({.quiet = true}),
                                                index.manifest().region_bytes(),
                                                {.nodes = 2, .extent_bytes = 4096}));
  });
  const auto store = open_writer(medium_);
  for (const std::uint32_t node : {0u, 1u}) {
    const auto stored = put(store, "placed", "", node);
    stored->verify(1);
    std::vector<std::byte> expected(directory("placed").manifest().node_bytes(node, 0));
    directory("placed").load_share(0, node, expected, {.threads = 1, .quiet = true});
    EXPECT_TRUE(std::ranges::equal(stored->region(0), expected)) << node;
  }
  EXPECT_EQ(StoredIndex::find(store, directory("placed"), 1)->slot(), 1u);
}

TEST_F(StoredIndexTest, AnIndexThatDoesNotFitChangesNothing) {
  const auto store = open_writer(medium_);
  put(store, "first", "a");
  put(store, "first", "b");
  const auto before = store->directory();
  EXPECT_THAT(tests::message_of([&] { put(store, "first", "c"); }), HasSubstr("dev has no room"));
  EXPECT_EQ(store->directory().sequence, before.sequence);
}

TEST_F(StoredIndexTest, ALoadThatIsStoppedLeavesTheSpaceFree) {
  const auto store = open_writer(medium_);
  struct Stop {};
  layout::LoadOptions options{.threads = 1, .quiet = true};
  options.on_chunk = [](std::uint64_t) { throw Stop(); };
  EXPECT_THROW(store_index(store, directory("first"), 0, "", options), Stop);
  EXPECT_EQ(store->directory().free_bytes(), 11 * kDeviceUnitBytes);
  EXPECT_EQ(put(store, "first", "")->slot(), 0u);
}

TEST_F(StoredIndexTest, UnsafeShutdownsAreADoubtUntilSomebodyTrusts) {
  put(open_writer(medium_), "first", "");
  medium_->unsafe_shutdowns = 2;
  EXPECT_THAT(tests::message_of([&] { (void)open_writer(medium_); }),
              HasSubstr("counts 2 unsafe shutdowns, 0 when it was last known to be whole"));
  DeviceStore::open(std::make_unique<FailingMemory>(medium_), MemoryAccess::read_write, true)
      ->trust();
  EXPECT_EQ(StoredIndex::find(open_writer(medium_), 0)->slot(), 0u);
}

/// What a writer does to a device, step by step, and the names that lie there behind each.
class Life {
 public:
  explicit Life(const tests::TemporaryFolder& folder)
      : first_(layout::IndexDirectory::open(folder.file("first"))),
        second_(layout::IndexDirectory::open(folder.file("second"))) {}

  using Names = std::multiset<std::string>;

  /// The states before the first step and behind each.
  static const std::vector<Names>& states() {
    static const std::vector<Names> kStates{{},         {"a"}, {"a", "b"}, {"b"},
                                            {"b", "c"}, {"c"}, {"c"},      {}};
    return kStates;
  }

  /// Throws PowerCut in the step that `done` is then the number of.
  void run(const std::shared_ptr<Medium>& medium, std::size_t& done) const {
    done = 0;
    DeviceStore::format(std::make_unique<FailingMemory>(medium), false);
    const auto store = open_writer(medium);
    const auto load = [&](const layout::IndexDirectory& index, const char* name) {
      (void)store_index(store, index, 0, name, {.threads = 1, .quiet = true});
      ++done;
    };
    const auto remove = [&](std::uint32_t slot) {
      EXPECT_TRUE(store->remove(slot));
      ++done;
    };
    load(first_, "a");
    load(second_, "b");
    remove(0);
    load(first_, "c");  // where the first one was
    remove(1);
    store->trust();
    ++done;
    DeviceStore::format(std::make_unique<FailingMemory>(medium), true);
    ++done;
  }

 private:
  const layout::IndexDirectory first_;
  const layout::IndexDirectory second_;
};

Life::Names names_on(DeviceStore& store) {
  Life::Names names;
  for (const auto& index : store.directory().slots) {
    if (index) names.insert(index->name);
  }
  return names;
}

/// Everything that lies there is whole, and every unit that nothing takes is free.
void expect_sound(const std::shared_ptr<DeviceStore>& store) {
  const auto directory = store->directory();
  std::uint64_t taken = kDeviceUnitBytes;
  for (std::uint32_t slot = 0; slot < layout::kDeviceSlots; ++slot) {
    if (!directory.slots[slot]) continue;
    StoredIndex::attach(store, slot)->verify(1);
    taken += directory.slots[slot]->taken_bytes();
  }
  EXPECT_EQ(directory.free_bytes() + taken, kBytes);
}

/// Sanitizers take ten times as long: there every moment is tried once.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kCuts = 1;
#else
constexpr std::size_t kCuts = 200;
#endif

TEST_F(StoredIndexTest, PowerThatGoesAtAnyMomentLeavesTheStateBeforeOrBehind) {
  const Life life(folder_);
  std::size_t done = 0;
  const auto whole = std::make_shared<Medium>(kBytes);
  life.run(whole, done);
  ASSERT_EQ(done + 1, Life::states().size());
  std::size_t cuts = 0, unformatted = 0;
  for (std::uint64_t seed = 1; cuts < kCuts; ++seed) {
    for (std::uint64_t cut = 1; cut <= whole->persists; ++cut, ++cuts) {
      const auto medium = std::make_shared<Medium>(kBytes);
      medium->cut_at = cut;
      medium->chance = Random(seed * 1000 + cut);
      EXPECT_THROW(life.run(medium, done), PowerCut);
      const auto again = medium->after();
      std::shared_ptr<DeviceStore> store;
      try {
        store = open_writer(again);
      } catch (const Error& error) {
        // Only a device that never was formatted to its end.
        ASSERT_LE(cut, 1u) << error.what();
        ++unformatted;
        continue;
      }
      const Life::Names names = names_on(*store);
      EXPECT_TRUE(names == Life::states()[done] || names == Life::states()[done + 1])
          << "cut " << cut << " in step " << done << " of seed " << seed;
      expect_sound(store);
      if (names.size() < 2) {
        put(store, "second", "d");
        expect_sound(store);
      }
    }
  }
  EXPECT_GE(cuts, kCuts);
  EXPECT_GT(unformatted, 0u);
}

}  // namespace
}  // namespace farvec::device
