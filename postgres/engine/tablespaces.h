// Tablespaces know where the folders of indexes are: in the engine's own folder, and in one within
// each tablespace of the server that has indexes.
#pragma once

#include "layout/index/directory_lock.h"
#include "postgres/engine/index_name.h"
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace farvec::postgres {

struct TablespaceOptions {
  std::filesystem::path own = {};    ///< has the indexes of tablespaces that are no others
  std::filesystem::path links = {};  ///< has the server's tablespaces by their numbers; empty: none
  std::string within = "farvec";     ///< the name of the engine's folder within a tablespace
};

/// An index that has a folder.
struct IndexFolder {
  IndexName name;
  std::filesystem::path path;
};

/// Any thread may call everything at any time.
class Tablespaces {
 public:
  /// Makes the own folder where it is not there, and locks it. Throws Error where the engine of
  /// another server has it.
  explicit Tablespaces(TablespaceOptions options);

  /// Returns where an index has its folder, which is there or not.
  std::filesystem::path folder_of(const IndexName& name) const;
  /// Makes the folder around an index where it is not there, and locks it. It comes before anything
  /// is opened, made or removed there. Throws StatusError (failed_precondition) where the server
  /// has no such tablespace, and (unavailable) where another engine has its folder; throws
  /// SystemError.
  void enter(const IndexName& name);
  /// Removes the folder around an index where it is within a tablespace and no index is left there.
  /// So nothing stays of the engine in a tablespace that it uses no more.
  void leave(const IndexName& name);
  /// Says whether the server has the tablespace of an index no more.
  bool is_gone(const IndexName& name) const;
  /// Removes what is in tablespaces that the server has no more, as far as they were entered. A
  /// standby is told only that one was dropped.
  void forget_gone();
  /// Returns the indexes that have folders, in the order of their names. A folder that lies where
  /// its name does not belong is none.
  std::vector<IndexFolder> indexes() const;

 private:
  /// A folder around indexes that was entered.
  struct Entered {
    std::filesystem::path settled;  ///< where it is when the server's link is gone
    std::unique_ptr<layout::DirectoryLock> lock;
  };

  bool is_own(std::uint32_t tablespace) const;
  std::filesystem::path around(std::uint32_t tablespace) const;
  void add_indexes(const std::filesystem::path& around, std::vector<IndexFolder>& found) const;
  void tidy(const std::filesystem::path& around) const;

  const TablespaceOptions options_;
  std::mutex mutex_;                                  ///< guards the member below
  std::map<std::filesystem::path, Entered> entered_;  ///< named as around() names it
};

}  // namespace farvec::postgres
