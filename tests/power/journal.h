// What lives have asked an index on a disk for, and what they were told, in a file that outlives
// their machine.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace farvec::power {

/// Of one of the writers of an index, who makes one change after the other.
struct History {
  std::vector<std::uint64_t> done;    ///< acknowledged, or found to be there by a later life
  std::optional<std::uint64_t> open;  ///< asked for; nobody knows yet
  std::uint64_t next = 0;
};

/// Threads may write at once.
class Journal {
 public:
  /// `former` has what earlier lives wrote; what comes goes to the end of `own`. Throws Error.
  Journal(const std::string& former, const std::string& own);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Of earlier lives.
  History history(char index, unsigned writer) const;

  /// A change is about to be asked for. These return when the file has it.
  void begin(char index, unsigned writer, std::uint64_t number);
  /// It was acknowledged, or is there after all.
  void done(char index, unsigned writer, std::uint64_t number);
  /// It is not there.
  void lost(char index, unsigned writer, std::uint64_t number);

 private:
  void write(char index, unsigned writer, std::uint64_t number, const char* what);

  std::map<std::pair<char, unsigned>, History> histories_;
  std::mutex mutex_;
  int file_ = -1;
};

}  // namespace farvec::power
