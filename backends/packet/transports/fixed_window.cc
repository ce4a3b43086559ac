#include "backends/packet/transports/fixed_window.h"

#include "backends/packet/transports/table.h"
#include "trace/base/status_macros.h"

namespace chakra::packet {

namespace {

const TransportTable<FixedWindow::Config>& FixedWindowTable() {
  using C = FixedWindow::Config;
  static const auto* const kTable = new TransportTable<C>(
      TransportTable<C>()
          .Bytes("bytes", &C::bytes, 0, uint64_t{1} << 40,
                 "payload in flight; 0: bdp times the bandwidth-delay product")
          .Number("bdp", &C::bdp, 0.001, 1000, "share of the path's bandwidth-delay product in flight"));
  return *kTable;
}

}  // namespace

TransportKind FixedWindow::Kind() {
  TransportKind k;
  k.name = "window";
  k.skip_error = 0.01;
  k.summary = "A fixed number of bytes in flight";
  k.source = "Stevens, TCP/IP Illustrated, volume 1, 1994, section 20.7 (bandwidth-delay product)";
  k.parameters = FixedWindowTable().declared();
  return k;
}

absl::StatusOr<FixedWindow::Config> FixedWindow::Read(const Parameters& p) {
  Config c;
  RETURN_IF_ERROR(FixedWindowTable().Read(p, &c));
  return c;
}

}  // namespace chakra::packet
