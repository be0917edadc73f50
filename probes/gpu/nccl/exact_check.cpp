#include "probes/gpu/nccl/exact_check.hpp"

#include <array>

namespace fleetbench::gpu::nccl {

ExactCheck::ExactCheck(const Gpu& gpu, std::size_t members)
    : gpu_(gpu),
      data_(members),
      grid_(full_grid(gpu.info())),
      stream_(gpu),
      values_(gpu, data_.values().size() * sizeof(float)),
      sums_(gpu, data_.sums().size() * sizeof(float)),
      counted_(gpu, 2 * sizeof(std::uint64_t)) {
  gpu.check(
      cudaMemcpy(values_.get(), data_.values().data(), values_.bytes(), cudaMemcpyHostToDevice),
      "cudaMemcpy");
  gpu.check(cudaMemcpy(sums_.get(), data_.sums().data(), sums_.bytes(), cudaMemcpyHostToDevice),
            "cudaMemcpy");
}

void ExactCheck::fill(float* send, std::size_t count, std::size_t me) {
  gpu_.check(launch_repeat(send, count, values_.get(), length(), ExactData::first_of(me), grid_,
                           stream_.get()),
             "launch of fleetbench_repeat");
  synchronize();
}

// Not a number, which equals nothing that is sent.
void ExactCheck::clear(float* receive, std::size_t count) {
  gpu_.check(cudaMemsetAsync(receive, 0xFF, count * sizeof(float), stream_.get()),
             "cudaMemsetAsync");
  synchronize();
}

WrongElements ExactCheck::compare(const CollectiveShape& shape, const float* got, std::size_t count,
                                  std::size_t me) {
  WrongElements wrong;
  for (const ExpectedPart& part : data_.expected(shape, count, me)) {
    compare_part(part, got, wrong);
  }
  return wrong;
}

void ExactCheck::compare_part(const ExpectedPart& part, const float* got, WrongElements& wrong) {
  std::array<unsigned long long, 2> counted{0, ~0ULL};
  gpu_.check(cudaMemcpy(counted_.get(), counted.data(), sizeof counted, cudaMemcpyHostToDevice),
             "cudaMemcpy");
  gpu_.check(launch_check_repeat(got + part.place, part.count,
                                 part.summed ? sums_.get() : values_.get(), length(), part.first,
                                 counted_.as<unsigned long long>(), grid_, stream_.get()),
             "launch of fleetbench_check_repeat");
  synchronize();
  gpu_.check(cudaMemcpy(counted.data(), counted_.get(), sizeof counted, cudaMemcpyDeviceToHost),
             "cudaMemcpy");
  wrong.count += counted[0];
  if (counted[0] == 0 || wrong.first) {
    return;
  }
  const auto element = static_cast<std::size_t>(counted[1]);
  ElementMismatch first{part.place + element, data_.value_at(part, element), 0};
  gpu_.check(cudaMemcpy(&first.got, got + first.element, sizeof first.got, cudaMemcpyDeviceToHost),
             "cudaMemcpy");
  wrong.first = first;
}

void ExactCheck::synchronize() {
  gpu_.check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize after a check");
}

}  // namespace fleetbench::gpu::nccl
