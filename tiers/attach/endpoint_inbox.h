// An EndpointInbox is where one core finds endpoints of memory nodes that were attached while it
// searched.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "transport/endpoint.h"

namespace farvec::tiers {

/// put() is for the thread that attaches, which may be any: connecting takes a while, and the core
/// goes on searching meanwhile. All other members are for the core.
class EndpointInbox {
 public:
  explicit EndpointInbox(std::uint32_t nodes) : arrived_(nodes) {}

  /// Registers the core's memory with the endpoint and keeps it until the core takes it. It
  /// replaces one that was not taken. It does nothing after close(). Throws SystemError when the
  /// device refuses the memory.
  void put(std::uint32_t node, std::unique_ptr<transport::Endpoint> endpoint) {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    for (const std::span<std::byte> memory : memory_) endpoint->register_memory(memory);
    arrived_[node] = std::move(endpoint);
    // Release, with has_any(): only saves the core the lock.
    any_.store(true, std::memory_order_release);
  }

  bool has_any() const { return any_.load(std::memory_order_acquire); }

  /// Returns an endpoint for each node, null for those without a new one.
  std::vector<std::unique_ptr<transport::Endpoint>> take_all() {
    std::lock_guard lock(mutex_);
    any_.store(false, std::memory_order_relaxed);
    std::vector<std::unique_ptr<transport::Endpoint>> taken(arrived_.size());
    taken.swap(arrived_);
    return taken;
  }

  /// Registers the memory with every endpoint that waits here or comes later. The memory must
  /// outlive them.
  void add_memory(std::span<std::byte> memory) {
    std::lock_guard lock(mutex_);
    memory_.push_back(memory);
    for (const auto& endpoint : arrived_) {
      if (endpoint != nullptr) endpoint->register_memory(memory);
    }
  }

  /// To be called before the core's memory goes.
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.clear();
    memory_.clear();
  }

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<std::unique_ptr<transport::Endpoint>> arrived_;  ///< one for each node
  std::vector<std::span<std::byte>> memory_;
  std::atomic<bool> any_{false};
};

}  // namespace farvec::tiers
