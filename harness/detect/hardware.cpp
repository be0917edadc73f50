#include "harness/detect/hardware.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "results-schema/json_at.hpp"

namespace fleetbench::detect {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> result;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      result.push_back(std::move(word));
      word.clear();
    }
  }
  return result;
}

std::string without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part)) {
    text.erase(at, part.size());
  }
  return text;
}

// "AMD EPYC 9654 96-Core Processor" is an EPYC 9654.
bool says_nothing(const std::string& word) {
  return word == "AMD" || word == "Intel" || word == "NVIDIA" || word == "CPU" ||
         word == "Processor" || word.ends_with("-Core");
}

std::string short_model(std::string model) {
  model = without(without(std::move(model), "(R)"), "(TM)");
  model = model.substr(0, model.find(" @ "));
  std::vector<std::string> kept = words(model);
  std::erase_if(kept, says_nothing);
  return fmt::format("{}", fmt::join(kept, " "));
}

// "15b3:1021"
std::string pci_id(const Json& entry) {
  std::string vendor = text_at(entry, "vendor");
  std::string device = text_at(entry, "device");
  for (std::string* id : {&vendor, &device}) {
    *id = id->starts_with("0x") ? id->substr(2) : *id;
  }
  return vendor.empty() || device.empty() ? "" : vendor + ":" + device;
}

std::string gpu(const Json& entry) {
  std::string model = short_model(text_at(entry, "name"));
  model = model.empty() ? short_model(text_at(entry, "model")) : model;
  if (model.empty()) {
    const std::string id = pci_id(entry);
    return id.empty() ? "" : "GPU " + id;
  }
  const auto bytes = number_at(entry, "memory_total_bytes");
  const bool says_memory = model.find("GB") != std::string::npos;
  return bytes && !says_memory ? fmt::format("{} {:.0f}GB", model, *bytes / (1U << 30U)) : model;
}

std::string cpu(const Json& entry) {
  const std::string model = short_model(text_at(entry, "model"));
  const auto sockets = number_at(entry, "sockets");
  return sockets && !model.empty() ? fmt::format("{:.0f}x {}", *sockets, model) : model;
}

std::string nic(const Json& entry, const auto& pci_ids) {
  const Json& is_virtual = at(entry, "virtual");
  if (is_virtual.is_boolean() && is_virtual.get<bool>()) {
    return "";
  }
  const auto found = pci_ids.find(text_at(entry, "pci_address"));
  const std::string model = found == pci_ids.end() ? text_at(entry, "driver") : found->second;
  return model.empty() ? "" : "NIC " + model;
}

template <typename Read>
std::set<std::string> each_of(const Json& list, const Read& read) {
  std::set<std::string> models;
  for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
    models.insert(read(list[i]));
  }
  models.erase("");
  return models;
}

double fastest(const Json& list, const char* key) {
  double speed = 0;
  for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
    speed = at(list[i], "virtual") == true ? speed
                                           : std::max(speed, number_at(list[i], key).value_or(0));
  }
  return speed;
}

int fastest_port(const Inventory& inventory) {
  const double gbit = std::max(fastest(inventory.part("nics"), "speed_mbit") / 1000,
                               fastest(inventory.part("infiniband_ports"), "rate_gbit"));
  return gbit < 1e6 ? static_cast<int>(std::lround(gbit)) : 0;
}

}  // namespace

bool Hardware::empty() const {
  return std::ranges::all_of(models, [](const auto& some) { return some.empty(); });
}

std::string text_of(const std::set<std::string>& models) {
  return models.empty() ? "none" : fmt::format("{}", fmt::join(models, ", "));
}

std::string text_of(const Hardware& hardware) {
  std::vector<std::string> texts;
  for (const auto& models : hardware.models) {
    texts.insert(texts.end(), models.begin(), models.end());
  }
  if (hardware.gbit_per_s > 0) {
    texts.push_back(fmt::format("{} Gbit/s", hardware.gbit_per_s));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

const HardwareReader::Ids& HardwareReader::pci_ids(const Json& pci) {
  const auto [place, is_new] = pci_ids_.try_emplace(&pci);
  for (std::size_t i = 0; is_new && pci.is_array() && i < pci.size(); ++i) {
    const std::string id = pci_id(pci[i]);
    if (!id.empty()) {
      place->second.emplace(text_at(pci[i], "address"), id);
    }
  }
  return place->second;
}

Hardware HardwareReader::hardware_of(const Inventory& inventory) {
  const Ids& ids = pci_ids(inventory.part("pci"));
  const auto nic_of = [&ids](const Json& entry) { return nic(entry, ids); };
  Hardware hardware;
  hardware.models[0] = each_of(inventory.part("gpus"), gpu);
  hardware.models[1] = {cpu(inventory.part("cpu"))};
  hardware.models[1].erase("");
  hardware.models[2] = each_of(inventory.part("nics"), nic_of);
  hardware.models[2].merge(each_of(inventory.part("infiniband_ports"), nic_of));
  hardware.models[3] = each_of(inventory.part("disks"), [](const Json& entry) {
    return short_model(text_at(entry, "model"));
  });
  hardware.gbit_per_s = fastest_port(inventory);
  return hardware;
}

}  // namespace fleetbench::detect
