// An Engine owns the indexes of a server and answers what its processes ask through a channel.
#pragma once

#include "postgres/channel/channel.h"
#include "postgres/engine/calls.h"
#include "postgres/engine/channel_feed.h"
#include "postgres/engine/indexes.h"
#include "postgres/engine/tablespaces.h"
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace farvec::postgres {

struct EngineOptions {
  TablespaceOptions folders;  ///< where all indexes are
  std::string segment;        ///< the file of the channel, which is made
  std::uint64_t memory = 0;   ///< IndexesOptions::memory
  unsigned threads = 1;       ///< cores that search
  std::uint32_t slots = 128;  ///< processes that may ask
};

/// A ChannelFile is the channel's file, which goes with the object. What an engine that was killed
/// has left is removed when the next one of the same folder begins.
class ChannelFile {
 public:
  /// The folder is locked. Throws Error.
  ChannelFile(const std::filesystem::path& folder, const std::string& path, std::uint32_t slots);
  ~ChannelFile();
  ChannelFile(const ChannelFile&) = delete;
  ChannelFile& operator=(const ChannelFile&) = delete;

  Channel& channel() const { return *channel_; }

 private:
  const std::string path_;
  Channel* channel_ = nullptr;
};

class Engine {
 public:
  /// Begins to serve. Throws Error saying what is not possible.
  explicit Engine(const EngineOptions& options);
  /// Ends soon: searches that run are answered, others are not.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Does what has to be done a few times a second. For one thread.
  void keep_house();
  /// Says whether a core has ended by itself, which it never should.
  bool broken() const { return broken_.load(std::memory_order_acquire); }

 private:
  void run_core();

  Indexes indexes_;
  const ChannelFile file_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> broken_{false};
  std::uint32_t rounds_ = 0;         ///< calls of keep_house()
  std::atomic<bool> saving_{false};  ///< a call saves indexes
  LateSearches late_;
  Calls calls_;
  std::vector<std::thread> cores_;
};

}  // namespace farvec::postgres
