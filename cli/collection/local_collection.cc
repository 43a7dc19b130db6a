// A collection of this machine, changed in this process.
#include "base/error.h"
#include "cli/collection/changed_collection.h"
#include "cli/interrupt.h"

namespace farvec::cli {
namespace {

using collection::Collection;
using collection::Receipt;

/// Between two looks at an interrupt.
constexpr std::size_t kBatchRows = 4096;
constexpr std::size_t kBatchIds = std::size_t{1} << 20;
/// A batch waits so long for segments to be built.
constexpr double kBatchUs = 600e6;

Ticks batch_deadline() {
  return now_ticks() + us_to_ticks(kBatchUs);
}

void require_done(const Collection& collection, const Status& status) {
  if (!status.ok()) throw Error("{} ({})", collection.reason(status), to_string(status.code()));
}

class LocalCollection final : public ChangedCollection {
 public:
  LocalCollection(const std::string& folder, const measure::CollectionWrite& write, bool quiet)
      : collection_(folder, measure::write_access(write)) {
    tell_recovery(collection_.recovery(), quiet);
  }

  std::size_t batch_rows() const override { return kBatchRows; }
  std::size_t batch_ids() const override { return kBatchIds; }
  void check(const VectorView& rows, std::span<const std::uint64_t> ids) const override {
    collection_.check(rows, ids);
  }
  void insert(const VectorView& rows, std::span<const std::uint64_t> ids,
              Receipt& receipt) override {
    require_done(collection_, collection_.insert(rows, ids, batch_deadline(), receipt));
  }
  void erase(std::span<const std::uint64_t> ids, Receipt& receipt) override {
    require_done(collection_, collection_.erase(ids, batch_deadline(), receipt));
  }
  Receipt import(const VectorView& rows, std::span<const std::uint64_t> ids) override {
    return collection_.import(rows, ids);
  }
  void compact() override {
    collection_.compact([] { return interrupted(); });
  }
  void settle() override { collection_.settle(); }
  collection::BuildProgress making() const noexcept override {
    const collection::WriterState state = collection_.state();
    for (const auto& made : {state.import, state.merge}) {
      if (made.rows > 0) return made;
    }
    return state.build;
  }
  nlohmann::ordered_json now() const override {
    return collection::state_json(*collection_.view(), collection_.state());
  }

 private:
  Collection collection_;
};

}  // namespace

std::unique_ptr<ChangedCollection> open_collection(const std::string& folder,
                                                   const measure::CollectionWrite& write,
                                                   bool quiet) {
  return std::make_unique<LocalCollection>(folder, write, quiet);
}

}  // namespace farvec::cli
