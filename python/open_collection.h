// A collection of this machine, opened to be changed and searched.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "collection/collection.h"
#include "python/core_pool.h"
#include "python/searcher.h"

namespace farvec::python {

struct CollectionOpening {
  std::string tier = "dram";  ///< of the segments' records
  std::string durability = "commit";
  std::uint32_t build_threads = 1;
  std::uint32_t slots = 16;
  std::uint32_t concurrency = 0;  ///< searches of Python's threads at once; 0: one per processor
  std::uint32_t max_list = 1024;
  std::uint32_t max_width = 8;
};

class OpenCollection final : public Searcher {
 public:
  /// Throws Error when another process has it open, or something is damaged.
  OpenCollection(const std::string& folder, const CollectionOpening& opening);

  ElementType type() const override { return collection_.shape().source_type; }
  std::uint32_t dimension() const override { return collection_.shape().dimension; }
  Answer search(const VectorView& queries, const Call& call) override;
  nlohmann::ordered_json describe() const override;
  std::uint64_t live() const { return collection_.view()->live(); }

  struct Patience {
    double seconds = 60;
    Interruption interrupted = {};
  };
  /// Some thousand rows at a time, each in as a whole. Throws StatusError and WorkInterrupted; what
  /// `receipt` counts is in.
  void insert(const VectorView& rows, std::span<const std::uint64_t> ids, const Patience& patience,
              collection::Receipt& receipt);
  collection::Receipt erase(std::span<const std::uint64_t> ids, const Patience& patience);
  /// Throws StatusError.
  collection::FoundRows get(std::span<const std::uint64_t> ids, const Patience& patience) const;
  ElementType stored_type() const { return collection_.shape().stored_type; }
  /// Throw WorkInterrupted; the work goes on.
  void flush(const Interruption& interrupted);
  void compact(const Interruption& interrupted);

 private:
  const std::string folder_;
  const CollectionOpening opening_;
  collection::Collection collection_;
  CorePool pool_;
};

}  // namespace farvec::python
