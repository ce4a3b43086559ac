#include "backends/packet/ends/go_back_n.h"

namespace chakra::packet {

void GoBackN::Rewind(uint64_t number, uint64_t bytes, Sender* s) {
  if (s->next > number) again_ += s->next - number;
  s->next = number;
  s->sent_bytes = bytes;
  s->in_flight = bytes - s->acked_bytes;
  s->message = s->head;
  s->message_first = s->head_first;
  while (s->message != kNoIndex && s->message_first + messages_[s->message].packets <= number) {
    s->message_first += messages_[s->message].packets;
    s->message = messages_[s->message].next;
  }
}

bool GoBackN::OnNack(const Packet& k, Sender* s, Loss* loss) {
  if (k.number < s->acked || k.number >= s->next) return false;
  if (k.number > 0) {
    Packet before = k;
    before.number = k.number - 1;
    Ack unused;
    OnAck(before, s, &unused);
    s->DropAcknowledged(&messages_);
  }
  loss->packet = k.number;
  loss->bytes = s->in_flight;
  Rewind(k.number, k.before, s);
  return true;
}

}  // namespace chakra::packet
