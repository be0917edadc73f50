#include "probes/gpu/nccl/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "probes/gpu/kernels.hpp"

namespace fleetbench::gpu::nccl {
namespace {

constexpr std::size_t kFirst_bytes = 4096;

std::int64_t checksum(const std::vector<std::int64_t>& numbers) {
  std::uint32_t sum = 1;
  for (const std::int64_t number : numbers) {
    sum = mixed(sum, static_cast<std::uint64_t>(number));
  }
  return sum;
}

}  // namespace

Exchange::Exchange(Communicator& communicator, const Stream& stream)
    : communicator_(communicator), stream_(stream), done_(communicator.gpu()) {
  reserve(kFirst_bytes);
}

std::vector<std::int64_t> Exchange::sum(std::vector<std::int64_t> mine) {
  reduce(mine, ncclInt64, ncclSum);
  return mine;
}

double Exchange::largest(double mine) {
  std::vector<double> value{mine};
  reduce(value, ncclFloat64, ncclMax);
  return value[0];
}

std::vector<double> Exchange::each(double mine) {
  std::vector<double> values(communicator_.place().size(), 0.0);
  values[communicator_.place().index] = mine;
  reduce(values, ncclFloat64, ncclSum);
  return values;
}

std::vector<std::vector<std::int64_t>> Exchange::each_row(std::vector<std::int64_t> mine) {
  const std::vector<std::int64_t> own = mine;
  const std::size_t length = mine.size() + 1;
  mine.push_back(checksum(mine));
  const std::size_t bytes = length * sizeof(std::int64_t);
  const std::string all = gather(mine.data(), bytes);
  std::vector<std::vector<std::int64_t>> rows;
  for (std::size_t rank = 0; rank < communicator_.place().size(); ++rank) {
    std::vector<std::int64_t> row(length);
    std::memcpy(row.data(), all.data() + rank * bytes, bytes);
    const std::int64_t told = row.back();
    row.pop_back();
    rows.push_back(told == checksum(row) ? row : std::vector<std::int64_t>());
  }
  rows[communicator_.place().index] = own;
  return rows;
}

std::vector<std::string> Exchange::each_text(std::string mine, std::size_t limit) {
  mine.resize(limit, '\0');
  const std::string all = gather(mine.data(), limit);
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size(); at += limit) {
    const auto end = std::find(all.begin() + static_cast<std::ptrdiff_t>(at),
                               all.begin() + static_cast<std::ptrdiff_t>(at + limit), '\0');
    texts.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at), end);
  }
  return texts;
}

std::string Exchange::gather(const void* mine, std::size_t bytes) {
  std::string all(communicator_.place().size() * bytes, '\0');
  reserve(all.size() + bytes);
  upload(mine, bytes);
  auto* const gathered = memory_->as<char>() + bytes;
  communicator_.check(communicator_.calls().all_gather(memory_->get(), gathered, bytes, ncclInt8,
                                                       communicator_.get(), stream_.get()),
                      "ncclAllGather");
  finish(all.data(), all.size(), gathered);
  return all;
}

void Exchange::send(std::int64_t value, std::size_t to) {
  upload(&value, sizeof value);
  communicator_.check(communicator_.calls().send(memory_->get(), 1, ncclInt64, static_cast<int>(to),
                                                 communicator_.get(), stream_.get()),
                      "ncclSend");
  finish(nullptr, 0, nullptr);
}

std::int64_t Exchange::receive(std::size_t from) {
  std::int64_t value = 0;
  communicator_.check(
      communicator_.calls().recv(memory_->get(), 1, ncclInt64, static_cast<int>(from),
                                 communicator_.get(), stream_.get()),
      "ncclRecv");
  finish(&value, sizeof value, memory_->get());
  return value;
}

template <typename Value>
void Exchange::reduce(std::vector<Value>& values, ncclDataType_t type, ncclRedOp_t operation) {
  const std::size_t bytes = values.size() * sizeof(Value);
  reserve(bytes);
  upload(values.data(), bytes);
  communicator_.check(
      communicator_.calls().all_reduce(memory_->get(), memory_->get(), values.size(), type,
                                       operation, communicator_.get(), stream_.get()),
      "ncclAllReduce");
  finish(values.data(), bytes, memory_->get());
}

void Exchange::reserve(std::size_t bytes) {
  if (!memory_ || memory_->bytes() < bytes) {
    memory_.reset();
    memory_.emplace(communicator_.gpu(), bytes);
  }
}

// Nothing is under way on the stream, so that this waits for nobody.
void Exchange::upload(const void* data, std::size_t bytes) {
  communicator_.gpu().check(
      cudaMemcpyAsync(memory_->get(), data, bytes, cudaMemcpyHostToDevice, stream_.get()),
      "cudaMemcpyAsync");
}

// A copy back would wait for the others without an end, so it comes when they have come.
void Exchange::finish(void* data, std::size_t bytes, const void* from) {
  const Gpu& gpu = communicator_.gpu();
  gpu.check(cudaEventRecord(done_.get(), stream_.get()), "cudaEventRecord");
  communicator_.wait(done_);
  if (bytes > 0) {
    gpu.check(cudaMemcpy(data, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  }
}

}  // namespace fleetbench::gpu::nccl
