// A backend over a few vectors in memory, searched by brute force, that can block, die and return.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "compute_node/service/search_backend.h"

namespace farvec::compute_node {

/// What a test turns while cores run.
struct FakeControls {
  std::atomic<bool> hold{false};          ///< cores take tasks but do not finish them
  std::atomic<bool> alive{true};          ///< of the session that is open now
  std::atomic<bool> reachable{true};      ///< for the next open()
  std::atomic<bool> throw_next{false};    ///< a core throws with a task in its hands
  std::atomic<bool> count_probes{false};  ///< the session says what a cluster index does
  std::atomic<int> opened{0};             ///< also the generation of the last session
  std::atomic<int> open{0};               ///< sessions
  std::atomic<int> newest{0};             ///< generation that a session knows of
  std::atomic<int> begun{0};              ///< searches that a core has taken
  std::atomic<int> held{0};               ///< hold, of this generation alone
  std::atomic<int> slow_us{0};           ///< a search takes at least so long, past its deadline too
  std::atomic<bool> fail_cores{false};   ///< cores that begin throw before they ask for a task
  std::atomic<bool> stall_cores{false};  ///< cores that begin do not ask for a task
  std::atomic<std::uint32_t> missed{0};  ///< nearest rows that no search finds unless it is exact
};

/// f32, l2; takes one task at a time from the feed.
class FakeSession final : public SearchSession {
 public:
  FakeSession(std::vector<float> rows, std::uint32_t dimension, FakeControls& controls)
      : rows_(std::move(rows)), controls_(controls) {
    index_.dimension = dimension;
    index_.count = rows_.size() / dimension;
    index_.degree = 8;
    index_.layout = "csr";
    index_.tier = "fake";
    index_.code_bytes = index_.count * 20;
    index_.generation = static_cast<std::uint64_t>(++controls_.opened);
    controls_.alive = true;
    ++controls_.open;
  }
  ~FakeSession() override { --controls_.open; }

  const ServedIndex& index() const override { return index_; }
  bool alive() const override { return controls_.alive; }
  bool superseded() const override { return controls_.newest > generation(); }
  TierCounters& counters() override { return counters_; }
  std::optional<search::ProbeTally> probes() const override {
    if (!controls_.count_probes) return std::nullopt;
    return search::ProbeTally{"fake", 7, {3, 0, 5}};
  }

  void run_core(unsigned, search::TaskFeed& feed) override {
    if (controls_.fail_cores) throw Error("the fake core has no locked memory left");
    while (controls_.stall_cores && !feed.finished()) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    while (!feed.finished()) {
      search::SearchTask* task = feed.next();
      if (task == nullptr) {
        feed.idle();
        continue;
      }
      if (controls_.throw_next.exchange(false)) throw Error("the fake core was told to throw");
      search(*task);
      feed.done(*task);
    }
  }

 private:
  int generation() const { return static_cast<int>(index_.generation); }
  bool held() const { return controls_.hold || controls_.held == generation(); }

  void search(search::SearchTask& task) {
    task.clock.started = now_ticks();
    task.answer.status = {};
    ++controls_.begun;
    while (held() && alive() && now_ticks() < task.request.deadline) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (!alive()) {
      task.answer.status = {StatusCode::unavailable, "the memory node is gone"};
    } else if (now_ticks() >= task.request.deadline) {
      task.answer.status = {StatusCode::deadline_exceeded, "the deadline passed during the search"};
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(controls_.slow_us.load()));
      brute_force(task);
    }
    task.clock.finished = now_ticks();
  }

  void brute_force(search::SearchTask& task) {
    std::vector<float> query(index_.dimension);
    std::memcpy(query.data(), task.request.query, query.size() * sizeof(float));
    std::vector<std::pair<float, NodeId>> found;
    for (NodeId id = 0; id < index_.count; ++id) {
      float sum = 0;
      for (std::uint32_t d = 0; d < index_.dimension; ++d) {
        const float difference = query[d] - rows_[id * index_.dimension + d];
        sum += difference * difference;
      }
      found.emplace_back(sum, id);
    }
    std::sort(found.begin(), found.end());
    if (!task.request.exact) found.erase(found.begin(), found.begin() + controls_.missed);
    task.answer.found = std::min<std::uint32_t>(task.request.parameters.k(),
                                                static_cast<std::uint32_t>(found.size()));
    for (std::uint32_t i = 0; i < task.answer.found; ++i) {
      task.answer.ids[i] = found[i].second;
      task.answer.distances[i] = found[i].first;
    }
    task.answer.counts.reads = static_cast<std::uint32_t>(index_.count);
    task.answer.counts.distances = index_.count;
    ++(task.request.exact ? task.answer.counts.scans : task.answer.counts.walks);
  }

  const std::vector<float> rows_;
  FakeControls& controls_;
  ServedIndex index_;
  TierCounters counters_;
};

/// Row i of the fake index is (i, i, ...).
inline std::unique_ptr<FakeSession> fake_session(FakeControls& controls, std::uint32_t count = 50,
                                                 std::uint32_t dimension = 3) {
  std::vector<float> rows(std::size_t{count} * dimension);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i / dimension);
  return std::make_unique<FakeSession>(std::move(rows), dimension, controls);
}

class FakeBackend final : public SearchBackend {
 public:
  explicit FakeBackend(FakeControls& controls) : controls_(controls) {}
  std::string target() const override { return "memory node nowhere:1"; }
  std::unique_ptr<SearchSession> open(std::chrono::milliseconds,
                                      const std::atomic<bool>&) override {
    if (!controls_.reachable) throw UnreachableError("connection refused");
    return fake_session(controls_);
  }

 private:
  FakeControls& controls_;
};

/// Polls until `condition` holds, at most 20 s.
template <typename Condition>
bool eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace farvec::compute_node
