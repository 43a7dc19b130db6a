// Reads and writes files of the TEXMEX kind: every row begins with its i32 dimension.
#pragma once

#include <memory>
#include <string>

#include "dataset/groundtruth.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

/// Opens .fvecs, which holds f32, or .bvecs, which holds u8.
std::unique_ptr<VectorReader> open_vecs(const std::string& path, ElementType type);
std::unique_ptr<VectorWriter> create_vecs(const std::string& path, const VectorShape& shape);

/// Reads .ivecs: rows of ids, without distances.
GroundTruth read_ivecs(const std::string& path);
void write_ivecs(const std::string& path, const GroundTruth& truth);

}  // namespace farvec::dataset
