// Calls a fuzz target with each file of the folders that are given: what was once found stays
// mended. Ends with 1 where there is no file at all.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/target.hpp"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : fs::directory_iterator(argv[i])) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  for (const fs::path& path : files) {
    fmt::print("{}\n", path.string());
    std::fflush(stdout);  // the last one named is the one that ends this process
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  return files.empty() ? 1 : 0;
}
