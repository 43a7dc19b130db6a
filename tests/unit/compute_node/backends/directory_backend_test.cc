#include "compute_node/backends/directory_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "tests/unit/search/cluster_fixture.h"

namespace farvec::compute_node {
namespace {

using search::small_clusters;

constexpr auto kLayout = layout::ClusterLayoutKind::grouped;
constexpr std::uint32_t kProbe = 6;

DirectoryBackend serving(const std::string& tier) {
  DirectorySource source;
  source.path = small_clusters().path(kLayout).string();
  source.tier = tier;
  return DirectoryBackend(source, largest_searches({}, 1, 16));
}

TEST(DirectoryBackend, AnswersFromEveryTierOfThisMachine) {
  const std::string records =
      layout::IndexDirectory::open(small_clusters().path(kLayout)).region_path(0).string();
  const std::atomic<bool> stop{false};
  for (const std::string& tier :
       {std::string("dram"), std::string("shm"), "file:" + records, std::string("emulated:cxl"),
        std::string("emulated:rdma"), std::string("ssd"), "ssd:" + records}) {
    SCOPED_TRACE(tier);
    DirectoryBackend backend = serving(tier);
    const auto session = backend.open(std::chrono::seconds(1), stop);
    EXPECT_EQ(session->index().tier, tier);
    EXPECT_EQ(session->index().search_bytes > 0, tier.starts_with("ssd"));
    search::Feed feed(small_clusters(), 20, {.clusters = kProbe});
    session->run_core(0, feed);
    for (const auto& task : feed.tasks()) {
      search::expect_answer(task, search::nearest_members(small_clusters(), task));
    }
    const auto probed = session->probes()->counts;
    EXPECT_EQ(std::accumulate(probed.begin(), probed.end(), std::uint64_t{0}), 20u * kProbe);
  }
}

TEST(DirectoryBackend, RefusesTiersOfMemoryNodes) {
  for (const char* tier : {"verbs", "verbs:a:1", "fabric:tcp:a:1"}) {
    EXPECT_THROW(serving(tier), Error) << tier;
  }
}

TEST(DirectoryBackend, ALoadThatIsStoppedMayBeTriedAgain) {
  const std::atomic<bool> stop{true};
  DirectoryBackend backend = serving("dram");
  EXPECT_THROW((void)backend.open(std::chrono::seconds(1), stop), UnreachableError);
}

}  // namespace
}  // namespace farvec::compute_node
