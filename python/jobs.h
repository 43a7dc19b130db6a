// run_job() runs work that takes so long that a user may want to end it.
#pragma once

#include <functional>

#include "base/progress.h"

namespace farvec::python {

/// Runs `work` on a thread of its own. The calling thread, which has the interpreter, gives it up
/// meanwhile and looks for signals ten times a second. When a handler raises, which Ctrl-C's does,
/// or when the interpreter is about to end, the Interruption tells the work. After the work has
/// ended this throws what the handler raised, or else what the work threw.
void run_job(const std::function<void(const Interruption& interrupted)>& work);

}  // namespace farvec::python
