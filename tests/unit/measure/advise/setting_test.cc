#include "measure/advise/setting.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace farvec::measure {
namespace {

const IndexedFile kFile{"base.u8bin", Metric::l2, 128};

Setting graph(layout::LayoutKind kind, double memory_percent = 0) {
  Setting setting;
  setting.degree = 32;
  setting.graph_layout = kind;
  setting.memory_percent = memory_percent;
  return setting;
}

TEST(Setting, EveryLayoutHasANameACommandAndAFamily) {
  const Setting csr = graph(layout::LayoutKind::csr);
  EXPECT_EQ(to_string(csr), "graph, degree 32, csr");
  EXPECT_TRUE(build_command(csr, kFile, {}).ends_with("--code-bits 4 --layout csr"));
  EXPECT_EQ(search_options(csr, {}), "--width 3");
  EXPECT_EQ(family_of(csr), SearchFamily::graph);

  const Setting padded = graph(layout::LayoutKind::padded);
  EXPECT_EQ(to_string(padded), "graph, degree 32, padded");
  EXPECT_TRUE(build_command(padded, kFile, {}).ends_with("--layout padded"));
  EXPECT_EQ(family_of(padded), SearchFamily::graph);

  const Setting inlined = graph(layout::LayoutKind::inlined);
  EXPECT_EQ(to_string(inlined), "graph, degree 32, inline");
  EXPECT_TRUE(build_command(inlined, kFile, {}).ends_with("--code-bits 1 --layout inline"));
  EXPECT_EQ(search_options(inlined, {}), "--width 3");
  EXPECT_EQ(family_of(inlined), SearchFamily::inlined);

  const Setting slotted = graph(layout::LayoutKind::slotted, 20);
  EXPECT_EQ(to_string(slotted), "graph, degree 32, slotted, 20% in memory");
  EXPECT_TRUE(build_command(slotted, kFile, {}).ends_with("--layout slotted --payload vector"));
  EXPECT_EQ(search_options(slotted, {}),
            "--width 1 --search best-first --prefetch off --memory-budget 20%");
  EXPECT_EQ(family_of(slotted), SearchFamily::slotted);

  const Setting clusters{
      layout::IndexKind::cluster, 0, {100, 8}, layout::ClusterLayoutKind::grouped};
  EXPECT_EQ(to_string(clusters), "clusters of 100, R 8, grouped");
  EXPECT_EQ(build_command(clusters, kFile, {}),
            "farvec build cluster --data base.u8bin --metric l2 --cluster-bytes 12800 "
            "--replicas 8 --layout grouped");
  EXPECT_EQ(search_options(clusters, {}), "");
  EXPECT_EQ(family_of(clusters), SearchFamily::cluster);
}

TEST(Setting, BitsThatWereAskedForAreThoseOfEveryLayoutThatCanHaveThem) {
  GraphBuild recipe;
  EXPECT_EQ(recipe.bits(layout::LayoutKind::csr), 4u);
  EXPECT_EQ(recipe.bits(layout::LayoutKind::slotted), 4u);
  EXPECT_EQ(recipe.bits(layout::LayoutKind::inlined), 1u);
  for (const std::uint32_t bits : {1u, 2u, 4u, 8u}) {
    recipe.code_bits = bits;
    EXPECT_EQ(recipe.bits(layout::LayoutKind::padded), bits);
    EXPECT_EQ(recipe.bits(layout::LayoutKind::inlined), std::min(bits, 4u));
  }
}

TEST(Setting, BitsThatSamplesNeedAreInTheCommand) {
  GraphBuild recipe;
  recipe.steering[layout::LayoutKind::csr] = {0, "because"};
  EXPECT_EQ(recipe.bits(layout::LayoutKind::csr), 0u);
  EXPECT_EQ(recipe.bits(layout::LayoutKind::packed), 4u);
  EXPECT_TRUE(build_command(graph(layout::LayoutKind::csr), kFile, recipe)
                  .ends_with("--code-bits 0 --layout csr"));
}

}  // namespace
}  // namespace farvec::measure
