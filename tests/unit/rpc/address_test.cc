#include "rpc/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace farvec::rpc {
namespace {

TEST(Addresses, AreSeparatedByCommas) {
  const auto addresses = parse_addresses("a:1,[::1]:2,unix:/tmp/s");
  ASSERT_EQ(addresses.size(), 3u);
  EXPECT_EQ(to_string(addresses[1]), "[::1]:2");
  EXPECT_EQ(parse_addresses("a:1").size(), 1u);
  for (const char* text : {"", "a:1,", ",a:1", "a:1,,b:2", "a:1,b"}) {
    EXPECT_THROW((void)parse_addresses(text), Error) << text;
  }
  EXPECT_THROW((void)parse_addresses("a:1,b:1,a:1"), Error) << "twice";
}

TEST(Address, ReadsWhatItWrites) {
  for (const char* text :
       {"localhost:7700", "127.0.0.1:0", "[::1]:65535", "unix:/tmp/a.sock", "unix:relative.sock"}) {
    EXPECT_EQ(to_string(parse_address(text)), text);
  }
}

TEST(Address, SplitsTheParts) {
  const Address tcp = parse_address("[fe80::2]:99");
  EXPECT_EQ(tcp.host, "fe80::2");
  EXPECT_EQ(tcp.port, 99);
  EXPECT_FALSE(tcp.is_unix());
  EXPECT_EQ(parse_address("unix:/a:b").unix_path, "/a:b");
}

TEST(Address, RefusesNonsense) {
  for (const char* text : {"", "localhost", "localhost:", ":1", "localhost:65536", "localhost:-1",
                           "localhost:1x", "::1:80", "unix:", "[]:1"}) {
    EXPECT_THROW(parse_address(text), Error) << text;
  }
  EXPECT_THROW(parse_address("unix:/" + std::string(200, 'x')), Error);
}

TEST(Address, OnlyLocalBindingsAreSafe) {
  EXPECT_TRUE(is_local(parse_address("127.0.0.1:1")));
  EXPECT_TRUE(is_local(parse_address("127.8.0.1:1")));
  EXPECT_TRUE(is_local(parse_address("[::1]:1")));
  EXPECT_TRUE(is_local(parse_address("unix:/x")));
  EXPECT_FALSE(is_local(parse_address("0.0.0.0:1")));
  EXPECT_FALSE(is_local(parse_address("[::]:1")));
  EXPECT_FALSE(is_local(parse_address("192.0.2.1:1")));

  require_safe_binding(parse_address("127.0.0.1:1"), false);
  require_safe_binding(parse_address("0.0.0.0:1"), true);
  try {
    require_safe_binding(parse_address("0.0.0.0:7700"), false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("0.0.0.0:7700"));
    EXPECT_THAT(error.what(), testing::HasSubstr("--insecure"));
  }
}

}  // namespace
}  // namespace farvec::rpc
