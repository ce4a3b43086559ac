// What is built in: texts of messages, and regions.
#pragma once

namespace chakra::economics {

// g/kWh of a region.
struct RegionRow {
  const char* name;                 // null: the end of the list
  double grams, low, high, market;  // low and high 0: one book; market < 0: not known
  const char* source;
};

extern const char kPrices[];    // proto::Prices
extern const char kEmbodied[];  // proto::Grid without a region
extern const RegionRow kRegions[];

}  // namespace chakra::economics
