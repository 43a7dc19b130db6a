#include "postgres/channel/call.h"

#include <time.h>

// Between two looks at what may end a wait. An answer ends the sleep at once.
#define LOOK_MS 10

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// Why a wait that began at `began` ends now; kCallDone: it goes on.
static int32_t why_to_end(const CallWait* wait, uint64_t began) {
  if (wait->gives_up != NULL && wait->gives_up(wait->context)) return kCallGivenUp;
  return now_ms() - began >= wait->deadline_ms ? kCallTooLate : kCallDone;
}

int32_t call_prepare(Channel* channel, uint32_t slot, const CallWait* wait) {
  const uint64_t began = now_ms();
  const uint64_t former = channel_last_sequence(channel, slot);
  while (!channel_is_ready(channel, slot)) {
    if (channel_wait(channel, slot, former, LOOK_MS) == kChannelGone) return kCallNoEngine;
    const int32_t why = why_to_end(wait, began);
    if (why != kCallDone) return why;
  }
  return channel_state(channel) == kChannelServing ? kCallDone : kCallNoEngine;
}

int32_t call_ask(Channel* channel, uint32_t slot, uint32_t operation, uint32_t request_bytes,
                 const CallWait* wait, void* answer, uint32_t* bytes) {
  const uint64_t sequence = channel_ask(channel, slot, operation, request_bytes);
  return call_end(channel, slot, sequence, wait, answer, bytes);
}

int32_t call_end(Channel* channel, uint32_t slot, uint64_t sequence, const CallWait* wait,
                 void* answer, uint32_t* bytes) {
  *bytes = 0;
  const uint64_t began = now_ms();
  for (;;) {
    switch (channel_wait(channel, slot, sequence, LOOK_MS)) {
      case kChannelAnswered: {
        ChannelAnswer came;
        channel_read_answer(channel, slot, &came, answer);
        *bytes = came.bytes;
        return came.status;
      }
      case kChannelGone:
        return kCallNoEngine;
      case kChannelWaits:
        break;
    }
    const int32_t why = why_to_end(wait, began);
    if (why == kCallDone) continue;
    channel_give_up(channel, slot, sequence);
    return why;
  }
}
