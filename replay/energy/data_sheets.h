// Profiles of devices that are known by their data sheets alone.
#pragma once

namespace chakra::energy {

// An EnergyModel in text: profiles, without network and PUE.
extern const char kDataSheets[];

}  // namespace chakra::energy
