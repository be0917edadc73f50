// NVML as a program without its header uses it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/gpu_sim/nvml/nvml_api.hpp"

namespace gpu_sim_test {

class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW), close) {
    EXPECT_NE(library_, nullptr) << dlerror();
    EXPECT_EQ(call("nvmlInit_v2"), 0);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() { EXPECT_EQ(call("nvmlShutdown"), 0); }

  // The arguments' types must be the function's.
  template <typename... Arguments>
  nvmlReturn_t call(const char* name, Arguments... arguments) const {
    void* symbol = dlsym(library_.get(), name);
    if (symbol == nullptr) {
      ADD_FAILURE() << "no " << name;
      return -1;
    }
    return reinterpret_cast<nvmlReturn_t (*)(Arguments...)>(symbol)(arguments...);
  }

  nvmlDevice_t device(unsigned index) const {
    nvmlDevice_t found = nullptr;
    EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", index, &found), 0);
    return found;
  }

  // What a function with one result says of a device.
  template <typename T, typename... More>
  T value(const char* name, nvmlDevice_t device, More... more) const {
    T result{};
    EXPECT_EQ(call(name, device, more..., &result), 0) << name;
    return result;
  }

  std::string text(const char* name, nvmlDevice_t device) const {
    char text[96] = "";
    EXPECT_EQ(call(name, device, static_cast<char*>(text), 96U), 0) << name;
    return text;
  }

 private:
  static void close(void* library) {
    if (library != nullptr) {
      dlclose(library);
    }
  }
  std::unique_ptr<void, void (*)(void*)> library_;
};

}  // namespace gpu_sim_test
