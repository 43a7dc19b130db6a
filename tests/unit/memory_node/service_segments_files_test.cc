// Files that callers have a memory node load: what they have to be, and where they have to lie.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/fifo.h"
#include "tests/unit/memory_node/segments_fixture.h"

namespace farvec::memory_node {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ServiceSegmentsTest, HoldsIdsBesideTheIndex) {
  start();
  const v1::HeldFile ids = write_ids("ids", 5);
  const auto load_with_ids = [&](const v1::HeldFile& file) {
    return load_with({7, 1}, small_, file);
  };
  ASSERT_TRUE(load_with_ids(ids).ok());
  EXPECT_EQ(loaded_.region_bytes(), small_bytes_ + ids.bytes());
  const std::uint64_t generation = loaded_.generation();
  EXPECT_THAT(numbers(7), ElementsAre(1));
  EXPECT_EQ(listed_.segments(0).ids_xxh3(), ids.xxh3());
  ASSERT_TRUE(attach({7, 1}).ok());
  ASSERT_EQ(attached_.regions_size(), 4);
  EXPECT_EQ(attached_.regions(3).id(), 3u);
  EXPECT_EQ(attached_.regions(3).kind(), "ids");
  EXPECT_EQ(attached_.regions(3).bytes(), ids.bytes());
  detach(attached_);
  ASSERT_TRUE(load_with_ids(ids).ok());
  EXPECT_EQ(loaded_.generation(), generation) << "it is there already";

  v1::HeldFile wrong = ids;
  wrong.set_xxh3(ids.xxh3() + 1);
  const grpc::Status damaged = load_with_ids(wrong);
  EXPECT_EQ(damaged.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(damaged.error_message(), HasSubstr(ids.path()));
  wrong.set_bytes(ids.bytes() - 1);
  EXPECT_THAT(load_with_ids(wrong).error_message(), HasSubstr("is not loaded"));
  wrong.set_path("ids");
  EXPECT_EQ(load_with_ids(wrong).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(held().bytes(), small_bytes_ + ids.bytes());

  ASSERT_TRUE(load_with_ids(write_ids("others", 6)).ok());
  EXPECT_NE(loaded_.generation(), generation) << "other ids are another segment";
  publisher_->collect();
  EXPECT_EQ(held().bytes(), small_bytes_ + ids.bytes());
}

TEST_F(ServiceSegmentsTest, HoldsAttributesBesideTheIds) {
  start();
  const v1::HeldFile ids = write_ids("ids", 5);
  const v1::HeldFile attributes = write_attributes("attributes", 5);
  const std::uint64_t whole = small_bytes_ + ids.bytes() + attributes.bytes();
  ASSERT_TRUE(load_with({7, 1}, small_, ids).ok());
  EXPECT_EQ(loaded_.attributes_xxh3(), 0u);
  const std::uint64_t without = loaded_.generation();
  ASSERT_TRUE(load_with({7, 1}, ids, attributes).ok());
  EXPECT_EQ(loaded_.region_bytes(), whole);
  EXPECT_EQ(loaded_.attributes_xxh3(), attributes.xxh3());
  const std::uint64_t generation = loaded_.generation();
  EXPECT_NE(generation, without) << "what had none before is another segment";
  EXPECT_THAT(numbers(7), ElementsAre(1));
  EXPECT_EQ(listed_.segments(0).ids_xxh3(), ids.xxh3());
  EXPECT_EQ(listed_.segments(0).attributes_xxh3(), attributes.xxh3());
  ASSERT_TRUE(attach({7, 1}).ok());
  ASSERT_EQ(attached_.regions_size(), 5);
  EXPECT_EQ(attached_.regions(3).kind(), "ids");
  EXPECT_EQ(attached_.regions(4).id(), 4u);
  EXPECT_EQ(attached_.regions(4).kind(), "attributes");
  EXPECT_EQ(attached_.regions(4).bytes(), attributes.bytes());
  detach(attached_);
  ASSERT_TRUE(load_with({7, 1}, ids, attributes).ok());
  EXPECT_EQ(loaded_.generation(), generation) << "it is there already";
  EXPECT_EQ(loaded_.attributes_xxh3(), attributes.xxh3());
  ASSERT_TRUE(load_with({7, 1}, ids, write_attributes("others", 6)).ok());
  EXPECT_NE(loaded_.generation(), generation) << "other attributes are another segment";
  publisher_->collect();
  EXPECT_EQ(held().bytes(), whole);
}

TEST_F(ServiceSegmentsTest, RefusesAttributesThatAreNotThoseOfTheSegment) {
  start();
  const v1::HeldFile ids = write_ids("ids", 5);
  const v1::HeldFile attributes = write_attributes("attributes", 5);
  v1::HeldFile wrong = attributes;
  wrong.set_xxh3(attributes.xxh3() + 1);
  EXPECT_THAT(load_with({7, 1}, ids, wrong).error_message(), HasSubstr(attributes.path()));
  EXPECT_EQ(load_with({7, 1}, ids, ids).error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(load_with({7, 1}, attributes, ids).error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(load_with({7, 2}, ids, attributes).error_code(), StatusCode::FAILED_PRECONDITION);
  wrong = attributes;
  wrong.set_path("attributes");
  EXPECT_EQ(load_with({7, 1}, ids, wrong).error_code(), StatusCode::INVALID_ARGUMENT);
  auto alone = named<v1::LoadSegmentRequest>({7, 1});
  alone.set_index(small_);
  *alone.mutable_attributes() = attributes;
  grpc::ClientContext context;
  EXPECT_EQ(stub_->LoadSegment(&context, alone, &loaded_).error_code(),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(held().count(), 0u);
}

TEST_F(ServiceSegmentsTest, HoldsTheNewestCatalogueOfEachCollection) {
  start();
  const auto list = [&] {
    v1::ListCollectionsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->ListCollections(&context, {}, &response).ok());
    return response;
  };
  EXPECT_EQ(list().collections_size(), 0);
  const v1::HeldFile first = write_catalogue("first", 8);
  ASSERT_TRUE(load_catalogue(7, 3, first).ok());
  ASSERT_TRUE(load_catalogue(8, 1, first).ok());
  const layout::SegmentKey key{7, layout::kCatalogueNumber};
  ASSERT_TRUE(attach(key).ok());
  EXPECT_EQ(attached_.manifest_json(), "");
  ASSERT_EQ(attached_.regions_size(), 1);
  EXPECT_EQ(attached_.regions(0).bytes(), first.bytes());
  const v1::HeldFile second = write_catalogue("second", 1000);
  ASSERT_TRUE(load_catalogue(7, 4, second).ok());
  const auto listed = list();
  ASSERT_EQ(listed.collections_size(), 2);
  EXPECT_EQ(listed.collections(0).collection(), 7u);
  EXPECT_EQ(listed.collections(0).name(), "set7");
  EXPECT_EQ(listed.collections(0).revision(), 4u);
  EXPECT_EQ(listed.collections(0).file_xxh3(), second.xxh3());
  EXPECT_EQ(listed.collections(1).revision(), 1u);
  EXPECT_THAT(numbers(7), ElementsAre()) << "it is no segment";
  EXPECT_EQ(held().bytes(), 2 * first.bytes() + second.bytes()) << "the first is read still";
  detach(attached_);
  EXPECT_EQ(held().bytes(), first.bytes() + second.bytes());

  EXPECT_EQ(load_catalogue(7, 5, write_file("third", "")).error_code(),
            StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(load({7, layout::kCatalogueNumber}, small_).error_code(), StatusCode::INVALID_ARGUMENT);
  ASSERT_TRUE(drop(key).ok());
  EXPECT_EQ(list().collections_size(), 1);
}

TEST_F(ServiceSegmentsTest, AFullNodeTakesCataloguesWithinTheirShare) {
  start();
  ASSERT_TRUE(load({7, 1}, large_).ok());
  ASSERT_TRUE(load({7, 2}, small_).ok());
  EXPECT_EQ(load({7, 3}, small_).error_code(), StatusCode::RESOURCE_EXHAUSTED);
  std::uint64_t revision = 0;
  grpc::Status full;
  std::vector<std::shared_ptr<const Publication>> read_on;  // all of them stay in memory
  while (full.ok()) {
    const v1::HeldFile file = write_catalogue("catalogue", 8);
    full = load_catalogue(7, ++revision, file);
    read_on.push_back(state_.publications.segment({7, layout::kCatalogueNumber}));
    ASSERT_LT(revision, 1000u);
  }
  EXPECT_GT(revision, 2u) << "one follows another while a full node is read";
  EXPECT_EQ(full.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(full.error_message(), HasSubstr("--segment-bytes"));
  EXPECT_LE(held().bytes(), options_.segment_bytes);
}

TEST_F(ServiceSegmentsTest, ReadsTheHeaderOfAFileFirst) {
  start();
  const v1::HeldFile secret = write_file("secret", std::string(10'000, 's'));
  const v1::HeldFile catalogue = write_catalogue("catalogue", 8);
  const v1::HeldFile ids = write_ids("ids", 5);
  EXPECT_EQ(load_catalogue(7, 1, secret).error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(load_catalogue(7, 1, ids).error_code(), StatusCode::FAILED_PRECONDITION);
  for (const auto& [number, file] :
       {std::pair{1u, secret}, std::pair{1u, catalogue}, std::pair{2u, ids}}) {
    EXPECT_EQ(load_with({7, number}, small_, file).error_code(), StatusCode::FAILED_PRECONDITION)
        << file.path();
  }
  EXPECT_EQ(held().count(), 0u);
  v1::HeldFile huge = secret;
  huge.set_bytes(~0ull);
  EXPECT_EQ(load_catalogue(7, 1, huge).error_code(), StatusCode::FAILED_PRECONDITION)
      << "no memory is taken for what a caller says";
}

TEST_F(ServiceSegmentsTest, LoadsOnlyBelowItsFolders) {
  const auto inside = folder_.path() / "inside";
  std::filesystem::create_directory(inside);
  folders_ = {inside};
  start();
  layout::RandomIndex(200).write(inside / "index");
  const v1::HeldFile outside = write_catalogue("outside", 8);
  const v1::HeldFile sound = write_catalogue("inside/catalogue", 8);
  v1::HeldFile absent = outside;
  absent.set_path(folder_.path() / "absent");
  std::filesystem::create_symlink(outside.path(), inside / "link");
  v1::HeldFile link = outside;
  link.set_path(inside / "link");
  v1::HeldFile dots = outside;
  dots.set_path(inside / ".." / "outside");
  for (const v1::HeldFile& file : {outside, absent, link, dots}) {
    const grpc::Status refused = load_catalogue(7, 1, file);
    EXPECT_EQ(refused.error_code(), StatusCode::PERMISSION_DENIED) << file.path();
    EXPECT_EQ(refused.error_message(),
              "'" + file.path() +
                  "' is in no folder that this memory node loads from: name its folder with "
                  "--load-from when you start the node");
  }
  EXPECT_EQ(load({7, 1}, small_).error_code(), StatusCode::PERMISSION_DENIED);
  v1::LoadRequest publish;
  publish.set_index(small_);
  v1::LoadResponse published;
  grpc::ClientContext context;
  EXPECT_EQ(stub_->Load(&context, publish, &published).error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(load_catalogue(7, 1, sound).ok());
  EXPECT_TRUE(load({7, 1}, inside / "index").ok());
  EXPECT_TRUE(load({7, 2}, inside / "." / "index" / ".." / "index").ok());
}

TEST_F(ServiceSegmentsTest, APathThatLeadsOutOfItsFoldersLoadsNothing) {
  namespace fs = std::filesystem;
  const fs::path inside = folder_.path() / "inside";
  const fs::path outside = folder_.path() / "outside";
  for (const fs::path& folder : {inside, outside}) fs::create_directory(folder);
  folders_ = {inside};
  start();
  layout::RandomIndex(200).write(inside / "index");
  fs::copy(inside / "index", outside / "index");
  const v1::HeldFile ids = write_ids("inside/ids", 5);
  const v1::HeldFile catalogue = write_catalogue("outside/catalogue", 8);
  fs::copy(ids.path(), outside / "ids");
  fs::create_directory_symlink(outside, inside / "out");
  fs::create_directory(inside / "linked");
  for (const auto& entry : fs::directory_iterator(outside / "index")) {
    fs::create_symlink(entry.path(), inside / "linked" / entry.path().filename());
  }
  for (const fs::path& folder : {inside / "out", inside / "index" / ".." / ".." / "outside",
                                 inside / "absent" / ".." / ".." / "outside", outside}) {
    v1::HeldFile file = catalogue;
    file.set_path(folder / "catalogue");
    EXPECT_EQ(load_catalogue(7, 1, file).error_code(), StatusCode::PERMISSION_DENIED) << folder;
    file = ids;
    file.set_path(folder / "ids");
    EXPECT_EQ(load_with({7, 1}, inside / "index", file).error_code(), StatusCode::PERMISSION_DENIED)
        << folder;
    EXPECT_EQ(load({7, 1}, folder / "index").error_code(), StatusCode::PERMISSION_DENIED) << folder;
  }
  EXPECT_EQ(load({7, 1}, inside / "linked").error_code(), StatusCode::PERMISSION_DENIED)
      << "a directory of links to the files of another index";
  EXPECT_EQ(held().count(), 0u);
  fs::create_directory_symlink(inside / "index", inside / "another name");
  EXPECT_TRUE(load_with({7, 1}, inside / "another name", ids).ok()) << "which leads to one inside";
}

TEST_F(ServiceSegmentsTest, WhatIsNoRegularFileIsRefusedAtOnce) {
  folders_ = {folder_.path(), "/dev"};
  start();
  const v1::HeldFile sound = write_catalogue("sound", 8);
  const auto answer_of = [&](const std::string& path) {
    v1::HeldFile file = sound;
    file.set_path(path);
    std::string said;
    for (const grpc::Status& status :
         {load_catalogue(7, 1, file), load_with({7, 1}, small_, file), load({7, 1}, path)}) {
      EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION) << path;
      said += status.error_message() + "\n";
    }
    return said;
  };
  for (const std::string& path :
       {std::string("/dev/zero"), std::string("/dev/full"), folder_.path().string()}) {
    EXPECT_THAT(answer_of(path), HasSubstr("is not loaded")) << path;
  }
  const std::string fifo = folder_.path() / "fifo";
  EXPECT_THAT(tests::error_with_fifo(fifo, [&] { throw Error("{}", answer_of(fifo)); }),
              HasSubstr("is not loaded"));
  EXPECT_EQ(held().count(), 0u);
}

TEST_F(ServiceSegmentsTest, TellsOthersThanItsOwnerNothingOfAFileThatItRefuses) {
  folders_ = {folder_.path()};
  listen_ = "127.0.0.1:0";
  start();
  v1::HeldFile secret = write_file("secret", std::string(10'000, 's'));
  const std::string same = load_catalogue(7, 1, secret).error_message();
  EXPECT_THAT(same, testing::Not(HasSubstr("10000")));
  secret.set_bytes(3);
  EXPECT_EQ(load_catalogue(7, 1, secret).error_message(), same);
  secret.set_xxh3(3);
  EXPECT_EQ(load_catalogue(7, 1, secret).error_message(), same);
  v1::HeldFile catalogue = write_catalogue("secret", 8);
  catalogue.set_xxh3(catalogue.xxh3() + 1);
  EXPECT_EQ(load_catalogue(7, 1, catalogue).error_message(), same) << "a checksum that is wrong";
  std::filesystem::remove(secret.path());
  EXPECT_EQ(load_catalogue(7, 1, secret).error_message(), same) << "and one that is not there";
  EXPECT_EQ(load({7, 1}, secret.path()).error_message(), same);
  std::filesystem::create_directory(secret.path());
  std::ofstream(secret.path() + "/manifest.json") << "the manifest of something else";
  EXPECT_EQ(load({7, 1}, secret.path()).error_message(), same);
  EXPECT_THAT(load({7, 1}, folder_.path()).error_message(), testing::Not(HasSubstr("small")))
      << "what lies in a folder";
}

}  // namespace
}  // namespace farvec::memory_node
