// A SampledFeed passes a core's tasks to a session and back.
#pragma once

#include <cstdint>

#include "compute_node/service/search_backend.h"
#include "search/core/search_core.h"

namespace farvec::compute_node {

/// Passes everything on, fails tasks that ended after the index was lost, and samples the core's
/// statistics where that is allowed, which is in its calls. All three are borrowed.
class SampledFeed final : public search::TaskFeed {
 public:
  SampledFeed(search::TaskFeed& feed, const search::SearchCore& core, SearchSession& session)
      : feed_(feed), core_(core), session_(session), counters_(session.counters()) {}
  ~SampledFeed() override;

  search::SearchTask* next() override { return feed_.next(); }
  bool finished() override { return feed_.finished(); }
  void done(search::SearchTask& task) override;
  void idle() override;

 private:
  static constexpr std::uint32_t kSampleEvery = 64;

  void sample();

  search::TaskFeed& feed_;
  const search::SearchCore& core_;
  SearchSession& session_;
  TierCounters& counters_;
  search::CoreStatistics last_;
  std::uint32_t done_ = 0;
};

}  // namespace farvec::compute_node
