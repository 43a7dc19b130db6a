// Reads the vectors of an index that faiss has written.
#pragma once

#include <string>

namespace farvec::cli {

/// Writes them, with Python's faiss package, to a file that dataset::open_vectors() reads: f32, in
/// the order of faiss' ids. The file is removed together with the object.
class FaissVectors {
 public:
  /// `beside` is a file in whose folder there is room. Throws Error with what Python or faiss says,
  /// also for an index that does not hold its vectors, or whose ids are not row numbers.
  FaissVectors(const std::string& index, const std::string& beside);
  ~FaissVectors();
  FaissVectors(const FaissVectors&) = delete;
  FaissVectors& operator=(const FaissVectors&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace farvec::cli
