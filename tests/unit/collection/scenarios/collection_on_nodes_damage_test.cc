// Readers of a collection on memory nodes whose bytes are damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "layout/collection/catalogue.h"
#include "tests/unit/collection/on_nodes_fixture.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::message_of;

class DamageOnNodes : public CollectionOnNodes {};

TEST_F(DamageOnNodes, DamagedIdsAreReadFromAnotherCopyOrRefused) {
  start_all(2);
  open_on_nodes(access());
  insert_ids(0, 40);
  settle();
  end_writer();
  ASSERT_EQ(files_.size(), 1u);
  const std::uint64_t number = files_.begin()->first;
  load_damaged_ids(number % 2);  // the one that is read first
  expect_holds(read(), rows_, random_);
  load_damaged_ids((number + 1) % 2);
  EXPECT_THAT(message_of([&] { (void)read(); }),
              AllOf(HasSubstr("ids of segment " + std::to_string(number)), HasSubstr("damaged"),
                    HasSubstr(address(0)), HasSubstr(address(1))));
}

TEST_F(DamageOnNodes, AnotherIndexUnderItsNumberIsRefused) {
  start_all(1);
  open_on_nodes(access());
  insert_ids(0, 40);
  collection_->flush();
  insert_ids(100, 140);
  settle();
  end_writer();
  ASSERT_EQ(files_.size(), 2u);
  const auto segments = layout::read_collection(path()).segments;
  const std::uint64_t second = segments[1].number;
  host(0).load({number_, second}, renumbered(files_.at(segments[0].number), segments[0], second));
  EXPECT_THAT(message_of([&] { (void)read(); }),
              AllOf(HasSubstr("another index"), HasSubstr(address(0))));
}

TEST_F(DamageOnNodes, ADamagedCatalogueIsReadFromAnotherNodeOrRefused) {
  start_all(2);
  open_on_nodes(access());
  insert_ids(0, 60);
  settle();
  collection_->flush();
  insert_ids(40, 70);
  erase_ids({3});
  collection_->flush();
  end_writer();
  const std::size_t bytes = std::filesystem::file_size(path() / layout::kCatalogueFile);
  for (const std::size_t in_header : {std::size_t{3}, std::size_t{20}}) {
    EXPECT_THAT(message_of([&] { load_damaged_catalogue(0, number_, 1000, in_header); }),
                AllOf(HasSubstr("is not loaded"), HasSubstr("the memory node's log says which")));
  }
  for (const std::size_t at : {sizeof(layout::CatalogueHeader), std::size_t{200}, bytes - 1}) {
    load_damaged_catalogue(0, number_, 1000, at);
    expect_holds(read(), rows_, random_);
  }
  load_damaged_catalogue(1, number_, 1000, 100);
  EXPECT_THAT(message_of([&] { (void)read(); }),
              AllOf(HasSubstr("the catalogue of collection"), HasSubstr("damaged"),
                    HasSubstr(address(0)), HasSubstr(address(1))));
}

TEST_F(DamageOnNodes, AFollowerSaysWhatItCannotReadAndGoesOn) {
  start_all(1);
  open_on_nodes(access());
  insert_ids(0, 60);
  settle();
  const auto follower = follow();
  end_writer();
  load_damaged_catalogue(0, number_, 1000, 100);
  EXPECT_TRUE(comes([&] { return !follower->state().failure.empty(); }));
  EXPECT_THAT(follower->state().failure, HasSubstr("the catalogue of collection"));
  expect_holds(follower->view(), rows_, random_);
  open(access());  // which brings its own
  insert_ids(40, 100);
  collection_->flush();
  expect_follows(*follower);
  EXPECT_TRUE(comes([&] { return follower->state().failure.empty(); }));
}

}  // namespace
}  // namespace farvec::collection
