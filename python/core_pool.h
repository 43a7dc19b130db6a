// A CorePool lends cores to calls, and makes each core when a call first needs it.
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

/// Lends cores to the calls of several threads.
class CorePool {
 public:
  /// The pool has at most `most` cores, which the threads of borrow() make with `make`, one thread
  /// at a time.
  CorePool(std::function<CorePointer()> make, std::uint32_t most);

  /// Holds cores that one call has until this is destroyed.
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

  /// Lends as many cores as are free, at least one and at most `wanted`. Waits for the first one,
  /// and throws StatusError (deadline_exceeded) when there is none by `until`. Throws also what
  /// making a core throws.
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
  bool making_ = false;  ///< a call makes cores, and does not hold the mutex
};

}  // namespace farvec::python
