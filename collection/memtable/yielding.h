// yield_to_searches() makes threads work in the background.
#pragma once

namespace farvec::collection {

/// The calling thread, and those that it starts from now on, get a lower priority than searches and
/// changes.
void yield_to_searches();

}  // namespace farvec::collection
