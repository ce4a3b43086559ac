#include "backends/packet/ends/selective.h"

namespace chakra::packet {

Selective::Selective(const PacketOptions& options, bool lossy)
    : mtu_(options.mtu), one_way_(options.spread == PacketOptions::Spread::kConnection), lossy_(lossy) {}

void Selective::TakeLost(uint32_t i, Sender* s, Packet* k) {
  SentWindow& w = windows_[i];
  w.lost_from = std::max(w.lost_from, s->acked);
  while (w[w.lost_from].state != SentWindow::kLost) ++w.lost_from;
  SentWindow::Sent& sent = w[w.lost_from];
  sent.state = SentWindow::kAgain;
  sent.path = k->path;
  --s->lost;
  if (lossy_) w.resent.push_back({w.lost_from, s->next, ++sent.times});
  k->number = w.lost_from++;
  k->message = sent.message;
  k->payload = sent.payload;
  ++again_;
}

void Selective::OnAck(uint32_t i, const Packet& k, Sender* s, Ack* ack) {
  SentWindow& w = windows_[i];
  const auto arrived = [&](uint64_t n) {
    SentWindow::Sent& sent = w[n];
    if (sent.state == SentWindow::kArrived) return;
    if (sent.state == SentWindow::kLost) {
      --s->lost;
    } else {
      s->in_flight -= sent.payload;
    }
    sent.state = SentWindow::kArrived;
    ack->acked += sent.payload;
  };
  if (k.number >= s->acked && k.number < s->next) {
    arrived(k.number);
    w.highest = std::max(w.highest, k.number + 1);
  }
  for (uint64_t n = s->acked; n < std::min(k.before, s->next); ++n) arrived(n);
  s->acked = std::max(s->acked, std::min(k.before, s->next));
  w.highest = std::max(w.highest, s->acked);
}

void Selective::GiveUp(uint32_t i, uint64_t number, Sender* s, Loss* loss) {
  SentWindow& w = windows_[i];
  SentWindow::Sent& sent = w[number];
  if (number < s->acked || sent.state == SentWindow::kArrived || sent.state == SentWindow::kLost) return;
  sent.state = SentWindow::kLost;
  s->in_flight -= sent.payload;
  ++s->lost;
  w.lost_from = std::min(w.lost_from, number);
  loss->bytes += sent.payload;
  loss->packet = number;
  loss->path = sent.path;
}

uint64_t Selective::Apart(const Sender& s) const {
  if (one_way_) return 3;  // TCP's number of duplicates (RFC 5681)
  const double window = std::min(s.control.window, 1e9);
  return std::max<uint64_t>(5, static_cast<uint64_t>(1.5 * window / mtu_));
}

bool Selective::FindOvertaken(uint32_t i, Sender* s, Loss* loss) {
  SentWindow& w = windows_[i];
  const uint64_t apart = Apart(*s);
  if (w.highest <= apart) return false;
  const uint64_t end = w.highest - apart;
  w.checked = std::max(w.checked, s->acked);
  for (; w.checked < end; ++w.checked) {
    if (w[w.checked].state == SentWindow::kFlying) GiveUp(i, w.checked, s, loss);
  }
  // Packets that were sent again and lost again: packets sent after them have arrived.
  for (auto again = w.TakeOvertaken(apart); again.has_value(); again = w.TakeOvertaken(apart)) {
    if (again->number < s->acked) continue;
    const SentWindow::Sent& sent = w[again->number];
    if (sent.state == SentWindow::kAgain && sent.times == again->times) GiveUp(i, again->number, s, loss);
  }
  return loss->bytes > 0;
}

}  // namespace chakra::packet
