#include "ssd_baseline/paged/store/store_redo.h"

#include "tests/unit/ssd_baseline/paged/store/mortal_store.h"
#include "tests/unit/ssd_baseline/paged/store/store_fixture.h"

namespace farvec::paged {
namespace {

constexpr std::size_t kFibers = 6;
constexpr std::size_t kMostChanges = 400;  ///< of a life
constexpr std::size_t kPages = 90;         ///< more than the buffer has

/// What may be found after a power cut: what was there before, and updates in their order, at least
/// those that were acknowledged.
struct History {
  StoreModel before;
  std::vector<StoreModel> updates;  ///< the pages that each has changed, as it left them
  std::size_t acknowledged = 0;     ///< of them
};

/// All pages that hold something.
StoreModel content_of(PageStore& store) {
  StoreModel content;
  StoreCore core(store);
  core.run([&] {
    FetchCounts counts;
    for (PageNumber page = 0; page < store.pages(); ++page) {
      const auto pin = core.fetcher().fetch(page, in_us(kLongUs), counts);
      ASSERT_TRUE(pin.ok()) << page << ": " << pin.status().message();
      auto tuples = pin.value().read([](auto bytes) { return tuples_of(bytes); });
      if (!tuples.empty()) content[page] = std::move(tuples);
    }
  });
  return content;
}

class StoreRedoTest : public testing::Test {
 protected:
  /// An empty store on a disk and a log of its own.
  void make(std::uint64_t seed) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    parts_ = std::make_shared<MortalParts>(folder_, seed);
    create_store(small_store(folder_), parts_).reset();
  }
  std::unique_ptr<PageStore> open() { return open_store(small_store(folder_), parts_); }

  /// Changes from several fibers until the power goes, or enough has happened; at the latest when
  /// so many changes have been made.
  void live(PageStore& store, History& history, std::uint64_t seed, std::size_t cut_at) {
    StoreModel model = history.before;
    RandomChanges changes(store, model, seed);
    StoreCore core(store);
    const auto fiber = [&] {
      while (history.updates.size() < kMostChanges) {
        const bool add = model.size() < kPages || changes.random().below(20) == 0;
        const auto end = add ? changes.add() : changes.change(core.fetcher());
        if (!end.ok()) {
          EXPECT_TRUE(parts_->off()) << end.status().message();
          return;
        }
        history.updates.push_back(changes.last());
        const std::size_t mine = history.updates.size();
        if (mine >= cut_at) parts_->cut();
        if (changes.random().below(kFibers) > 0) continue;
        if (!core.fetcher().wait_durable(end.value(), in_us(kLongUs)).ok()) return;
        // An update that has changed nothing waits for nothing, also not for those before it.
        if (end.value() > 0) history.acknowledged = std::max(history.acknowledged, mine);
      }
    };
    for (std::size_t i = 0; i < kFibers; ++i) core.spawn(fiber);
    core.run();
    parts_->off();
  }

  /// The model goes on from what was found.
  void expect_history(PageStore& store, History& history) {
    const StoreModel found = content_of(store);
    StoreModel model = std::move(history.before);
    std::size_t done = 0;
    const auto apply = [&] {
      for (const auto& [page, tuples] : history.updates[done]) model[page] = tuples;
      ++done;
    };
    while (done < history.acknowledged) apply();
    while (found != model && done < history.updates.size()) apply();
    ASSERT_TRUE(found == model) << "neither the " << history.acknowledged
                                << " updates that were acknowledged nor any of the "
                                << history.updates.size() << " that were made";
    history = {found, {}, 0};
  }

  tests::TemporaryFolder temporary_{memory_folder()};
  std::filesystem::path folder_ = temporary_.path() / "store";
  std::shared_ptr<MortalParts> parts_;
};

TEST_F(StoreRedoTest, NothingAcknowledgedIsLostInAnyPowerCut) {
  std::uint64_t healed = 0;
  std::uint64_t records = 0;
  int cuts = 0;
  for (std::uint64_t seed = 1; seed <= kPowerCutSeeds; ++seed) {
    make(seed);
    History history;
    Random random(seed);
    for (int life = 0; life < kLives; ++life) {
      parts_->cut_after(random.below(600), 20 + random.below(400));
      try {
        const auto store = open();
        live(*store, history, 100 * seed + life, last_change(random, kMostChanges));
      } catch (const Error&) {  // the power went in the recovery
        EXPECT_TRUE(parts_->off());
      }
      cuts += parts_->off() ? 1 : 0;
      parts_->power_on();
      const auto store = open();
      healed += store->recovery().healed_pages;
      records += store->recovery().records;
      ASSERT_NO_FATAL_FAILURE(expect_history(*store, history)) << "seed " << seed << "/" << life;
    }
  }
  EXPECT_GT(healed, 0u);
  EXPECT_GT(records, 0u);
  RecordProperty("cuts", cuts);
  RecordProperty("healed", static_cast<int>(healed));
  RecordProperty("records", static_cast<int>(records));
}

}  // namespace
}  // namespace farvec::paged
