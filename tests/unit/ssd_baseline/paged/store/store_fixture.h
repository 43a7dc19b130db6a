// A page store in a folder of its own, a model of its pages, and fibers that read them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "coroutines/scheduler.h"
#include "layout/store/store_page.h"
#include "ssd_baseline/paged/store/page_fetcher.h"
#include "ssd_baseline/paged/store/page_store.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::paged {

inline constexpr std::uint32_t kPageBytes = 4096;
inline constexpr std::size_t kFewFrames = 64;
inline constexpr double kLongUs = 60e6;
inline constexpr double kShortUs = 20e3;

inline Ticks in_us(double us) {
  return now_ticks() + us_to_ticks(us);
}

inline PageStoreOptions small_store(const std::filesystem::path& folder,
                                    std::size_t frames = kFewFrames) {
  PageStoreOptions options;
  options.folder = folder;
  options.page_bytes = kPageBytes;
  options.buffer_bytes = frames * kPageBytes;
  options.checkpoint_log_bytes = 256u << 10;
  options.log.segment_bytes = 128u << 10;
  return options;
}

/// What each page holds: slots, and their bytes (empty: unused).
using Tuple = std::vector<std::byte>;
using PageTuplesModel = std::vector<Tuple>;
using StoreModel = std::map<PageNumber, PageTuplesModel>;

inline PageTuplesModel tuples_of(std::span<const std::byte> bytes) {
  const layout::StorePage page(bytes);
  PageTuplesModel tuples;
  for (std::uint32_t i = 0; i < page.slots(); ++i) {
    const auto tuple = page.tuple(i);
    tuples.emplace_back(tuple.begin(), tuple.end());
  }
  return tuples;
}

/// One core: a scheduler whose fibers read through a fetcher.
class StoreCore {
 public:
  explicit StoreCore(PageStore& store, std::size_t fibers = 32, PageFetcherOptions options = {})
      : scheduler_({.max_fibers = fibers}), fetcher_(store, scheduler_, options) {
    scheduler_.set_poller([this] { return fetcher_.poll(); });
  }
  PageFetcher& fetcher() { return fetcher_; }
  coroutines::Scheduler& scheduler() { return scheduler_; }
  void spawn(std::function<void()> entry) { ASSERT_TRUE(scheduler_.spawn(std::move(entry)).ok()); }
  void run() { scheduler_.run(); }
  void run(std::function<void()> entry) {
    spawn(std::move(entry));
    run();
  }

 private:
  coroutines::Scheduler scheduler_;
  PageFetcher fetcher_;
};

/// Changes some pages at random in one update, in the store and, when that took it, in the model.
/// For any number of fibers of one thread.
class RandomChanges {
 public:
  RandomChanges(PageStore& store, StoreModel& model, std::uint64_t seed)
      : store_(store), model_(model), random_(seed) {}

  /// A page with some tuples.
  Result<wal::Position> add() {
    Result<PagePin> pin = store_.add_page();
    if (!pin.ok()) return pin.status();
    PagePin* const pins[] = {&pin.value()};
    PageTuplesModel tuples;
    const auto end = store_.update(pins, [&](PageEditor& editor) -> Status {
      editor.init(0, 1, 2, 3);
      for (std::uint16_t slot = 0; slot < 3; ++slot) {
        tuples.push_back(random_tuple());
        if (Status status = editor.put(0, slot, tuples.back()); !status.ok()) return status;
      }
      return {};
    });
    last_ = {{pin.value().number(), tuples}};
    return apply(end);
  }

  /// 1 to 5 pages as one. From inside a fiber.
  Result<wal::Position> change(PageFetcher& fetcher) {
    std::vector<PagePin> held;
    std::vector<PagePin*> pins;
    FetchCounts counts;
    for (std::uint64_t i = 0, n = 1 + random_.below(5); i < n; ++i) {
      auto it = model_.begin();
      std::advance(it, static_cast<std::ptrdiff_t>(random_.below(model_.size())));
      const auto has = [&](const PagePin& pin) { return pin.number() == it->first; };
      if (std::any_of(held.begin(), held.end(), has)) continue;
      Result<PagePin> pin = fetcher.fetch(it->first, in_us(kLongUs), counts);
      if (!pin.ok()) return pin.status();
      held.push_back(std::move(pin).value());
    }
    for (PagePin& pin : held) pins.push_back(&pin);
    std::vector<PageTuplesModel> after(pins.size());
    const auto end = store_.update(pins, [&](PageEditor& editor) {
      after.clear();
      for (std::size_t i = 0; i < pins.size(); ++i) {
        after.push_back(tuples_of(editor.bytes(i)));
        change_page(editor, i, after.back());
      }
      return Status();
    });
    last_.clear();
    for (std::size_t i = 0; i < pins.size(); ++i) last_[pins[i]->number()] = after[i];
    return apply(end);
  }

  /// The pages of the last update, as it has left them.
  const StoreModel& last() const { return last_; }

  Random& random() { return random_; }

 private:
  Result<wal::Position> apply(const Result<wal::Position>& end) {
    if (!end.ok()) return end;
    for (const auto& [page, tuples] : last_) model_[page] = tuples;
    return end;
  }

  Tuple random_tuple() {
    Tuple tuple(1 + random_.below(300));
    for (auto& b : tuple) b = static_cast<std::byte>(random_.next());
    return tuple;
  }

  void change_page(PageEditor& editor, std::size_t page, PageTuplesModel& tuples) {
    const std::uint64_t dice = random_.below(10);
    const auto slot = static_cast<std::uint16_t>(random_.below(tuples.size() + (dice < 6)));
    if (dice < 6) {
      Tuple tuple = random_tuple();
      if (!editor.put(page, slot, tuple).ok()) return;
      if (slot == tuples.size()) tuples.emplace_back();
      tuples[slot] = tuple;
    } else if (dice < 8) {
      if (editor.erase(page, slot).ok()) tuples[slot].clear();
    } else if (dice < 9 && !tuples[slot].empty()) {
      const std::byte value = static_cast<std::byte>(random_.next());
      if (editor.patch(page, slot, 0, {&value, 1}).ok()) tuples[slot][0] = value;
    } else {
      editor.init(page, 1, 0, 0);
      tuples.clear();
      tuples.push_back(random_tuple());
      EXPECT_TRUE(editor.put(page, 0, tuples[0]).ok());
    }
  }

  PageStore& store_;
  StoreModel& model_;
  StoreModel last_;
  Random random_;
};

/// Reads every page of the model.
inline void expect_model(PageStore& store, const StoreModel& model) {
  StoreCore core(store);
  core.run([&] {
    FetchCounts counts;
    for (const auto& [page, tuples] : model) {
      const Result<PagePin> pin = core.fetcher().fetch(page, in_us(kLongUs), counts);
      ASSERT_TRUE(pin.ok()) << page << ": " << pin.status().message();
      pin.value().read([&, &number = page, &held = tuples](std::span<const std::byte> bytes) {
        EXPECT_TRUE(layout::StorePage::check(bytes, number).ok());
        ASSERT_EQ(tuples_of(bytes), held) << "page " << number;
      });
    }
  });
}

class StoreTest : public testing::Test {
 protected:
  tests::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path() / "store";
};

}  // namespace farvec::paged
