// The use of links as rows of CSV.
#pragma once

#include "absl/status/status.h"
#include "backends/link_use.h"
#include "trace/io/csv.h"

namespace chakra {

// One row for each link and bucket of time, with links in the order of `links.busiest`. The rows of a link
// end with its last recorded bucket; in later buckets the link was idle.
//
//   link, name, class   the link's number, by direction; its ends; its class
//   begin_ps, end_ps    of the bucket
//   share               used share of the bandwidth; `packet`: a packet counts where it begins,
//                       so the share may be one packet above 1
//   queued_bytes        `packet`: bytes in the queue at end_ps; of merged buckets, the maximum. Else empty
//   each of kLinkCounts `packet`: the count in this bucket. Else empty
//
// Errors: those of `write`.
absl::Status WriteLinkSeries(const LinkUses& links, const WriteBytes& write);

// One row for each link:
//
//   link, name, class, dimension   as above, and the dimension of the topology
//   others                         the fields of LinkReport that are shown in CSV, up to `end`;
//                                  those of packets are empty without `packets`
//
// Errors: those of `write`.
absl::Status WriteLinkTotals(const LinkUses& links, bool packets, Time end, const WriteBytes& write);

}  // namespace chakra
