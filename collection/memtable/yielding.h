// Threads of the background.
#pragma once

namespace farvec::collection {

/// The calling thread, and those that it starts from now on, give way to searches and changes.
void yield_to_searches();

}  // namespace farvec::collection
