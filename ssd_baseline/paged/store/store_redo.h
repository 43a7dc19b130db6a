// StoreRedo is recovery: it redoes what the log holds after the last checkpoint.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <vector>

#include "layout/store/checkpoint.h"
#include "layout/store/store_record.h"
#include "ssd_baseline/paged/store/local_store.h"
#include "ssd_baseline/paged/store/redo_reader.h"

namespace farvec::paged {

/// First survey() reads the log, before it is opened for appending: it finds which pages the log
/// can make whole, and where it ends. Then run() heals torn pages and applies the changes to pages
/// that are older than these. Pages are read ahead of the record that changes them (RedoReader).
/// Recovery writes through the store in the usual way, with images in the log before pages, so that
/// it may be killed too.
class StoreRedo {
 public:
  StoreRedo(const layout::StoreCheckpoint& checkpoint, std::filesystem::path folder)
      : checkpoint_(checkpoint), folder_(std::move(folder)), pages_(checkpoint.pages) {}

  /// Throws Error for a record that is not a store's.
  void survey(RecordSource& log);
  /// Throws Error that names the page and the file when a page is damaged and the log cannot heal
  /// it, or a change does not fit its page.
  void run(LocalPageStore& store, const std::filesystem::path& log_folder);
  const StoreRecovery& found() const { return found_; }

 private:
  /// A WholePage is the last record that holds a whole page.
  struct WholePage {
    wal::Position begin = 0;
    bool image = false;
  };

  /// A record whose pages are on their way.
  struct Coming {
    std::vector<std::byte> bytes;
    layout::StoreRecord record;  ///< borrows `bytes`
    wal::Position end = 0;
    std::size_t asked = 0;  ///< parts whose pages were asked for
    std::size_t done = 0;   ///< parts that were applied
  };

  void decode(const wal::LogRecord& record, layout::StoreRecord& parts) const;
  void remember(const wal::LogRecord& record);
  void make_room(LocalPageStore& store);
  void heal_pages(RedoReader& reader, const std::filesystem::path& log_folder);
  void heal(Frame& frame, PageNumber page, const std::filesystem::path& log_folder);
  void redo(RedoReader& reader, const std::filesystem::path& log_folder);
  void ask_ahead(RedoReader& reader, RecordSource& log);
  bool read_changes(RecordSource& log);
  void redo_next(RedoReader& reader);
  void redo_part(Frame& frame, const layout::StorePart& part, wal::Position end);

  const layout::StoreCheckpoint checkpoint_;
  const std::filesystem::path folder_;
  PageNumber pages_;       ///< pages of the checkpoint and the log
  wal::Position end_ = 0;  ///< the end of the log that is redone
  std::map<PageNumber, WholePage> whole_;
  layout::StoreRecord record_;
  StoreRecovery found_;
  LocalPageStore* store_ = nullptr;
  std::deque<Coming> coming_;     ///< in the order of the log
  std::size_t coming_bytes_ = 0;  ///< the bytes of coming_
  std::size_t asked_ = 0;         ///< records of coming_ all of whose pages were asked for
  std::uint64_t read_ = 0;        ///< number of records
  std::vector<bool> changed_;     ///< for each page
};

}  // namespace farvec::paged
