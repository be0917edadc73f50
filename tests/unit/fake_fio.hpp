// A program named fio, first in $PATH for as long as this lives, that does what a test says.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/temporary_directory.hpp"

namespace fleetbench {

class FakeFio {
 public:
  // `script` is of sh. Empty: $PATH leads to no fio at all.
  explicit FakeFio(const std::string& script) : path_(std::getenv("PATH")) {
    if (script.empty()) {
      setenv("PATH", folder_.path().c_str(), 1);
      return;
    }
    const auto program = folder_.path() / "fio";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
  }
  ~FakeFio() { setenv("PATH", path_.c_str(), 1); }
  FakeFio(const FakeFio&) = delete;
  FakeFio& operator=(const FakeFio&) = delete;

 private:
  std::string path_;
  TemporaryDirectory folder_;
};

}  // namespace fleetbench
