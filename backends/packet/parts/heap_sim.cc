#include "backends/packet/parts/sim_impl.h"

namespace chakra::packet {

template class Ends<HeapEvents>;
template class Senders<HeapEvents, Ends<HeapEvents>::OwnPorts>;
template class Windows<HeapEvents>;
template class PacketSim<HeapEvents>;

}  // namespace chakra::packet
