// A folder on a disk that can be full, fail, and lose its power with what was not synced.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "wal/log_file.h"

namespace farvec::wal::tests {

/// What the disk does wrong, told in operations (files made, writes, syncs, renames, removals).
struct DiskFaults {
  std::uint64_t power_cut_at = ~0ull;  ///< this operation and all later ones fail
  int write_error = 0;                 ///< errno of writes; half of the bytes arrive
  int sync_error = 0;                  ///< errno of file syncs
  std::uint64_t room_bytes = ~0ull;    ///< for files
};

/// The folder `path` shows what a process sees; what the disk has beside it is kept here. A loss of
/// power leaves every unsynced sector and name as it was or as it became, each by itself.
class SimulatedDisk {
 public:
  explicit SimulatedDisk(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
  }

  DiskFaults faults;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t operations() const { return operations_; }
  std::uint64_t syncs() const { return syncs_; }

  /// The power goes now; asked by any thread.
  void cut() {
    const std::lock_guard lock(mutex_);
    faults.power_cut_at = 0;
  }
  bool off() {
    const std::lock_guard lock(mutex_);
    return operations_ >= faults.power_cut_at;
  }

  /// The power comes back: the folder has what the disk has kept, and nothing is wrong with it.
  void power_cycle(Random& random) {
    const std::lock_guard lock(mutex_);
    names_ = surviving_names(random);
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      std::filesystem::remove(entry.path());
    }
    for (auto& [name, inode] : names_) {
      inode->lose_power(random);
      std::ofstream(path_ / name, std::ios::binary)
          .write(reinterpret_cast<const char*>(inode->bytes.data()),
                 static_cast<std::streamsize>(inode->bytes.size()));
    }
    durable_names_ = names_;
    faults = {};
    operations_ = 0;
  }

  std::unique_ptr<LogFolder> folder();

 private:
  static constexpr std::size_t kSector = 512;

  struct Inode {
    std::vector<std::byte> bytes, durable;
    std::set<std::size_t> dirty;

    void write(std::uint64_t offset, std::span<const std::byte> from) {
      if (bytes.size() < offset + from.size()) bytes.resize(offset + from.size());
      std::copy(from.begin(), from.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
      for (std::size_t s = offset / kSector; s * kSector < offset + from.size(); ++s) {
        dirty.insert(s);
      }
    }
    void sync() {
      durable = bytes;
      dirty.clear();
    }
    void lose_power(Random& random) {
      // Sizes and sectors by themselves; a size that never arrived leaves no sectors.
      if (random.below(2) == 0) durable.resize(bytes.size());
      const double share = random.below(3) == 0 ? 1.0 : random.uniform();
      for (const std::size_t sector : dirty) {
        const std::size_t begin = sector * kSector;
        const std::size_t end = std::min({begin + kSector, durable.size(), bytes.size()});
        if (begin >= end || random.uniform() >= share) continue;
        std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                  bytes.begin() + static_cast<std::ptrdiff_t>(end),
                  durable.begin() + static_cast<std::ptrdiff_t>(begin));
      }
      bytes = durable;
      dirty.clear();
    }
  };
  using Names = std::map<std::string, std::shared_ptr<Inode>>;
  class File;
  class Folder;

  Names surviving_names(Random& random) const {
    Names all = names_;
    all.insert(durable_names_.begin(), durable_names_.end());
    Names survivors;
    for (const auto& [name, ignored] : all) {
      const Names& chosen = random.below(2) == 0 ? names_ : durable_names_;
      if (const auto found = chosen.find(name); found != chosen.end()) survivors.insert(*found);
    }
    return survivors;
  }

  void operate() {
    if (operations_ >= faults.power_cut_at) throw SystemError(EIO, "the power is off");
    ++operations_;
  }
  std::uint64_t used_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [name, inode] : names_) bytes += inode->bytes.size();
    return bytes;
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

  std::filesystem::path path_;
  std::mutex mutex_;
  Names names_, durable_names_;
  std::uint64_t operations_ = 0;
  std::uint64_t syncs_ = 0;
};

class SimulatedDisk::File final : public LogFile {
 public:
  File(SimulatedDisk& disk, std::shared_ptr<Inode> inode, std::unique_ptr<LogFile> seen)
      : disk_(disk), inode_(std::move(inode)), seen_(std::move(seen)) {}

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(disk_.mutex_);
    disk_.operate();
    const int error = disk_.faults.write_error;
    const auto written = error == 0 ? bytes : bytes.first(bytes.size() / 2);
    inode_->write(offset, written);
    seen_->write_at(offset, written);
    if (error != 0) throw SystemError(error, "writing at offset {}", offset);
  }
  void sync() override {
    const std::lock_guard lock(disk_.mutex_);
    disk_.operate();
    ++disk_.syncs_;
    if (disk_.faults.sync_error != 0) {
      inode_->dirty.clear();  // as Linux does: the pages are clean and not on the disk
      throw SystemError(disk_.faults.sync_error, "syncing");
    }
    inode_->sync();
  }
  void truncate(std::uint64_t bytes) override {
    const std::lock_guard lock(disk_.mutex_);
    disk_.operate();
    inode_->bytes.resize(bytes);
    seen_->truncate(bytes);
  }

 private:
  SimulatedDisk& disk_;
  std::shared_ptr<Inode> inode_;
  std::unique_ptr<LogFile> seen_;
};

class SimulatedDisk::Folder final : public LogFolder {
 public:
  explicit Folder(SimulatedDisk& disk) : disk_(disk), seen_(disk_folder(disk.path_)) {}

  const std::filesystem::path& path() const override { return disk_.path_; }

  std::unique_ptr<LogFile> create(const std::string& name, std::uint64_t bytes) override {
    const std::lock_guard lock(disk_.mutex_);
    disk_.operate();
    if (disk_.used_bytes() + bytes > disk_.faults.room_bytes) {
      throw SystemError(ENOSPC, "allocating {} bytes", bytes);
    }
    auto seen = seen_->create(name, bytes);
    auto inode = std::make_shared<Inode>();
    inode->bytes.resize(bytes);
    disk_.names_[name] = inode;
    return std::make_unique<File>(disk_, std::move(inode), std::move(seen));
  }
  std::unique_ptr<LogFile> open(const std::string& name) override {
    const std::lock_guard lock(disk_.mutex_);
    return std::make_unique<File>(disk_, disk_.names_.at(name), seen_->open(name));
  }
  void rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(disk_.mutex_);
    disk_.operate();
    seen_->rename(from, to);
    auto inode = disk_.names_.extract(from);
    disk_.names_[to] = inode.mapped();
  }
  void remove(const std::string& name) override {
    const std::lock_guard lock(disk_.mutex_);
    disk_.operate();
    seen_->remove(name);
    disk_.names_.erase(name);
  }
  void sync() override {
    const std::lock_guard lock(disk_.mutex_);
    disk_.operate();
    disk_.durable_names_ = disk_.names_;
  }

 private:
  SimulatedDisk& disk_;
  std::unique_ptr<LogFolder> seen_;
};

/// The disk must outlive it.
inline std::unique_ptr<LogFolder> SimulatedDisk::folder() {
  return std::make_unique<Folder>(*this);
}

}  // namespace farvec::wal::tests
