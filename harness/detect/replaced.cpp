#include "harness/detect/replaced.hpp"

namespace fleetbench::detect {

std::string replaced(std::string text, std::string_view mark, std::string_view with) {
  for (std::size_t at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + with.size())) {
    text.replace(at, mark.size(), with);
  }
  return text;
}

}  // namespace fleetbench::detect
