// Reads and writes vectors and ground truth in HDF5 files of the ann-benchmarks kind.
#pragma once

#include <memory>
#include <string>

#include "dataset/groundtruth.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

/// Opens "file.hdf5:train" (the default) or any other two-dimensional data set. f64 is read as f32;
/// 8-bit integers keep their type.
std::unique_ptr<VectorReader> open_hdf5(const std::string& path);

/// Writes one data set into a new file, or into a copy of an existing file.
std::unique_ptr<VectorWriter> create_hdf5(const std::string& path, const VectorShape& shape);

/// Reads the data sets "neighbors" and "distances" (which may be missing) of a file. Distances are
/// converted to those of Metric: "euclidean" ones are squared, "angular" ones are already 1 - cos.
/// Throws Error on distances of another kind.
GroundTruth read_hdf5_groundtruth(const std::string& path);

}  // namespace farvec::dataset
