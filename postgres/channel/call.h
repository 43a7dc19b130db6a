// A call is a request through a channel with its answer, and what may end the wait for it.
#ifndef FARVEC_POSTGRES_CHANNEL_CALL_H
#define FARVEC_POSTGRES_CHANNEL_CALL_H

#include "postgres/channel/channel.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a call may end with besides the statuses that an engine answers. The numbers are farvec.h's.
enum {
  kCallDone = 0,
  kCallGivenUp = 1,   // `gives_up` said so
  kCallTooLate = 4,   // the deadline has passed
  kCallNoEngine = 14  // the engine has ended, or is about to
};

typedef struct CallWait {
  uint32_t deadline_ms;
  bool (*gives_up)(void* context);  // is asked every few milliseconds; NULL: nothing ends the wait
  void* context;
} CallWait;

// Waits until the slot can take a request; then channel_request() may be written. Answers
// kCallDone, or why it cannot.
int32_t call_prepare(Channel* channel, uint32_t slot, const CallWait* wait);

// Asks what was written to channel_request(), and waits for the answer: `answer` has room for
// CHANNEL_ANSWER_BYTES and gets `*bytes` of them. Answers a status; with another one than kCallDone
// the answer is a text without a zero at its end, or nothing. After a call that was given up, or
// too late, the next one waits until the engine has let the request go.
int32_t call_ask(Channel* channel, uint32_t slot, uint32_t operation, uint32_t request_bytes,
                 const CallWait* wait, void* answer, uint32_t* bytes);

// The second half of call_ask(), for a process that had other work since channel_ask(), which
// answered the sequence.
int32_t call_end(Channel* channel, uint32_t slot, uint64_t sequence, const CallWait* wait,
                 void* answer, uint32_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
