// A node's end of RDMA for tests. Needs a device (soft-RoCE will do); scripts/lab/lab.sh gives one
// to machines without.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/unit/transport/test_regions.h"
#include "transport/verbs/verbs_listener.h"

namespace farvec::transport {

class VerbsFixture : public testing::Test {
 protected:
  static constexpr GrantLease kLease{std::byte{1}, std::byte{2}};

  void SetUp() override {
    const char* self = std::getenv("FARVEC_LAB_SELF");
    if (self == nullptr || !std::filesystem::exists("/sys/class/infiniband")) {
      GTEST_SKIP() << "no RDMA device (or FARVEC_LAB_SELF is not set): run this program through "
                      "scripts/lab/lab.sh run";
    }
    host_ = self;
    listener_ = std::make_unique<VerbsListener>(
        VerbsListenerOptions{.host = host_, .memory_windows = with_windows()}, spans_of(*regions_),
        [this](const GrantLease& lease) { return lease == kLease && admits_; }, writable());
  }
  /// Whether keys are those of memory windows or of registrations.
  virtual bool with_windows() const { return true; }
  /// What the listener lets a writer fill.
  virtual WritableRegions writable() { return {}; }

  std::shared_ptr<const RegionSet> regions_ = random_regions();
  std::string host_;
  std::atomic<bool> admits_{true};
  std::unique_ptr<VerbsListener> listener_;
};

}  // namespace farvec::transport
