// The order in which the nodes of a lane run.
#pragma once

namespace chakra {

enum class LanePolicy { kRecorded, kSingle, kUnlimited };

}  // namespace chakra
