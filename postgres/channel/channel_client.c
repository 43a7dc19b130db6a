#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "postgres/channel/channel_layout.h"

#define TURNS_BEFORE_SLEEP 100  // 30 to 60 us on a free processor

static bool is_let_go(const ChannelSlot* slot) {
  // Acquire: the engine's last write to the slot came before it let it go.
  const unsigned phase = phase_of(atomic_load_explicit(&slot->state, memory_order_acquire));
  return phase == kPhaseIdle || phase == kPhaseAnswered;
}

// A slot that was left is free once the engine has let its request go.
static bool claim(ChannelSlot* slot, uint32_t self) {
  uint32_t owner = atomic_load_explicit(&slot->owner, memory_order_relaxed);
  if (owner != 0 && owner != OWNER_LEFT) return false;
  if (!is_let_go(slot)) return false;
  // Acquire pairs with the release of its former owner.
  return atomic_compare_exchange_strong_explicit(&slot->owner, &owner, self, memory_order_acq_rel,
                                                 memory_order_relaxed);
}

uint32_t channel_claim(Channel* channel) {
  const uint32_t self = (uint32_t)getpid();
  for (uint32_t i = 0; i < channel->slot_count; i++) {
    const uint32_t slot = (self + i) % channel->slot_count;
    if (claim(&channel->slots[slot], self)) return slot;
  }
  return CHANNEL_NO_SLOT;
}

void channel_release(Channel* channel, uint32_t slot) {
  channel_give_up(channel, slot, channel_last_sequence(channel, slot));
  atomic_store_explicit(&channel->slots[slot].owner, OWNER_LEFT, memory_order_release);
}

bool channel_is_ready(const Channel* channel, uint32_t slot) {
  return is_let_go(&channel->slots[slot]);
}

uint64_t channel_last_sequence(const Channel* channel, uint32_t slot) {
  // Relaxed: only the owner begins sequences.
  return sequence_of(atomic_load_explicit(&channel->slots[slot].state, memory_order_relaxed));
}

void* channel_request(Channel* channel, uint32_t slot) {
  return channel->slots[slot].request;
}

void channel_announce(Channel* channel, uint32_t slot) {
  ChannelHeader* header = channel->header;
  // The bit is set before sleepers are counted, and a thread that will sleep does the same in the
  // other order. So one of both sees the other; both orders must be the total one (seq_cst).
  atomic_fetch_or_explicit(&header->waiting[slot / 64], UINT64_C(1) << slot % 64,
                           memory_order_seq_cst);
  if (atomic_load_explicit(&header->sleepers, memory_order_seq_cst) == 0) return;
  atomic_fetch_add_explicit(&header->asked, 1, memory_order_seq_cst);
  channel_futex_wake(&header->asked, 1);
}

uint64_t channel_ask(Channel* channel, uint32_t slot, uint32_t operation, uint32_t bytes) {
  ChannelSlot* to = &channel->slots[slot];
  const uint64_t sequence = channel_last_sequence(channel, slot) + 1;
  to->operation = operation;
  to->request_bytes = bytes;
  // Release: the request's bytes are seen with it.
  atomic_store_explicit(&to->state, channel_word(sequence, kPhaseAsked), memory_order_release);
  channel_announce(channel, slot);
  return sequence;
}

static bool is_answered(const ChannelSlot* slot, uint64_t sequence) {
  // Acquire: the answer's bytes are seen with it.
  const uint64_t word = atomic_load_explicit(&slot->state, memory_order_acquire);
  return word == channel_word(sequence, kPhaseAnswered);
}

// Most answers come within tens of microseconds, in which falling asleep and being woken would be
// the larger part. To yield leaves the processor to others that have work.
static bool is_answered_soon(const ChannelSlot* slot, uint64_t sequence) {
  for (int i = 0; i < TURNS_BEFORE_SLEEP; i++) {
    if (is_answered(slot, sequence)) return true;
    sched_yield();
  }
  return false;
}

ChannelProgress channel_wait(Channel* channel, uint32_t slot, uint64_t sequence, uint32_t most_ms) {
  ChannelSlot* from = &channel->slots[slot];
  if (is_answered_soon(from, sequence)) return kChannelAnswered;
  // The count is read before the state: an answer that comes in between ends the sleep at once.
  const uint32_t count = atomic_load_explicit(&from->answered, memory_order_seq_cst);
  if (is_answered(from, sequence)) return kChannelAnswered;
  channel_futex_wait(&from->answered, count, most_ms);
  if (is_answered(from, sequence)) return kChannelAnswered;
  if (!channel_has_ended(channel)) return kChannelWaits;
  // It may have answered and ended since.
  return is_answered(from, sequence) ? kChannelAnswered : kChannelGone;
}

void channel_give_up(Channel* channel, uint32_t slot, uint64_t sequence) {
  ChannelSlot* from = &channel->slots[slot];
  // What the engine has not taken is withdrawn.
  uint64_t asked = channel_word(sequence, kPhaseAsked);
  if (atomic_compare_exchange_strong_explicit(&from->state, &asked,
                                              channel_word(sequence, kPhaseIdle),
                                              memory_order_acq_rel, memory_order_relaxed)) {
    return;
  }
  // Relaxed: it only saves the engine some work.
  atomic_store_explicit(&from->given_up, sequence, memory_order_relaxed);
}

void channel_read_answer(const Channel* channel, uint32_t slot, ChannelAnswer* answer, void* to) {
  const ChannelSlot* from = &channel->slots[slot];
  answer->status = *(const volatile int32_t*)&from->status;
  const uint32_t bytes = *(const volatile uint32_t*)&from->answer_bytes;
  answer->bytes = bytes <= CHANNEL_ANSWER_BYTES ? bytes : CHANNEL_ANSWER_BYTES;
  memcpy(to, from->answer, answer->bytes);
}
