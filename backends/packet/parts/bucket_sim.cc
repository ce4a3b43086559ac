#include "backends/packet/parts/sim_impl.h"

namespace chakra::packet {

template class Ends<BucketEvents>;
template class Senders<BucketEvents, Ends<BucketEvents>::OwnPorts>;
template class Windows<BucketEvents>;
template class PacketSim<BucketEvents>;

}  // namespace chakra::packet
