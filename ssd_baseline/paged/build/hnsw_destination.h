// A graph on pages that appears under its name only when it is complete.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_names.h"

namespace farvec::paged {

/// Before a long build: throws Error when `out` is there and holds something else than a graph, or
/// what a build that was killed has left, or when it is not to be replaced, which `option` would
/// do, or when a process has it open.
void check_hnsw_destination(const std::string& out, bool replace, std::string_view option);

/// The store is made in folder(), which is `out`.partial; publish() gives it its name. Without it
/// the destructor removes all that was made. At every moment, also one at which the process is
/// killed, `out` is the old graph or the new one. What a killed build has left is removed by the
/// next one of the same name.
class HnswDestination {
 public:
  /// Throws as check_hnsw_destination(), when another process builds there, and SystemError.
  HnswDestination(const std::string& out, bool replace, std::string_view option);
  ~HnswDestination();
  HnswDestination(const HnswDestination&) = delete;
  HnswDestination& operator=(const HnswDestination&) = delete;

  const std::filesystem::path& folder() const { return partial_; }

  /// After the store has been closed. Durable when it returns; throws Error or SystemError.
  void publish();

 private:
  const std::filesystem::path target_;
  const std::filesystem::path partial_;
  const bool replace_;
  const std::string_view option_;
  std::optional<NewFolders> folders_;
  bool published_ = false;
};

}  // namespace farvec::paged
