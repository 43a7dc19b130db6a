// Work that takes long enough for somebody to end it.
#pragma once

#include <functional>

#include "base/progress.h"

namespace farvec::python {

/// Runs `work` on a thread of its own and gives up the interpreter meanwhile; the calling thread,
/// which has it, looks for signals ten times a second. When a handler raises, as Ctrl-C does, the
/// work is told by its Interruption, and what the handler raised comes out of here after it has
/// ended. Otherwise what the work throws does.
void run_job(const std::function<void(const Interruption& interrupted)>& work);

}  // namespace farvec::python
