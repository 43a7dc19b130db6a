#include "compute_node/backends/make_backend.h"

#include <gtest/gtest.h>

#include "compute_node/backends/index_session.h"

namespace farvec::compute_node {
namespace {

std::string target_of(const Source& source) {
  return make_backend(source, {.largest = largest_searches({}, 2, 4), .tls = nullptr})->target();
}

TEST(MakeBackend, HasABackendForEverySource) {
  MemoryNodeSource nodes;
  nodes.nodes = "a:1,b:1";
  EXPECT_EQ(target_of(nodes), "memory node a:1,b:1");
  DirectorySource directory;
  directory.path = "/srv/index";
  EXPECT_EQ(target_of(directory), "index directory /srv/index");
  ChangedSource changed;
  changed.collection.name = "/srv/set";
  EXPECT_EQ(target_of(changed), "collection /srv/set");
  EXPECT_EQ(target_of(FollowedSource{changed.collection}), "collection /srv/set");
}

TEST(MakeBackend, SharesTheCacheAmongTheCores) {
  const search::SearchShape shape = with_cache(largest_searches({}, 4, 8), 4000);
  EXPECT_EQ(shape.cores, 4u);
  EXPECT_EQ(shape.slots, 8u);
  EXPECT_EQ(shape.cache_bytes, 1000u);
}

}  // namespace
}  // namespace farvec::compute_node
