#include "distance/isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace farvec::distance {
namespace {

using testing::HasSubstr;

std::string message_for(std::string_view name) {
  try {
    (void)choose_isa(name);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Isa, PortableIsAlwaysThere) {
  EXPECT_TRUE(is_available(Isa::portable));
  EXPECT_EQ(available_isas().front(), Isa::portable);
}

TEST(Isa, AnEmptyNameChoosesTheBest) {
  EXPECT_EQ(choose_isa(""), available_isas().back());
}

TEST(Isa, EveryAvailableNameIsAccepted) {
  for (const Isa isa : available_isas()) EXPECT_EQ(choose_isa(to_string(isa)), isa);
}

TEST(Isa, AnUnknownNameIsRefused) {
  for (const char* name : {"sse2", "AVX2", "avx512 ", "portable,avx2"}) {
    EXPECT_THAT(message_for(name), HasSubstr(std::string("FARVEC_ISA=") + name));
    EXPECT_THAT(message_for(name), HasSubstr("portable"));
  }
}

TEST(Isa, AnUnavailableNameIsRefused) {
  int refused = 0;
  for (const Isa isa : {Isa::neon, Isa::avx2, Isa::avx512}) {
    if (is_available(isa)) continue;
    EXPECT_THAT(message_for(to_string(isa)), HasSubstr("not available on this processor"));
    ++refused;
  }
  EXPECT_GT(refused, 0) << "no processor has both NEON and AVX2";
}

/// active_isa() reads the variable once, so each value gets a process of its own.
TEST(IsaDeathTest, TheEnvironmentForcesOne) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto exit_code = [](const char* name) {
    setenv("FARVEC_ISA", name, 1);
    try {
      return active_isa() == Isa::portable ? 0 : 1;
    } catch (const Error&) {
      return 2;
    }
  };
  EXPECT_EXIT(std::exit(exit_code("portable")), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::exit(exit_code("sse2")), testing::ExitedWithCode(2), "");
}

TEST(Isa, FeaturesIncludeWhatTheyBuildOn) {
  const CpuFeatures& f = cpu_features();
  EXPECT_TRUE(!f.avx512 || f.avx2);
  EXPECT_TRUE(!f.avx512_vnni || f.avx512);
  EXPECT_TRUE(!f.avx512_vpopcntdq || f.avx512);
}

}  // namespace
}  // namespace farvec::distance
