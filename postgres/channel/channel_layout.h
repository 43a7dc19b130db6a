// This header has the bytes of a channel's segment. Only files of this folder include it: C++ knows
// no _Atomic.
#ifndef FARVEC_POSTGRES_CHANNEL_CHANNEL_LAYOUT_H
#define FARVEC_POSTGRES_CHANNEL_CHANNEL_LAYOUT_H

#include <assert.h>
#include <stdatomic.h>

#include "postgres/channel/channel.h"

#define CHANNEL_MAGIC UINT64_C(0x6c656e6e61686346)
#define CHANNEL_VERSION 1
#define CHANNEL_WORDS (CHANNEL_MOST_SLOTS / 64)

// Begins the file.
typedef struct ChannelHeader {
  _Atomic uint64_t magic;  // is written last
  uint32_t version;
  uint32_t slots;
  uint32_t slot_bytes;
  uint32_t engine_pid;
  uint64_t incarnation;
  _Atomic uint32_t state;  // a ChannelState
  uint32_t unused[7];

  // Asking processes write these.
  _Atomic uint32_t asked;     // counts requests; a futex on which the engine's threads sleep
  _Atomic uint32_t sleepers;  // the engine's threads that sleep
  uint32_t unused_too[14];
  _Atomic uint64_t waiting[CHANNEL_WORDS];  // a bit for each slot, set when it has a request
} ChannelHeader;

// What has become of a slot's request.
enum {
  kPhaseIdle = 0,      // it was withdrawn, or there was none yet
  kPhaseAsked = 1,     // it waits for the engine
  kPhaseTaken = 2,     // the engine has it
  kPhaseAnswered = 3,  // there is an answer
};
#define PHASE_BITS 2

// The slot has no owner any more, but the engine may still have its request.
#define OWNER_LEFT UINT32_MAX

typedef struct ChannelSlot {
  // The request's sequence and its phase, in one word, so that both change together.
  _Atomic uint64_t state;
  _Atomic uint64_t given_up;  // sequence of a request whose answer is not waited for
  _Atomic uint32_t owner;     // process; 0: none
  _Atomic uint32_t answered;  // counts answers; a futex on which the owner sleeps
  uint32_t operation;
  uint32_t request_bytes;
  int32_t status;
  uint32_t answer_bytes;
  uint8_t unused[88];
  uint8_t request[CHANNEL_REQUEST_BYTES];
  uint8_t answer[CHANNEL_ANSWER_BYTES];
} ChannelSlot;

static_assert(sizeof(ChannelHeader) == 128 + 8 * CHANNEL_WORDS, "the header has no gaps");
static_assert(sizeof(ChannelSlot) == 128 + CHANNEL_REQUEST_BYTES + CHANNEL_ANSWER_BYTES,
              "a slot has no gaps");
static_assert(sizeof(ChannelSlot) % 64 == 0, "slots share no cache line");

#define CHANNEL_HEADER_BYTES 4096  // where slots begin in the file
static_assert(sizeof(ChannelHeader) <= CHANNEL_HEADER_BYTES, "the header has a page");

struct Channel {
  ChannelHeader* header;
  ChannelSlot* slots;
  // Copies of what never changes, which no other process can write.
  uint32_t slot_count;
  uint32_t engine_pid;
  uint64_t incarnation;
  size_t bytes;
  int file;
  // Slots whose requests the engine has; for the engine alone. The segment could say otherwise.
  _Atomic uint8_t* under_way;
  _Atomic uint8_t watched;  // a thread of the engine looks for requests, and does not sleep yet
};

static inline uint64_t channel_word(uint64_t sequence, unsigned phase) {
  return sequence << PHASE_BITS | phase;
}
static inline unsigned phase_of(uint64_t word) {
  return (unsigned)(word & ((1u << PHASE_BITS) - 1));
}
static inline uint64_t sequence_of(uint64_t word) {
  return word >> PHASE_BITS;
}

// Sleeps while the word has this value, at most so long. It may return for no reason.
void channel_futex_wait(_Atomic uint32_t* word, uint32_t value, uint32_t most_ms);
void channel_futex_wake(_Atomic uint32_t* word, int most);

// Says that a slot has a request, to the engine.
void channel_announce(Channel* channel, uint32_t slot);

#endif
