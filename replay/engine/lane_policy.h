// Which order the nodes of a lane keep.
#pragma once

namespace chakra {

enum class LanePolicy { kRecorded, kSingle, kUnlimited };

}  // namespace chakra
