#include "ssd_baseline/paged/store/page_store.h"

#include <fstream>
#include <thread>

#include "tests/unit/ssd_baseline/paged/store/store_fixture.h"

namespace farvec::paged {
namespace {

/// Is what a page of one counter holds.
std::int64_t counter_of(std::span<const std::byte> bytes) {
  return load_unaligned<std::int64_t>(layout::StorePage(bytes).tuple(0).data());
}

/// Adds a page that holds the counter 0.
Status add_counter(PageStore& store) {
  auto pin = store.add_page();
  if (!pin.ok()) return pin.status();
  PagePin* const pins[] = {&pin.value()};
  const std::int64_t zero = 0;
  return store
      .update(pins,
              [&](PageEditor& editor) {
                editor.init(0, 1, 0, 0);
                return editor.put(0, 0, std::as_bytes(std::span(&zero, 1)));
              })
      .status();
}

/// Takes an amount from one counter and adds it to another, in one update.
Status move_amount(PageStore& store, PagePin& from, PagePin& to, std::int64_t amount) {
  PagePin* const pins[] = {&from, &to};
  return store
      .update(pins,
              [&](PageEditor& editor) {
                const std::int64_t less = counter_of(editor.bytes(0)) - amount;
                const std::int64_t more = counter_of(editor.bytes(1)) + amount;
                if (Status s = editor.patch(0, 0, 0, std::as_bytes(std::span(&less, 1))); !s.ok()) {
                  return s;
                }
                return editor.patch(1, 0, 0, std::as_bytes(std::span(&more, 1)));
              })
      .status();
}

/// Moves amounts between counters that a seed chooses.
void move_amounts(StoreCore& core, PageStore& store, PageNumber pages, std::uint64_t seed) {
  constexpr int kUpdates = 60;
  Random random(seed);
  FetchCounts counts;
  for (int i = 0; i < kUpdates; ++i) {
    const auto first = static_cast<PageNumber>(random.below(pages));
    const auto second = static_cast<PageNumber>((first + 1 + random.below(pages - 1)) % pages);
    auto a = core.fetcher().fetch(first, in_us(kLongUs), counts);
    ASSERT_TRUE(a.ok()) << a.status().message();
    auto b = core.fetcher().fetch(second, in_us(kLongUs), counts);
    ASSERT_TRUE(b.ok()) << b.status().message();
    const auto amount = static_cast<std::int64_t>(random.below(100));
    const Status moved = move_amount(store, a.value(), b.value(), amount);
    ASSERT_TRUE(moved.ok()) << moved.message();
  }
}

class PageStoreTest : public StoreTest {};

TEST_F(PageStoreTest, AnEmptyStoreOpensAgain) {
  EXPECT_FALSE(PageStore::is_store(folder_));
  EXPECT_EQ(PageStore::create(small_store(folder_))->pages(), 0u);
  EXPECT_TRUE(PageStore::is_store(folder_));
  EXPECT_EQ(PageStore::open(small_store(folder_))->pages(), 0u);
}

TEST_F(PageStoreTest, NumbersThatWereAddedAndNotUsedAreUsedAgain) {
  const auto init = [](PageEditor& editor) {
    editor.init(0, 1, 0, 0);
    return Status();
  };
  {
    const auto store = PageStore::create(small_store(folder_));
    auto used = store->add_page();
    PagePin* const pins[] = {&used.value()};
    ASSERT_TRUE(store->update(pins, init).ok());
    for (int i = 0; i < 5; ++i) EXPECT_EQ(store->add_page().value().number(), 1u + i);
    EXPECT_EQ(store->pages(), 1u);
  }
  const auto store = PageStore::open(small_store(folder_));
  EXPECT_EQ(store->pages(), 1u);
  auto used = store->add_page();
  ASSERT_EQ(used.value().number(), 1u);
  PagePin* const pins[] = {&used.value()};
  ASSERT_TRUE(store->update(pins, init).ok());
  EXPECT_EQ(store->pages(), 2u);
}

TEST_F(PageStoreTest, ChangesAreThereAfterOpeningAgain) {
  StoreModel model;
  for (int round = 0; round < 4; ++round) {
    const auto store = round == 0 ? PageStore::create(small_store(folder_))
                                  : PageStore::open(small_store(folder_));
    ASSERT_NO_FATAL_FAILURE(expect_model(*store, model));
    RandomChanges changes(*store, model, 10 + round);
    StoreCore core(*store);
    core.run([&] {
      for (int i = 0; i < 80; ++i) ASSERT_TRUE(changes.add().ok());
      for (int i = 0; i < 1000; ++i) {
        const auto end = changes.change(core.fetcher());
        ASSERT_TRUE(end.ok()) << end.status().message();
      }
    });
    ASSERT_NO_FATAL_FAILURE(expect_model(*store, model));
    const StoreCounts counts = store->counts();
    EXPECT_GT(counts.evictions, 0u);
    EXPECT_GT(counts.page_writes, 0u);
    EXPECT_GT(counts.checkpoints, 0u);
  }
}

TEST_F(PageStoreTest, ThreadsAndFibersChangePagesAsOne) {
  constexpr PageNumber kPages = 150;
  constexpr int kThreads = 3, kFibers = 6;
  const auto store = PageStore::create(small_store(folder_, 80));
  for (PageNumber page = 0; page < kPages; ++page) ASSERT_TRUE(add_counter(*store).ok());
  const auto run_thread = [&](int thread) {
    StoreCore core(*store);
    for (int fiber = 0; fiber < kFibers; ++fiber) {
      const auto seed = static_cast<std::uint64_t>(thread * 100 + fiber + 1);
      core.spawn([&, seed] { move_amounts(core, *store, kPages, seed); });
    }
    core.run();
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(run_thread, thread);
  for (auto& thread : threads) thread.join();
  std::int64_t sum = 0;
  bool moved = false;
  StoreCore core(*store);
  core.run([&] {
    FetchCounts counts;
    for (PageNumber page = 0; page < kPages; ++page) {
      auto pin = core.fetcher().fetch(page, in_us(kLongUs), counts);
      ASSERT_TRUE(pin.ok());
      const std::int64_t counter = pin.value().read(counter_of);
      sum += counter;
      moved = moved || counter != 0;
    }
  });
  EXPECT_TRUE(moved);
  EXPECT_EQ(sum, 0);
}

TEST_F(PageStoreTest, AnEditThatThrowsChangesNothingAndLocksNothing) {
  const auto store = PageStore::create(small_store(folder_));
  auto pin = store->add_page();
  ASSERT_TRUE(pin.ok());
  PagePin* const pins[] = {&pin.value()};
  // More often than there is room for dirty pages.
  for (std::size_t i = 0; i < 2 * kFewFrames; ++i) {
    EXPECT_THROW((void)store->update(pins,
                                     [](PageEditor& editor) -> Status {
                                       editor.init(0, 9, 9, 9);
                                       throw std::runtime_error("thrown by an edit");
                                     }),
                 std::runtime_error);
  }
  EXPECT_EQ(store->pages(), 0u);
  const auto done = store->update(pins, [](PageEditor& editor) {
    editor.init(0, 1, 2, 3);
    return Status();
  });
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(pin.value().read([](auto bytes) { return layout::StorePage(bytes).header().kind; }), 1);
}

TEST_F(PageStoreTest, AnEditThatGivesUpLeavesEveryPageAsItWas) {
  const auto store = PageStore::create(small_store(folder_));
  StoreModel model;
  RandomChanges changes(*store, model, 5);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(changes.add().ok());
  std::vector<PagePin> held;
  for (const PageNumber page : {0u, 1u, 2u}) held.push_back(store->find(page));
  PagePin* const pins[] = {&held[0], &held[1], &held[2]};
  const auto bytes_of = [](const PagePin& pin) {
    return pin.read([](auto bytes) { return std::vector<std::byte>(bytes.begin(), bytes.end()); });
  };
  const std::vector<std::byte> before[] = {bytes_of(held[0]), bytes_of(held[1]), bytes_of(held[2])};
  const wal::Position end = store->log().end();
  for (const bool throws : {false, true}) {
    const auto edit = [&](PageEditor& editor) -> Status {
      const Tuple tuple(200, std::byte{7});
      EXPECT_TRUE(editor.put(0, 1, tuple).ok());
      EXPECT_TRUE(editor.erase(0, 2).ok());
      editor.init(1, 4, 5, 6);
      EXPECT_TRUE(editor.put(1, 0, tuple).ok());
      EXPECT_EQ(tuples_of(editor.bytes(1)), PageTuplesModel{tuple});
      if (throws) throw std::runtime_error("thrown by an edit");
      return {StatusCode::cancelled, "given up"};
    };
    if (throws) {
      EXPECT_THROW((void)store->update(pins, edit), std::runtime_error);
    } else {
      EXPECT_EQ(store->update(pins, edit).status().code(), StatusCode::cancelled);
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(bytes_of(held[i]), before[i]);
  }
  EXPECT_EQ(store->log().end(), end);
}

TEST_F(PageStoreTest, AChangeOfManyPagesFindsRoomAmongFewDirtyOnes) {
  // Half of what may be dirty is; the change needs more than the other half.
  const std::size_t most = kFewFrames / 2;
  auto options = small_store(folder_);
  options.checkpoint_log_bytes = 1u << 30;
  const auto store = PageStore::create(options);
  std::vector<PagePin> held;
  std::vector<PagePin*> pins;
  const auto init_all = [&](PageEditor& editor) {
    for (std::size_t i = 0; i < pins.size(); ++i) editor.init(i, 1, 0, 0);
    return Status();
  };
  for (std::size_t i = 0; i < most; ++i) {
    auto pin = store->add_page();
    ASSERT_TRUE(pin.ok());
    held.push_back(std::move(pin).value());
  }
  ASSERT_TRUE(store->checkpoint().ok());
  for (std::size_t i = 0; i < most / 2; ++i) pins.push_back(&held[i]);
  ASSERT_TRUE(store->update(pins, init_all).ok());
  for (std::size_t i = most / 2; i < most; ++i) pins.push_back(&held[i]);
  const auto done = store->update(pins, init_all);
  EXPECT_TRUE(done.ok()) << done.status().message();
}

TEST_F(PageStoreTest, ADamagedPageIsNeverHandedOut) {
  StoreModel model;
  {
    const auto store = PageStore::create(small_store(folder_));
    RandomChanges changes(*store, model, 1);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(changes.add().ok());
  }
  std::fstream file(folder_ / "pages", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(7 * kPageBytes + 4000);
  file.put('x');
  file.put('y');
  file.close();
  const auto store = PageStore::open(small_store(folder_));
  StoreCore core(*store);
  core.run([&] {
    FetchCounts counts;
    EXPECT_EQ(core.fetcher().fetch(7, in_us(kLongUs), counts).status().code(),
              StatusCode::data_loss);
    EXPECT_TRUE(core.fetcher().fetch(8, in_us(kLongUs), counts).ok());
  });
}

TEST_F(PageStoreTest, WhatCannotBeOpenedSaysWhy) {
  EXPECT_THROW(PageStore::open(small_store(folder_)), Error);
  EXPECT_THROW(PageStore::create(small_store(folder_, 63)), Error);
  auto odd = small_store(folder_);
  odd.page_bytes = 5000;
  EXPECT_THROW(PageStore::create(odd), Error);
  {
    const auto store = PageStore::create(small_store(folder_));
    EXPECT_THROW(PageStore::open(small_store(folder_)), Error);  // somebody has it
  }
  EXPECT_THROW(PageStore::create(small_store(folder_)), Error);
  const auto path = folder_ / "checkpoint";
  const auto damage = [&](std::streamoff at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put('\x7f');
  };
  damage(8);  // the version
  EXPECT_THROW(PageStore::open(small_store(folder_)), Error);
  damage(16);
  EXPECT_THROW(PageStore::open(small_store(folder_)), Error);
  std::filesystem::resize_file(path, 5);
  EXPECT_THROW(PageStore::open(small_store(folder_)), Error);
}

}  // namespace
}  // namespace farvec::paged
