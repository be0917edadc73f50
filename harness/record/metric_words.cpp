#include "harness/record/metric_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace fleetbench::record {
namespace {

struct LayerWord {
  std::string_view word;
  Layer layer;
};

// The first that matches counts. Short words must be whole ones, long ones may be part of one:
// "gemm" is in "sgemm".
constexpr std::array kLayerWords = std::to_array<LayerWord>({
    {"nccl", Layer::network},      {"rccl", Layer::network},      {"ib", Layer::network},
    {"rdma", Layer::network},      {"roce", Layer::network},      {"tcp", Layer::network},
    {"mpi", Layer::network},       {"gpcnet", Layer::network},    {"net", Layer::network},
    {"network", Layer::network},   {"ping", Layer::network},      {"allreduce", Layer::network},
    {"allgather", Layer::network}, {"alltoall", Layer::network},  {"reduce", Layer::network},
    {"gather", Layer::network},    {"broadcast", Layer::network}, {"sendrecv", Layer::network},
    {"busbw", Layer::network},     {"algbw", Layer::network},     {"nvlink", Layer::fabric},
    {"nvswitch", Layer::fabric},   {"xgmi", Layer::fabric},       {"p2p", Layer::fabric},
    {"h2d", Layer::copy},          {"d2h", Layer::copy},          {"d2d", Layer::copy},
    {"memcpy", Layer::copy},       {"pcie", Layer::copy},         {"nvbandwidth", Layer::copy},
    {"fio", Layer::storage},       {"disk", Layer::storage},      {"nvme", Layer::storage},
    {"ssd", Layer::storage},       {"storage", Layer::storage},   {"checkpoint", Layer::storage},
    {"nfs", Layer::storage},       {"lustre", Layer::storage},    {"decode", Layer::input},
    {"loader", Layer::input},      {"tokenize", Layer::input},    {"preprocess", Layer::input},
    {"step", Layer::step},         {"iteration", Layer::step},    {"train", Layer::step},
    {"epoch", Layer::step},        {"model", Layer::step},        {"gemm", Layer::compute},
    {"flops", Layer::compute},     {"matmul", Layer::compute},    {"cublas", Layer::compute},
    {"cudnn", Layer::compute},     {"kernel", Layer::compute},    {"inference", Layer::compute},
    {"cpu", Layer::host},          {"numa", Layer::host},         {"dram", Layer::host},
    {"copy", Layer::copy},         {"gpu", Layer::compute},       {"memory", Layer::host},
    {"mem", Layer::host},          {"stream", Layer::host},
});
constexpr std::size_t kLongWord = 4;

constexpr std::array<std::string_view, 18> kTimes{
    "s",       "ms",  "us",     "µs",      "μs", "ns",   "sec",   "secs", "second",
    "seconds", "min", "minute", "minutes", "h",  "hour", "hours", "msec", "usec"};
constexpr std::array<std::string_view, 14> kRates{"iops",   "kiops",  "giops",  "flops",  "kflops",
                                                  "mflops", "gflops", "tflops", "pflops", "hz",
                                                  "khz",    "mhz",    "ghz",    "qps"};
constexpr std::array<std::string_view, 5> kBitRates{"bps", "kbps", "mbps", "gbps", "tbps"};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& all) {
  return std::ranges::find(all, text) != all.end();
}

bool has_word(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::any_of(words, [word](const std::string& candidate) {
    return candidate == word ||
           (word.size() >= kLongWord && candidate.find(word) != std::string::npos);
  });
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool within = false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      within = false;
      continue;
    }
    if (!within) {
      words.emplace_back();
    }
    within = true;
    words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

std::optional<Better> better_of_unit(std::string_view unit) {
  const std::string lower = in_lower_case(unit);
  const auto slash = lower.find('/');
  if (is_one_of(lower.substr(0, slash), kTimes)) {
    return Better::lower;
  }
  if (is_one_of(lower, kRates) || is_one_of(lower, kBitRates) ||
      (slash != std::string::npos && is_one_of(lower.substr(slash + 1), kTimes))) {
    return Better::higher;
  }
  return std::nullopt;
}

std::optional<Layer> layer_of_words(std::string_view name, std::string_view unit) {
  const auto words = words_of(name);
  for (const LayerWord& candidate : kLayerWords) {
    if (has_word(words, candidate.word)) {
      return candidate.layer;
    }
  }
  const std::string lower = in_lower_case(unit);
  if (lower.find("flop") != std::string::npos) {
    return Layer::compute;
  }
  if (lower.find("iops") != std::string::npos) {
    return Layer::storage;
  }
  return std::nullopt;
}

}  // namespace fleetbench::record
