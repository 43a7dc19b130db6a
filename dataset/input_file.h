// The room's readers take their bytes from here.
#pragma once

#include "base/input_file.h"

namespace farvec::dataset {

using farvec::InputFile;

}  // namespace farvec::dataset
