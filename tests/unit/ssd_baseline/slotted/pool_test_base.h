// What the tests of both pools share: a pool of a few places, and its records.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "tests/unit/ssd_baseline/slotted/pool_fixture.h"

namespace farvec::slotted::testing {

template <typename Pool>
class PoolTestBase : public ::testing::Test {
 protected:
  using Outcome = SlotClaim::Outcome;
  using State = RecordPlace::State;
  static constexpr std::uint32_t kSteps = 100;
  static constexpr std::size_t kRecords = 64;

  explicit PoolTestBase(const typename Pool::Options& options) : pool_({}, map_, options) {}

  /// Whether the record was there; checks its bytes.
  bool touch(NodeId id) {
    Status status;
    return pool_.read(
        id,
        [&](std::span<const std::byte> record) {
          EXPECT_TRUE(is_record(id, record));
          return Status();
        },
        status);
  }

  std::vector<std::uint32_t> map_ = map_of(kRecords);
  Pool pool_;
};

}  // namespace farvec::slotted::testing
