// Memory that loses power: what was not persisted is there afterwards, or is not, line by line.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "base/descriptor.h"
#include "base/memory.h"
#include "base/random.h"
#include "device/persistent_memory.h"

namespace farvec::device {

/// Thrown by the persist() in which the power goes. No Error, so that nobody handles it.
struct PowerCut {};

/// Zeros that take no memory until they are written.
using LazyBytes = std::unique_ptr<std::byte[], decltype(&std::free)>;

inline LazyBytes lazy_bytes(std::size_t size) {
  return {static_cast<std::byte*>(std::calloc(size, 1)), std::free};
}

inline constexpr std::size_t kPageBytes = 4096;

/// A device: what outlives the loss of power, what processors see, and when power goes.
struct Medium {
  explicit Medium(std::size_t bytes)
      : size(bytes), durable(lazy_bytes(bytes)), seen(lazy_bytes(bytes)) {}

  /// The device as it is when power is back.
  std::shared_ptr<Medium> after() const {
    auto again = std::make_shared<Medium>(size);
    for (std::size_t page = 0; page < size; page += kPageBytes) {
      if (std::memcmp(durable.get() + page, again->durable.get() + page, kPageBytes) == 0) continue;
      std::memcpy(again->durable.get() + page, durable.get() + page, kPageBytes);
      std::memcpy(again->seen.get() + page, durable.get() + page, kPageBytes);
    }
    return again;
  }

  const std::size_t size;  ///< whole pages
  const LazyBytes durable;
  const LazyBytes seen;
  std::uint64_t persists = 0;
  /// The number of the persist() that does not return.
  std::uint64_t cut_at = std::numeric_limits<std::uint64_t>::max();
  /// Each line that was written and not persisted has reached the medium with one half's chance.
  Random chance{1};
  bool dark = false;  ///< no byte reaches it any more
  std::uint64_t unsafe_shutdowns = 0;
};

class FailingMemory final : public PersistentMemory {
 public:
  explicit FailingMemory(std::shared_ptr<Medium> medium) : medium_(std::move(medium)) {
    std::string name = "/tmp/farvec-lock-XXXXXX";
    file_.reset(mkstemp(name.data()));
    unlink(name.c_str());
  }

  std::span<std::byte> bytes() const override { return {medium_->seen.get(), medium_->size}; }
  void copy(std::uint64_t offset, std::span<const std::byte> from) override {
    std::memcpy(medium_->seen.get() + offset, from.data(), from.size());
  }
  void persist(std::uint64_t offset, std::uint64_t bytes) override {
    if (medium_->dark) throw PowerCut();
    if (++medium_->persists == medium_->cut_at) {
      lose_power();
      throw PowerCut();
    }
    std::memcpy(medium_->durable.get() + offset, medium_->seen.get() + offset, bytes);
  }
  const std::string& path() const override { return path_; }
  std::string description() const override { return "memory of a test"; }
  std::uint64_t alignment() const override { return 4096; }
  std::uint64_t unsafe_shutdowns() const override { return medium_->unsafe_shutdowns; }
  int descriptor() const override { return file_.get(); }

 private:
  void lose_power() {
    medium_->dark = true;
    const std::byte* const seen = medium_->seen.get();
    std::byte* const durable = medium_->durable.get();
    for (std::size_t page = 0; page < medium_->size; page += kPageBytes) {
      if (std::memcmp(seen + page, durable + page, kPageBytes) == 0) continue;
      for (std::size_t at = page; at < page + kPageBytes; at += kCacheLineBytes) {
        if (medium_->chance.below(2) != 0) std::memcpy(durable + at, seen + at, kCacheLineBytes);
      }
    }
  }

  const std::shared_ptr<Medium> medium_;
  const std::string path_ = "dev";
  Descriptor file_;
};

}  // namespace farvec::device
