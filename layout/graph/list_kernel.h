// Declares decoders of neighbour lists, one for each instruction set.
#pragma once

#include "layout/graph/neighbor_list.h"

namespace farvec::layout {

using ListKernel = bool (*)(const EncodedList& list, NodeId* out);

#if defined(__x86_64__)
bool decode_list_ssse3(const EncodedList& list, NodeId* out);
#endif

}  // namespace farvec::layout
