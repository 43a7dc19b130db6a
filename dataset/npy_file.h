// Reads and writes numpy's .npy: two-dimensional, C order, little-endian f4, f2, u1 or i1.
#pragma once

#include <memory>
#include <string>

#include "dataset/vector_file.h"

namespace farvec::dataset {

std::unique_ptr<VectorReader> open_npy(const std::string& path);
std::unique_ptr<VectorWriter> create_npy(const std::string& path, const VectorShape& shape);

}  // namespace farvec::dataset
