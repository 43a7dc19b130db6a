// Opens the index that comes next while another one is served.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "compute_node/service/search_backend.h"

namespace farvec::compute_node {

/// One attempt at a time, on a thread of its own, with back-off between failed ones. Used by one
/// thread.
class Successor {
 public:
  /// The backend is borrowed, and nobody else may open it meanwhile.
  Successor(SearchBackend& backend, std::chrono::milliseconds first_back_off)
      : backend_(backend), first_back_off_(first_back_off), back_off_(first_back_off) {}
  ~Successor();  ///< ends an attempt that runs
  Successor(const Successor&) = delete;
  Successor& operator=(const Successor&) = delete;

  /// To be called again and again: begins an attempt when one is `wanted`, and hands out what the
  /// last one has opened. Does not block.
  std::unique_ptr<SearchSession> poll(bool wanted);

 private:
  void attempt();

  SearchBackend& backend_;
  const std::chrono::milliseconds first_back_off_;
  std::chrono::milliseconds back_off_;
  std::chrono::steady_clock::time_point not_before_{};
  std::string last_error_;
  std::atomic<bool> stop_{false};
  // Of the attempt's thread until done_:
  std::unique_ptr<SearchSession> session_;
  std::string error_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace farvec::compute_node
