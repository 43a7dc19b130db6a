#include "ssd_baseline/store/store_redo.h"

#include "tests/unit/ssd_baseline/store/mortal_store.h"
#include "tests/unit/ssd_baseline/store/store_fixture.h"

namespace farvec::ssd_baseline {
namespace {

/// What may be found after a power cut: what was acknowledged, and any number of the updates that
/// came after it, in their order.
struct History {
  StoreModel acknowledged;
  std::vector<StoreModel> later;
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

class StoreRedoTest : public StoreTest {
 protected:
  std::unique_ptr<PageStore> open(const std::shared_ptr<MortalParts>& parts, bool create) {
    return create ? create_store(small_store(folder_), parts)
                  : open_store(small_store(folder_), parts);
  }

  /// Changes until something fails, or enough has happened.
  void live(PageStore& store, History& history, std::uint64_t seed) {
    StoreModel model = history.acknowledged;
    RandomChanges changes(store, model, seed);
    StoreCore core(store);
    core.run([&] {
      for (int i = 0; i < 400; ++i) {
        const bool add = model.size() < 90 || changes.random().below(20) == 0;
        const auto end = add ? changes.add() : changes.change(core.fetcher());
        if (!end.ok()) return;
        history.later.push_back(model);
        if (changes.random().below(6) > 0) continue;
        if (!core.fetcher().wait_durable(end.value(), in_us(kLongUs)).ok()) return;
        history.acknowledged = model;
        history.later.clear();
      }
    });
  }

  void expect_history(PageStore& store, History& history) {
    const StoreModel found = content_of(store);
    bool known = found == history.acknowledged;
    for (const StoreModel& model : history.later) known |= found == model;
    ASSERT_TRUE(known) << "neither what was acknowledged nor what came after it";
    history = {found, {}};
  }
};

TEST_F(StoreRedoTest, NothingAcknowledgedIsLostInAnyPowerCut) {
  std::uint64_t healed = 0;
  std::uint64_t records = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    auto parts = std::make_shared<MortalParts>(folder_, seed);
    History history;
    open(parts, true).reset();
    Random random(seed);
    for (int life = 0; life < 4; ++life) {
      parts->cut_after(random.below(600), 20 + random.below(400));
      try {
        const auto store = open(parts, false);
        live(*store, history, 100 * seed + life);
      } catch (const Error&) {  // the power went in the recovery
      }
      parts->power_on();
      const auto store = open(parts, false);
      healed += store->recovery().healed_pages;
      records += store->recovery().records;
      ASSERT_NO_FATAL_FAILURE(expect_history(*store, history)) << "seed " << seed << "/" << life;
    }
  }
  EXPECT_GT(healed, 0u);
  EXPECT_GT(records, 0u);
  RecordProperty("healed", static_cast<int>(healed));
  RecordProperty("records", static_cast<int>(records));
}

}  // namespace
}  // namespace farvec::ssd_baseline
