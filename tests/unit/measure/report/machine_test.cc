#include "measure/report/machine.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/temporary_folder.h"

namespace farvec::measure {
namespace {

class Caches {
 public:
  void add(const std::string& name, const std::string& level, const std::string& size) {
    const auto cache = folder_.path() / name;
    std::filesystem::create_directory(cache);
    std::ofstream(cache / "level") << level << "\n";
    std::ofstream(cache / "size") << size << "\n";
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  tests::TemporaryFolder folder_;
};

TEST(Machine, FindsTheThirdLevelAmongTheCaches) {
  Caches caches;
  EXPECT_EQ(third_level_bytes(caches.path()), 0u);
  caches.add("index0", "1", "32K");
  EXPECT_EQ(third_level_bytes(caches.path()), 0u);
  caches.add("index3", "3", "32768K");
  EXPECT_EQ(third_level_bytes(caches.path()), 32u << 20);
  EXPECT_EQ(third_level_bytes(caches.path() / "none"), 0u);
}

TEST(Machine, ASizeThatIsNoneIsNotKnown) {
  for (const auto& [text, bytes] : {std::pair<std::string, std::size_t>{"6M", 6u << 20},
                                    {"1024", 1024},
                                    {"", 0},
                                    {"K", 0},
                                    {"5 parsecs", 5},
                                    {"5X", 0}}) {
    Caches caches;
    caches.add("index3", "3", text);
    EXPECT_EQ(third_level_bytes(caches.path()), bytes) << text;
  }
}

TEST(Machine, IsDescribedWithItsCache) {
  EXPECT_EQ(describe({"vm", "P", 2, "avx512", 32u << 20}),
            "vm (P, 2 processors, avx512, L3 32 MiB)");
  EXPECT_EQ(describe({"vm", "P", 1, "avx2", 0}), "vm (P, 1 processors, avx2, unknown L3)");
  EXPECT_EQ(describe_bytes(3u << 29), "1.5 GiB");
  EXPECT_FALSE(this_machine().processor.empty());
}

}  // namespace
}  // namespace farvec::measure
