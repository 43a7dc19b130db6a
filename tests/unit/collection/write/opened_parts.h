// The parts of an open collection, each of which a test may have without those above it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "collection/nodes/log_place.h"
#include "collection/write/background.h"
#include "collection/write/collection.h"
#include "collection/write/manifests.h"
#include "collection/write/writer.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection {

class OpenedParts : public ::testing::Test {
 protected:
  OpenedParts() { Collection::create(path(), small_shape()); }

  std::filesystem::path path() const { return folder_.path() / "set"; }
  layout::CollectionManifest on_disk() const { return layout::read_collection(path()); }

  /// The parts that are open end, from the highest to the lowest.
  void close() {
    background_.reset();
    writer_.reset();
    manifests_.reset();
    log_ = {};
  }
  Manifests& open_manifests(const CollectionAccess& access = small_access()) {
    close();
    log_ = open_log(path(), nullptr);
    opened_ = {path(), log_.manifest, access};
    manifests_ = std::make_unique<Manifests>(opened_);
    return *manifests_;
  }
  Writer& open_writer(const CollectionAccess& access = small_access()) {
    open_manifests(access);
    writer_ = std::make_unique<Writer>(opened_, *manifests_, *log_.log);
    return *writer_;
  }
  Background& open_background(const CollectionAccess& access = small_access()) {
    open_writer(access);
    background_ = std::make_unique<Background>(opened_, *writer_, *manifests_);
    return *background_;
  }

  Batch rows(std::uint64_t begin, std::uint64_t end) {
    Batch batch;
    for (std::uint64_t id = begin; id < end; ++id) batch.add(id, random_row(random_));
    return batch;
  }
  /// Inserts these rows with a deadline that has passed: the writer waits for nothing.
  Status insert(const Batch& batch, Receipt& receipt) {
    return writer_->insert({batch.rows(), batch.ids()}, 0, receipt);
  }
  Status insert(std::uint64_t begin, std::uint64_t end) {
    Receipt receipt;
    return insert(rows(begin, end), receipt);
  }

  tests::TemporaryFolder folder_;
  Random random_{5};
  OpenedLog log_;
  OpenedCollection opened_;
  std::unique_ptr<Manifests> manifests_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Background> background_;
};

}  // namespace farvec::collection
