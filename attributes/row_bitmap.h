// A RowBitmap is a compressed set of row numbers: CRoaring's.
#pragma once

#include <roaring/roaring.hh>

namespace roaring {}  // namespace roaring

namespace farvec::attributes {
namespace library {
using namespace ::roaring;  // NOLINT(google-build-using-namespace)
using Bitmap = Roaring;
}  // namespace library

/// Threads may read one bitmap at the same time.
using RowBitmap = library::Bitmap;

}  // namespace farvec::attributes
