// The page that draws a report: one HTML file that asks the network for nothing.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// The page with its data, a JSON object as io/report_page/README.md tells. Requires valid JSON. Whatever stands in its
// strings stays data: nothing in it can end the script element that holds it.
std::string report_page(std::string_view data);

}  // namespace muster
