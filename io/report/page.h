// The page that draws a report: one HTML file without any network requests.
#pragma once

#include <string>
#include <string_view>

namespace muster::reporting {

// The page with its data, a JSON object as io/report/page/README.md describes. Requires valid JSON. The content of its
// strings stays data: nothing in it can end the script element that holds it.
std::string report_page(std::string_view data);

}  // namespace muster::reporting
