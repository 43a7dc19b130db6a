#include "compute_node/collection/collection_call.h"

#include "compute_node/service/call.h"

namespace farvec::compute_node {

const char* to_string(ChangeRefusal refusal) {
  switch (refusal) {
    case ChangeRefusal::none:
      break;
    case ChangeRefusal::queue_full:
      return "queue_full";
    case ChangeRefusal::no_room:
      return "no_room";
    case ChangeRefusal::too_late:
      return "too_late";
  }
  return "";
}

void CollectionCall::end(const Outcome& outcome, Ticks retry_after) {
  if (outcome.refusal != ChangeRefusal::none) {
    tell_refusal(context_, to_string(outcome.refusal), retry_after);
  }
  Finish(outcome.status);
}

}  // namespace farvec::compute_node
