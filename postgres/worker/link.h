// This header asks the server's engine from a backend.
#ifndef FARVEC_POSTGRES_WORKER_LINK_H
#define FARVEC_POSTGRES_WORKER_LINK_H

#include <postgres.h>

#include "postgres/channel/channel.h"
#include "postgres/library.h"

// The backend's link with the engine that serves now.
typedef struct EngineLink {
  Channel* channel;
  uint32 slot;  // that of the call that is under way; CHANNEL_NO_SLOT: there is none
  uint64 incarnation;
  char answer[CHANNEL_ANSWER_BYTES];  // that of the last call, which no other process writes
} EngineLink;

// The link, made when there is none with this engine yet. NULL, with the reason in `error`, where
// no engine serves.
EngineLink* engine_link(farvec_error* error);

// The same, and waits for an engine that starts, some seconds at most. Ends with an error where the
// query was cancelled.
EngineLink* engine_link_soon(farvec_error* error);

// Where a request is written, CHANNEL_REQUEST_BYTES long; engine_ask() comes next. NULL, with the
// reason in `error`, where no slot becomes free in time. Ends with an error where the query was
// cancelled.
void* engine_request(EngineLink* link, Patience* patience, farvec_error* error);

// Takes a slot for engine_request() where one is free now.
bool engine_has_slot(EngineLink* link);

// Asks what was written, and waits. Answers whether `*bytes` bytes of an answer are in the link; if
// not, the reason is in `error`. Ends with an error where the query was cancelled.
bool engine_ask(EngineLink* link, uint32 operation, uint32 request_bytes, Patience* patience,
                uint32* bytes, farvec_error* error);

// A request that is under way in a slot of its own, while this backend does other work and asks
// other things.
typedef struct EngineAsked {
  uint64 incarnation;  // the engine that was asked; 0: nothing is under way
  uint64 sequence;
  uint32 slot;
  uint32 operation;
  uint32 bytes;
} EngineAsked;

// Asks what was written to engine_request(), and does not wait. engine_let_go() has to follow, also
// where an error ends the transaction.
EngineAsked engine_begin(EngineLink* link, uint32 operation, uint32 request_bytes);

// Waits for what is under way, and answers what engine_ask() does.
bool engine_end(EngineLink* link, const EngineAsked* asked, Patience* patience, uint32* bytes,
                farvec_error* error);

// Asks the same bytes once more, after engine_end() has answered true.
void engine_begin_again(EngineLink* link, EngineAsked* asked);

// Gives the slot back, whatever has become of the request. Nothing happens where none is under way.
void engine_let_go(EngineAsked* asked);

// Answers at once whether an engine serves.
bool engine_is_there(void);

// Ends with the error of a call.
void raise_engine_error(const farvec_error* error, const Patience* patience);

#endif
