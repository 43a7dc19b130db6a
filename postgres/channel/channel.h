// A channel is a memory segment through which processes ask an engine, and get its answers.
//
// The engine makes a file for each of its starts, and both sides map it. Each asking process has a
// slot, with room for one request and one answer. Neither side trusts what the other wrote: what is
// read is copied first and then checked. Wake-ups are hints only. Every wait is bounded, and looks
// at the slot's state afterwards, which alone says that there is an answer.
//
// This is plain C, and knows nothing of PostgreSQL.
#ifndef FARVEC_POSTGRES_CHANNEL_CHANNEL_H
#define FARVEC_POSTGRES_CHANNEL_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CHANNEL_MOST_SLOTS 4096
#define CHANNEL_REQUEST_BYTES (96u * 1024)  // room for a request; a vector has up to 64 KB
#define CHANNEL_ANSWER_BYTES (72u * 1024)   // room for an answer
#define CHANNEL_ERROR_BYTES 512             // room for the reason of a failure

typedef struct Channel Channel;  // a mapping of the segment in one process

typedef enum ChannelState {
  kChannelStarting = 0,
  kChannelServing = 1,
  kChannelStopping = 2,
} ChannelState;

// ---- For both sides ----

// What both sides have to agree on: the segment and the requests (requests.h). The engine and the
// extension are files of their own, and one of them may be installed without the other.
uint32_t channel_version(void);
void channel_close(Channel* channel);
// The random number of the engine's start.
uint64_t channel_incarnation(const Channel* channel);
uint32_t channel_engine_pid(const Channel* channel);
uint32_t channel_slots(const Channel* channel);
ChannelState channel_state(const Channel* channel);

// ---- For the engine ----

// Makes the file, which must not be there, with mode 0600 and all of its bytes allocated, and holds
// a lock on it until the process ends. `incarnation` is random and not 0. Answers NULL, with the
// reason in `why`, where that fails; then no file is left.
Channel* channel_create(const char* path, uint32_t slots, uint64_t incarnation,
                        char why[CHANNEL_ERROR_BYTES]);
void channel_set_state(Channel* channel, ChannelState state);

// A request that the engine has taken. Its slot stays the request's until it is answered.
typedef struct ChannelTaken {
  uint32_t slot;
  uint32_t operation;
  uint32_t bytes;  // at most CHANNEL_REQUEST_BYTES
  uint64_t sequence;
} ChannelTaken;

// Takes a request that waits, beginning with the slot `from` (any number) so that none is always
// the last. Answers false where none waits. Any thread may call it.
bool channel_take(Channel* channel, uint32_t from, ChannelTaken* taken);
// Copies the `taken->bytes` bytes of a request. The process that asked may change them meanwhile.
void channel_read_request(const Channel* channel, const ChannelTaken* taken, void* to);
// Says whether the process that asked no longer waits for the answer, or has ended.
bool channel_is_given_up(const Channel* channel, const ChannelTaken* taken);
// Answers a request that was taken, once. `bytes` are at most CHANNEL_ANSWER_BYTES.
void channel_answer(Channel* channel, const ChannelTaken* taken, int32_t status, const void* answer,
                    uint32_t bytes);

// Sleeps until there may be a request, at most for `most_ms`. Several threads may sleep.
void channel_sleep(Channel* channel, uint32_t most_ms);
// Says whether a thread sleeps that a new request will wake.
bool channel_any_sleeps(const Channel* channel);
// Wakes all that sleep.
void channel_wake_all(Channel* channel);
// Finds requests whose processes ended before they said that they ask, and with `looks_at_owners`
// takes back the slots of processes that have ended. One thread calls it, a few times a second.
void channel_sweep(Channel* channel, bool looks_at_owners);

// ---- For processes that ask ----

#define CHANNEL_NO_SLOT UINT32_MAX

typedef enum ChannelProgress {
  kChannelAnswered,
  kChannelWaits,  // there is no answer yet
  kChannelGone,   // the engine has ended, or will answer no more
} ChannelProgress;

// Maps the file of an engine. Answers NULL, with the reason in `why`, where it is not there, is not
// of this version or has another incarnation than this; 0 allows any.
Channel* channel_open(const char* path, uint64_t incarnation, char why[CHANNEL_ERROR_BYTES]);

// The channel_version() of the engine that made the file; 0: the file is not there, is no segment,
// or is not whole yet.
uint32_t channel_version_of(const char* path);

// A free slot, which is this process's until it gives it back or ends; CHANNEL_NO_SLOT: there is
// none.
uint32_t channel_claim(Channel* channel);
// Gives a slot back, whatever has become of its last request.
void channel_release(Channel* channel, uint32_t slot);

// Says whether the slot can take a request: false while the engine still has an earlier one, which
// was given up. channel_wait() waits for that with the earlier one's sequence.
bool channel_is_ready(const Channel* channel, uint32_t slot);
// The sequence of the slot's last request.
uint64_t channel_last_sequence(const Channel* channel, uint32_t slot);
// Where a request is written, CHANNEL_REQUEST_BYTES long, while the slot is ready.
void* channel_request(Channel* channel, uint32_t slot);
// Asks, and answers the sequence of the request. The slot is ready, and `bytes` of the request are
// written.
uint64_t channel_ask(Channel* channel, uint32_t slot, uint32_t operation, uint32_t bytes);
// Waits for an answer, at most for `most_ms`, and then looks whether the engine is still there.
ChannelProgress channel_wait(Channel* channel, uint32_t slot, uint64_t sequence, uint32_t most_ms);
// Gives a request up. Its answer is never taken for that of another request.
void channel_give_up(Channel* channel, uint32_t slot, uint64_t sequence);

typedef struct ChannelAnswer {
  int32_t status;
  uint32_t bytes;  // at most CHANNEL_ANSWER_BYTES
} ChannelAnswer;

// Copies an answer that has come: `answer->bytes` bytes to `to`, which has room for
// CHANNEL_ANSWER_BYTES.
void channel_read_answer(const Channel* channel, uint32_t slot, ChannelAnswer* answer, void* to);

// Says whether the engine that made the segment has ended. It asks the system, and no memory.
bool channel_has_ended(const Channel* channel);

#ifdef __cplusplus
}
#endif

#endif
