// Cores that calls borrow, each made when the first call needs it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "search/core/search_core.h"

namespace farvec::python {

using CorePointer = std::unique_ptr<search::SearchCore>;

/// Shared by threads.
class CorePool {
 public:
  /// `make` is called at most `most` times, by the threads of borrow(), one at a time.
  CorePool(std::function<CorePointer()> make, std::uint32_t most);

  /// Cores that one call has until it is destroyed.
  class Loan {
   public:
    Loan(CorePool& pool, std::vector<CorePointer> cores) : pool_(pool), cores_(std::move(cores)) {}
    ~Loan() { pool_.give_back(cores_); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    std::span<const CorePointer> cores() const { return cores_; }

   private:
    CorePool& pool_;
    std::vector<CorePointer> cores_;
  };

  /// As many as are free, at least one and at most `wanted`. Waits for the first: then throws
  /// StatusError (deadline_exceeded). Throws also what making one throws.
  Loan borrow(std::uint32_t wanted, std::chrono::steady_clock::time_point until);

 private:
  void make(std::uint32_t count, std::vector<CorePointer>& cores);
  void give_back(std::vector<CorePointer>& cores);

  const std::function<CorePointer()> make_;
  const std::uint32_t most_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<CorePointer> free_;
  std::uint32_t unmade_;
  bool making_ = false;  ///< a call makes cores, without the mutex
};

}  // namespace farvec::python
