// LocalPageStore is the page store on this machine's disk.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "layout/index/directory_lock.h"
#include "layout/store/checkpoint.h"
#include "ssd_baseline/paged/store/page_editor.h"
#include "ssd_baseline/paged/store/page_store.h"
#include "ssd_baseline/paged/store/page_writer.h"
#include "ssd_baseline/paged/store/store_state.h"

namespace farvec::paged {

/// Fewer frames than this are refused: the writer holds up to 64 pages, and every fiber some.
inline constexpr std::size_t kMinFrames = 64;
/// This many frames are never dirty all at once, or no page could be read.
inline constexpr std::size_t kCleanFrames = 16;

/// What a store is opened with, once its folder is locked and its file is there.
struct StoreOpening {
  std::unique_ptr<layout::DirectoryLock> lock;
  std::shared_ptr<StoreParts> parts;
  layout::StoreCheckpoint checkpoint;
};

class LocalPageStore final : public PageStore {
 public:
  /// The log is open. The constructor starts the writer.
  LocalPageStore(const PageStoreOptions& options, StoreOpening opening,
                 std::unique_ptr<wal::Log> log);
  ~LocalPageStore() override;

  std::uint32_t page_bytes() const override { return state_.page_bytes(); }
  PageNumber pages() const override {
    return state_.pages.load(std::memory_order_acquire);  // pairs with exists()
  }
  std::size_t frames() const override { return state_.pool.size(); }
  const StoreRecovery& recovery() const override { return recovery_; }
  StoreCounts counts() const override;
  wal::Log& log() override { return *state_.log; }
  PagePin find(PageNumber page) override;
  Result<PagePin> add_page() override;
  Result<PagePin> try_add_page() override;
  Result<wal::Position> update(std::span<PagePin* const> pins,
                               const std::function<Status(PageEditor&)>& edit) override;
  Status checkpoint() override { return writer_->checkpoint(); }

  StoreState& state() override { return state_; }
  PageWriter& writer() { return *writer_; }
  void set_recovery(const StoreRecovery& recovery) { recovery_ = recovery; }

 private:
  /// An UpdateScratch is what an update needs besides its pages. It is used for one update after
  /// another.
  struct UpdateScratch {
    explicit UpdateScratch(std::uint32_t page_bytes) : editor(page_bytes) {}
    UpdateEditor editor;
    std::vector<Frame*> frames;        ///< in the order of the pins
    std::vector<std::uint32_t> order;  ///< places of pins, by the numbers of their pages
  };

  Result<Frame*> wait_for_frame();
  Result<PagePin> place_new_page(Frame& frame);
  Status grow_for(PageNumber page);
  class ScratchLease;
  class LatchedFrames;
  class Reservation;
  Result<wal::Position> update_locked(UpdateScratch& scratch,
                                      const std::function<Status(PageEditor&)>& edit);
  Result<wal::Position> log_changes(UpdateScratch& scratch);
  void note_position(UpdateScratch& scratch, wal::Position before, wal::Position end);
  void exists(PageNumber page);

  std::unique_ptr<layout::DirectoryLock> lock_;
  StoreState state_;
  StoreRecovery recovery_;
  std::mutex scratch_mutex_;
  std::vector<std::unique_ptr<UpdateScratch>> scratch_;
  std::unique_ptr<PageWriter> writer_;
};

}  // namespace farvec::paged
