// What Linux would say on a machine that is not here.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "probes/support/host_files.hpp"

namespace fleetbench {

namespace fs = std::filesystem;

// A root folder of a machine that is not here.
class Machine {
 public:
  Machine() {
    std::string name = (fs::temp_directory_path() / "fleetbench-machine-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error(name + ": cannot be created");
    }
    root_ = name;
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(at(path).parent_path());
    std::ofstream(at(path), std::ios::binary) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    fs::create_directories(at(path).parent_path());
    fs::create_symlink(target, at(path));
  }
  // See the first lines of eight_gpu_node.tree for the form.
  void load(const fs::path& tree) const;
  HostFiles files() const { return HostFiles(root_); }

 private:
  fs::path at(const std::string& path) const { return root_ / fs::path(path).relative_path(); }

  fs::path root_;
};

}  // namespace fleetbench
