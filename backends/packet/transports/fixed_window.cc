#include "backends/packet/transports/fixed_window.h"

namespace chakra::packet {

TransportKind FixedWindow::Kind() {
  TransportKind k;
  k.name = "window";
  k.skip_error = 0.01;
  k.summary = "A fixed number of bytes in flight";
  k.source = "Stevens, TCP/IP Illustrated, volume 1, 1994, section 20.7 (bandwidth-delay product)";
  k.parameters = {{"bytes", "0", "payload in flight, as 64KB; 0: bdp times what the path holds"},
                  {"bdp", "1", "share of the path's bandwidth-delay product in flight, 0.001 to 1000"}};
  return k;
}

absl::StatusOr<FixedWindow::Config> FixedWindow::Read(const Parameters& p) {
  Config c;
  const auto bytes = p.Bytes("bytes", 0, uint64_t{1} << 40);
  if (!bytes.ok()) return bytes.status();
  const auto bdp = p.Number("bdp", 0.001, 1000);
  if (!bdp.ok()) return bdp.status();
  c.bytes = static_cast<double>(*bytes);
  c.bdp = *bdp;
  return c;
}

}  // namespace chakra::packet
