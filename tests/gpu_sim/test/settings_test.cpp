// How faults are read.
#include <gtest/gtest.h>

#include <array>

#include "tests/gpu_sim/model/faults.hpp"

namespace gpu_sim {

namespace {

Faults of(std::string_view rules, int gpu = 0) { return faults_of(rules, "node1", gpu, 8); }

TEST(SimulatedFaults, NoneWithoutRules) {
  const Faults faults = of("");
  EXPECT_EQ(faults.sm_clock, 1);
  EXPECT_EQ(faults.pcie_width, 16);
  EXPECT_FALSE(faults.gone || faults.mig || faults.no_driver || faults.xid || faults.wrong_gemm);
}

TEST(SimulatedFaults, OfThisNodeAndGpu) {
  const char* rules = "node1:3:memory=0.5;node1:*:h2d=0.5;*:3:d2h=0.25;node2:*:gone;";
  EXPECT_EQ(of(rules, 3).memory, 0.5);
  EXPECT_EQ(of(rules, 3).h2d, 0.5);
  EXPECT_EQ(of(rules, 3).d2h, 0.25);
  EXPECT_EQ(of(rules, 2).memory, 1);
  EXPECT_EQ(of(rules, 2).h2d, 0.5);
  EXPECT_EQ(of(rules, 2).d2h, 1);
  EXPECT_FALSE(of(rules, 3).gone);
}

TEST(SimulatedFaults, Each) {
  const Faults faults =
      of("node1:0:sm_clock=0.7,throttle=hw_thermal,throttle=sw_power,pcie_gen=4,pcie_width=8,"
         "peer=5:0.5,peer=6:0.25,wrong_bit=gemm@4,wrong_bit=copy,sticky=launch@2,hang=copy@3,"
         "hang=launch,nvlinks_down=3,no_peers,ecc=9,xid=79,oom=4096,compute_mode=exclusive,driver="
         "12.2,mig,gone");
  EXPECT_EQ(faults.sm_clock, 0.7);
  EXPECT_EQ(faults.clock_reasons, 0x4CU);
  EXPECT_EQ(faults.pcie_generation, 4);
  EXPECT_EQ(faults.pcie_width, 8);
  EXPECT_EQ(faults.peer, (std::map<int, double>{{5, 0.5}, {6, 0.25}}));
  EXPECT_EQ(faults.nvlinks_down, 3);
  EXPECT_TRUE(faults.no_peers);
  EXPECT_EQ(faults.wrong_gemm, 4U);
  EXPECT_EQ(faults.wrong_copy, 1U);
  EXPECT_EQ(faults.sticky_launch, 2U);
  EXPECT_EQ(faults.hang_copy, 3U);
  EXPECT_EQ(faults.hang_launch, 1U);
  EXPECT_EQ(faults.uncorrected_errors, 9U);
  EXPECT_EQ(faults.xid, 79U);
  EXPECT_EQ(faults.memory_bytes, 4096U);
  EXPECT_EQ(faults.compute_mode, ComputeMode::exclusive);
  EXPECT_EQ(faults.driver_version, 12020);
  EXPECT_TRUE(faults.mig && faults.gone);
}

TEST(SimulatedFaults, OfTheNetworkAndOfNccl) {
  const Faults faults =
      of("node1:0:nic=0.5,nic_send=0.99,nvlink=0.25,link=node2:0.5,link=node-3:0.75,nccl_init=hang,"
         "nccl_late=0.005,nccl_wrong=all_reduce@2,nccl_wrong=recv,nccl_hang=send@3,nccl_refuse="
         "send@2");
  EXPECT_EQ(faults.nic_send, 0.99);
  EXPECT_EQ(faults.nic_receive, 0.5);
  EXPECT_EQ(faults.nvlink, 0.25);
  EXPECT_EQ(faults.link, (std::map<std::string, double>{{"node2", 0.5}, {"node-3", 0.75}}));
  EXPECT_EQ(faults.nccl_init, Faults::Init::hangs);
  EXPECT_EQ(faults.nccl_late_s, 0.005);
  EXPECT_EQ(faults.nccl_wrong,
            (std::map<std::string, std::uint64_t>{{"all_reduce", 2}, {"recv", 1}}));
  EXPECT_EQ(faults.nccl_hang, (std::map<std::string, std::uint64_t>{{"send", 3}}));
  EXPECT_EQ(faults.nccl_refuse, (std::map<std::string, std::uint64_t>{{"send", 2}}));
  EXPECT_EQ(of("node1:0:nccl_init=fail").nccl_init, Faults::Init::fails);
}

TEST(SimulatedFaults, WhatCannotBeReadIsRefused) {
  constexpr std::array kWrong{"gone",
                              "node1:gone",
                              ":0:gone",
                              "node1:0:",
                              "node1:0:gone,",
                              "node1:0: gone",
                              "node1:8:gone",
                              "node1:-1:gone",
                              "node1:x:gone",
                              "node2:16:gone",
                              "node2:0:gome",
                              "node1:0:gone=1",
                              "node1:0:memory",
                              "node1:0:memory=",
                              "node1:0:memory=0",
                              "node1:0:memory=-1",
                              "node1:0:memory=11",
                              "node1:0:memory=nan",
                              "node1:0:memory=0.5x",
                              "node1:0:throttle=hot",
                              "node1:0:pcie_width=3",
                              "node1:0:pcie_width=32",
                              "node1:0:pcie_gen=6",
                              "node1:0:peer=5",
                              "node1:0:peer=16:0.5",
                              "node1:0:nvlinks_down=0",
                              "node1:0:nvlinks_down=19",
                              "node1:0:no_peers=1",
                              "node1:0:wrong_bit=kernel",
                              "node1:0:wrong_bit=gemm@0",
                              "node1:0:sticky=copy",
                              "node1:0:hang=gemm",
                              "node1:0:ecc=0",
                              "node1:0:xid=1000",
                              "node1:0:oom=4G",
                              "node1:0:compute_mode=shared",
                              "node1:0:driver=12",
                              "node1:0:nic=0",
                              "node1:0:nic_send=fast",
                              "node1:0:link=node2",
                              "node1:0:link=:0.5",
                              "node1:0:link=node2:0",
                              "node1:0:nvlink",
                              "node1:0:nccl_init=slow",
                              "node1:0:nccl_late=0",
                              "node1:0:nccl_wrong=gemm",
                              "node1:0:nccl_hang=all_reduce@0",
                              "node1:0:nccl_hang=all_reduce@"};
  for (const char* rules : kWrong) {
    EXPECT_THROW(of(rules), BadSetting) << rules;
  }
}

}  // namespace

}  // namespace gpu_sim
