#include "layout/collection/option_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/status_error.h"
#include "tests/unit/message_of.h"

namespace farvec::layout {
namespace {

using testing::HasSubstr;
using tests::message_of;

CollectionManifest some_manifest() {
  CollectionManifest manifest;
  manifest.dimension = 8;
  return manifest;
}

std::string said(const std::function<void(CollectionManifest&)>& change) {
  CollectionManifest manifest = some_manifest();
  change(manifest);
  try {
    check_new_collection(manifest, as_it_is);
  } catch (const StatusError& error) {
    EXPECT_EQ(error.code, StatusCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST(OptionBounds, TakesWhatTheManifestTakes) {
  EXPECT_EQ(said([](auto&) {}), "");
  EXPECT_EQ(said([](auto& m) { m.options.memtable_rows = kMemtableRowsBounds.most; }), "");
  EXPECT_EQ(said([](auto& m) { m.options.kind = IndexKind::cluster; }), "");
}

TEST(OptionBounds, NamesWhatCannotBeAndWhatItMayBe) {
  EXPECT_EQ(said([](auto& m) { m.dimension = 0; }), "dimension: 0 is out of range: use 1 to 16384");
  EXPECT_EQ(said([](auto& m) { m.options.memtable_rows = 0; }),
            "memtable_rows: 0 is out of range: use 1 to 1073741824");
  EXPECT_EQ(said([](auto& m) { m.options.merge_fanout = 1; }),
            "merge_fanout: 1 is out of range: use 2 to 64");
  EXPECT_EQ(said([](auto& m) { m.options.degree = 2000; }),
            "degree: 2000 is out of range: use 1 to 1024");
  EXPECT_EQ(said([](auto& m) { m.options.list = 0; }), "list: 0 is out of range: use 1 to 10000");
  EXPECT_EQ(said([](auto& m) { m.options.alpha = 0.5; }), "alpha: 0.5 is out of range: use 1 to 4");
  EXPECT_THAT(said([](auto& m) { m.options.alpha = std::nan(""); }), HasSubstr("alpha: nan"));
  EXPECT_THAT(said([](auto& m) { m.options.code_bits = 9; }), HasSubstr("use 0 to 8"));
  EXPECT_THAT(said([](auto& m) { m.options.layout = LayoutKind::padded; }), HasSubstr("layout: "));
  EXPECT_EQ(said([](auto& m) { m.options.layout = LayoutKind::slotted; }), "");
}

TEST(OptionBounds, OfClusters) {
  const auto with = [](auto change) {
    return said([&](CollectionManifest& m) {
      m.options.kind = IndexKind::cluster;
      change(m.options.clusters);
    });
  };
  EXPECT_THAT(with([](auto& c) { c.cluster_bytes = 0; }), HasSubstr("cluster_bytes: 0"));
  EXPECT_THAT(with([](auto& c) { c.replicas = kMaxReplicas + 1; }), HasSubstr("replicas: "));
  EXPECT_THAT(with([](auto& c) { c.closure_ratio = 0.5; }), HasSubstr("closure_ratio: 0.5"));
  EXPECT_EQ(with([](auto& c) { c.closure_ratio = 0; }), "");
  EXPECT_THAT(with([](auto& c) { c.balance = 0; }), HasSubstr("balance: 0"));
}

TEST(OptionBounds, AreSaidAsTheCallerWritesThem) {
  CollectionManifest manifest = some_manifest();
  manifest.options.memtable_rows = 0;
  EXPECT_THAT(message_of([&] { check_new_collection(manifest, as_tool_option); }),
              HasSubstr("--memtable-rows: 0"));
}

}  // namespace
}  // namespace farvec::layout
