#include "memory_node/read_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/message_of.h"

namespace farvec::memory_node {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::message_of;

TEST(CheckFabric, AsksForTheInterfaceToListenOn) {
  for (const char* spec : {"tcp", "tcp:0.0.0.0"}) {
    EXPECT_THAT(message_of([&] { check_fabric(spec); }),
                AllOf(HasSubstr("--fabric " + std::string(spec)), HasSubstr("tcp:HOST")));
  }
  EXPECT_EQ(message_of([] { check_fabric("tcp:127.0.0.1"); }), "");
  EXPECT_EQ(message_of([] { check_fabric("shm"); }), "") << "it has no addresses of interfaces";
}

TEST(CheckFabric, NamesTheOptionWhenAProviderIsUnknown) {
  EXPECT_THAT(message_of([] { check_fabric("carrier-pigeon:127.0.0.1"); }),
              AllOf(HasSubstr("--fabric"), HasSubstr("no provider 'carrier-pigeon'")));
  EXPECT_THAT(message_of([] { check_fabric("tcp:"); }), HasSubstr("--fabric 'tcp:'"));
}

TEST(ConnectionsPerLease, FollowTheProcessorsButAreNotFew) {
  EXPECT_EQ(default_connections_per_lease(0), 64u);  // a machine that does not say
  EXPECT_EQ(default_connections_per_lease(32), 64u);
  EXPECT_EQ(default_connections_per_lease(192), 384u);
}

}  // namespace
}  // namespace farvec::memory_node
