#include <postgres.h>

#include "postgres/worker/link.h"

#include <miscadmin.h>
#include <storage/fd.h>
#include <storage/ipc.h>
#include <utils/timestamp.h>

#include "postgres/channel/call.h"
#include "postgres/channel/requests.h"
#include "postgres/shared.h"
#include "postgres/worker/settings.h"

#define SLOT_LOOK_US 1000
// An engine starts within a part of a second; where it ends at once, pauses grow.
#define START_MS 5000
#define START_LOOK_US 20000

static EngineLink own = {.slot = CHANNEL_NO_SLOT};

static void say(farvec_error* error, int32 status, const char* message) {
  error->status = status;
  strlcpy(error->message, message, sizeof error->message);
}

static void unlink_engine(void) {
  if (own.channel == NULL) return;
  if (own.slot != CHANNEL_NO_SLOT) channel_release(own.channel, own.slot);
  channel_close(own.channel);
  ReleaseExternalFD();
  own.channel = NULL;
  own.slot = CHANNEL_NO_SLOT;
  own.incarnation = 0;
}

static void unlink_at_exit(int code, Datum unused) {
  (void)code;
  (void)unused;
  unlink_engine();
}

// A copy of what the worker says of its engine.
static void read_state(uint64* incarnation, char* segment, char* why) {
  EngineState* engine = &shared_state()->engine;
  SpinLockAcquire(&engine->lock);
  *incarnation = engine->incarnation;
  memcpy(segment, engine->segment, FARVEC_SEGMENT_PATH);
  memcpy(why, engine->why, FARVEC_ENGINE_REASON);
  SpinLockRelease(&engine->lock);
}

// Whether the server has an engine at all, running or not.
static bool has_engine(void) {
  return farvec_engine_memory_mb != 0;
}

static void say_why_none(farvec_error* error, const char* why) {
  error->status = FARVEC_UNAVAILABLE;
  if (!has_engine()) {
    snprintf(error->message, sizeof error->message, "there is none: farvec.engine_memory is 0");
  } else if (*why == '\0') {
    snprintf(error->message, sizeof error->message, "it is starting");
  } else {
    snprintf(error->message, sizeof error->message, "it %s", why);
  }
}

static bool make_link(const char* segment, uint64 incarnation, farvec_error* error) {
  static bool unlinks_at_exit = false;
  char why[CHANNEL_ERROR_BYTES];
  if (!unlinks_at_exit) on_proc_exit(unlink_at_exit, (Datum)0);
  unlinks_at_exit = true;
  own.channel = channel_open(segment, incarnation, why);
  if (own.channel == NULL) {
    say(error, FARVEC_UNAVAILABLE, why);
    return false;
  }
  ReserveExternalFD();  // the server counts its open files
  own.incarnation = incarnation;
  return true;
}

EngineLink* engine_link(farvec_error* error) {
  uint64 incarnation;
  char segment[FARVEC_SEGMENT_PATH];
  char why[FARVEC_ENGINE_REASON];
  read_state(&incarnation, segment, why);
  if (incarnation == 0) {
    say_why_none(error, why);
    return NULL;
  }
  if (own.channel != NULL && own.incarnation == incarnation) return &own;
  unlink_engine();
  return make_link(segment, incarnation, error) ? &own : NULL;
}

EngineLink* engine_link_soon(farvec_error* error) {
  const TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), START_MS);
  EngineLink* link = engine_link(error);
  while (link == NULL && has_engine() && GetCurrentTimestamp() < end) {
    CHECK_FOR_INTERRUPTS();
    pg_usleep(START_LOOK_US);
    link = engine_link(error);
  }
  return link;
}

bool engine_is_there(void) {
  if (!has_shared_state()) return false;
  uint64 incarnation;
  char segment[FARVEC_SEGMENT_PATH];
  char why[FARVEC_ENGINE_REASON];
  read_state(&incarnation, segment, why);
  if (incarnation == 0) return false;
  // The worker may not know yet that its engine was killed.
  return own.incarnation != incarnation || !channel_has_ended(own.channel);
}

// A cancelled query ends the wait. Other interrupts are taken care of while the request is under
// way: when that ends with an error, the next request waits until the engine has let this one go.
static bool gives_up(void* unused) {
  (void)unused;
  if (!InterruptPending || !INTERRUPTS_CAN_BE_PROCESSED()) return false;
  if (QueryCancelPending || ProcDiePending) return true;
  CHECK_FOR_INTERRUPTS();
  return false;
}

static CallWait call_wait(Patience* patience) {
  return (CallWait){.deadline_ms = wait_of(patience).deadline_ms, .gives_up = gives_up};
}

// What a call ended with that got no answer.
static void say_why(int32 status, farvec_error* error) {
  switch (status) {
    case kCallGivenUp:
      CHECK_FOR_INTERRUPTS();
      say(error, FARVEC_CANCELLED, "the wait was given up");
      break;
    case kCallTooLate:
      say(error, FARVEC_DEADLINE_EXCEEDED, "it has not answered in time");
      break;
    default:
      say(error, FARVEC_UNAVAILABLE, "it has ended, and is started again");
  }
}

// Processes that ask at the same time share the slots. Answers kCallDone with a slot that is ready.
static int32_t claim_slot(EngineLink* link, Patience* patience) {
  const CallWait wait = call_wait(patience);
  const TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), wait.deadline_ms);
  while (link->slot == CHANNEL_NO_SLOT) {
    link->slot = channel_claim(link->channel);
    if (link->slot != CHANNEL_NO_SLOT) break;
    if (gives_up(NULL)) return kCallGivenUp;
    if (channel_has_ended(link->channel)) return kCallNoEngine;
    if (GetCurrentTimestamp() >= end) return kCallTooLate;
    pg_usleep(SLOT_LOOK_US);
  }
  return call_prepare(link->channel, link->slot, &wait);
}

static void give_slot_back(EngineLink* link) {
  channel_release(link->channel, link->slot);
  link->slot = CHANNEL_NO_SLOT;
}

bool engine_has_slot(EngineLink* link) {
  if (link->slot == CHANNEL_NO_SLOT) link->slot = channel_claim(link->channel);
  return link->slot != CHANNEL_NO_SLOT;
}

// A slot that an error has left with the link is used for the next call.
void* engine_request(EngineLink* link, Patience* patience, farvec_error* error) {
  const int32_t status = claim_slot(link, patience);
  if (status == kCallDone) return channel_request(link->channel, link->slot);
  say_why(status, error);
  return NULL;
}

// The text of an answer, which is not trusted to be one.
static void say_answer(int32 status, const EngineLink* link, uint32 bytes, farvec_error* error) {
  const uint32 length = Min(bytes, (uint32)sizeof error->message - 1);
  error->status = status;
  for (uint32 i = 0; i < length; i++) {
    const char byte = link->answer[i];
    error->message[i] = byte >= ' ' && byte <= '~' ? byte : '?';
  }
  error->message[length] = '\0';
}

// Says what a call has ended with.
static bool is_done(int32 status, const EngineLink* link, uint32 bytes, farvec_error* error) {
  if (status == kCallDone) return true;
  if (bytes > 0) {
    say_answer(status, link, bytes, error);
  } else {
    say_why(status, error);
  }
  return false;
}

bool engine_ask(EngineLink* link, uint32 operation, uint32 request_bytes, Patience* patience,
                uint32* bytes, farvec_error* error) {
  const CallWait wait = call_wait(patience);
  const int32 status =
      call_ask(link->channel, link->slot, operation, request_bytes, &wait, link->answer, bytes);
  give_slot_back(link);
  return is_done(status, link, *bytes, error);
}

EngineAsked engine_begin(EngineLink* link, uint32 operation, uint32 request_bytes) {
  const EngineAsked asked = {
      .incarnation = link->incarnation,
      .sequence = channel_ask(link->channel, link->slot, operation, request_bytes),
      .slot = link->slot,
      .operation = operation,
      .bytes = request_bytes};
  link->slot = CHANNEL_NO_SLOT;
  return asked;
}

bool engine_end(EngineLink* link, const EngineAsked* asked, Patience* patience, uint32* bytes,
                farvec_error* error) {
  *bytes = 0;
  if (link->incarnation != asked->incarnation) {
    say_why(kCallNoEngine, error);
    return false;
  }
  const CallWait wait = call_wait(patience);
  const int32 status =
      call_end(link->channel, asked->slot, asked->sequence, &wait, link->answer, bytes);
  return is_done(status, link, *bytes, error);
}

void engine_begin_again(EngineLink* link, EngineAsked* asked) {
  asked->sequence = channel_ask(link->channel, asked->slot, asked->operation, asked->bytes);
}

void engine_let_go(EngineAsked* asked) {
  // The slots of an engine that has ended went with its channel.
  if (asked->incarnation != 0 && asked->incarnation == own.incarnation) {
    channel_release(own.channel, asked->slot);
  }
  asked->incarnation = 0;
}

static int state_of(int32 status) {
  if (!has_engine()) return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
  switch (status) {
    case FARVEC_INVALID_ARGUMENT:
      return ERRCODE_INVALID_PARAMETER_VALUE;
    case FARVEC_CANCELLED:
    case FARVEC_DEADLINE_EXCEEDED:
      return ERRCODE_QUERY_CANCELED;
    case FARVEC_RESOURCE_EXHAUSTED:
      return ERRCODE_INSUFFICIENT_RESOURCES;
    case ASK_DISK_FULL:
      return ERRCODE_DISK_FULL;
    case FARVEC_FAILED_PRECONDITION:
    case FARVEC_NOT_FOUND:
      return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    case FARVEC_UNAVAILABLE:
      return ERRCODE_CANNOT_CONNECT_NOW;
    default:
      return ERRCODE_EXTERNAL_ROUTINE_EXCEPTION;
  }
}

static const char* hint_of(int32 status) {
  if (!has_engine()) {
    return "Set farvec.engine_memory, and start the server again, or put the index on a compute "
           "node: WITH (node = 'host:port').";
  }
  switch (status) {
    case FARVEC_RESOURCE_EXHAUSTED:
      return "Raise farvec.engine_memory, and start the server again, drop indexes, or have "
             "records "
             "stay on a disk: WITH (tier = 'ssd').";
    case ASK_DISK_FULL:
      return "Make room on this disk: what waits for it goes on then, within some seconds. A build "
             "is run again.";
    case FARVEC_FAILED_PRECONDITION:
    case FARVEC_NOT_FOUND:
      return "Run the statement again, if the engine was started again meanwhile.";
    case FARVEC_UNAVAILABLE:
      return "Run the statement again in a moment. The server's log says why the engine ended.";
    default:
      return "The server's log may say more.";
  }
}

void raise_engine_error(const farvec_error* error, const Patience* patience) {
  CHECK_FOR_INTERRUPTS();  // what ended the wait is told by PostgreSQL itself
  if (error->status == FARVEC_DEADLINE_EXCEEDED) {
    ereport(ERROR,
            (errcode(state_of(error->status)),
             errmsg("the engine of farvec has not answered within %u ms", patience->deadline_ms),
             errdetail("%s", error->message), errhint("%s", hint_of(error->status))));
  }
  ereport(ERROR,
          (errcode(state_of(error->status)), errmsg("the engine of farvec: %s", error->message),
           errhint("%s", hint_of(error->status))));
}
