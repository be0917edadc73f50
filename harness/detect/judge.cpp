#include "harness/detect/judge.hpp"

#include <algorithm>
#include <cmath>

#include "harness/detect/scale.hpp"

namespace fleetbench::detect {
namespace {

// Above this, leaving a subject out of its peers changes nothing that matters.
constexpr std::size_t kLeaveOneOutUpTo = 64;
constexpr std::size_t kFewestSubjects = 3;

struct Member {
  std::size_t row = 0;
  std::size_t passes = 0;
  double level = 0;
  double residual = 0;  // level - reference
};

std::vector<Member> members_of(const Table& table) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row& row = table.rows[i];
    if (const auto x = level(row.x)) {
      members.push_back({i, count(row.x), *x, *x - row.reference});
    }
  }
  return members;
}

std::vector<double> residuals_without(const std::vector<Member>& members, std::size_t left_out) {
  std::vector<double> values;
  values.reserve(members.size());
  for (std::size_t j = 0; j < members.size(); ++j) {
    if (j != left_out) {
      values.push_back(members[j].residual);
    }
  }
  return values;
}

// The peers of each member: all others; in a large table all, computed once.
class PeerGroups {
 public:
  PeerGroups(const Table& table, const std::vector<Member>& members)
      : table_(table), members_(members) {
    if (members.size() > kLeaveOneOutUpTo) {
      everyone_ = peers_of(table, residuals_without(members, members.size()));
    }
  }
  Peers of(std::size_t member) const {
    return everyone_ ? *everyone_ : peers_of(table_, residuals_without(members_, member));
  }

 private:
  const Table& table_;
  const std::vector<Member>& members_;
  std::optional<Peers> everyone_;
};

// Sorted copy of a subject's values without its worst quarter of the passes, at least one.
Passes without_worst(const Passes& x) {
  Passes kept;
  std::copy_if(x.begin(), x.end(), std::back_inserter(kept), [](auto v) { return v.has_value(); });
  std::sort(kept.begin(), kept.end());
  kept.resize(kept.size() - std::min(kept.size(), std::max<std::size_t>(1, kept.size() / 4)));
  return kept;
}

std::vector<Member> members_without_worst(const Table& table, const std::vector<Member>& members) {
  std::vector<Member> result = members;
  for (Member& member : result) {
    const Row& row = table.rows[member.row];
    if (const auto x = level(without_worst(row.x))) {
      member.residual = *x - row.reference;
    }
  }
  return result;
}

std::size_t passes_at_least(const Passes& x, double bound) {
  return static_cast<std::size_t>(
      std::count_if(x.begin(), x.end(), [bound](const auto& v) { return v && *v >= bound; }));
}

Judgement judge_one(const Table& table, const Member& member, const Peers& peers, double pooled,
                    double middle) {
  const Row& row = table.rows[member.row];
  const double own = std::max(pooled, pass_sigma(row.x).value_or(0));
  const double per_pass = median_variance(member.passes);
  const double sigma = shrunk_sigma(table, peers, pooled * pooled * per_pass);
  Judgement judgement;
  judgement.judged = true;
  judgement.passes = member.passes;
  judgement.level = member.level;
  judgement.peers = row.reference + peers.centre;
  judgement.slowdown = member.level - judgement.peers;
  judgement.against_all = table.fixed_reference ? judgement.slowdown : member.level - middle;
  judgement.degrees = peers.degrees;
  judgement.scale = sigma * std::sqrt(1 + peers.centre_variance);
  // A subject that is noisier than its peers is less sure to be slow.
  const double unsure = std::sqrt((own * own - pooled * pooled) * per_pass);
  judgement.score = judgement.slowdown / std::hypot(judgement.scale, unsure);
  judgement.slow_passes = passes_at_least(row.x, judgement.peers + judgement.slowdown / 2);
  const double half = peers.quantile * std::hypot(own * std::sqrt(per_pass),
                                                  sigma * std::sqrt(peers.centre_variance));
  judgement.low = judgement.slowdown - half;
  judgement.high = judgement.slowdown + half;
  return judgement;
}

std::vector<double> levels_of(const std::vector<Member>& members) {
  std::vector<double> levels;
  for (const Member& member : members) {
    levels.push_back(member.level);
  }
  return levels;
}

std::vector<Passes> all_passes(const Table& table) {
  std::vector<Passes> passes;
  for (const Row& row : table.rows) {
    passes.push_back(row.x);
  }
  return passes;
}

}  // namespace

Judged judge(Table table) {
  Judged judged;
  judged.rows.resize(table.rows.size());
  const std::vector<Member> members = members_of(table);
  const auto within = pass_sigma(all_passes(table));
  judged.within = within.value_or(0);
  judged.between = robust_sigma(levels_of(members));
  const bool ranks = table.info.subject != SubjectKind::group;  // a group names nobody
  if (ranks && members.size() >= kFewestSubjects) {
    const std::vector<Member> trimmed = members_without_worst(table, members);
    const double middle = median(levels_of(members));
    const PeerGroups peers(table, members);
    const PeerGroups trimmed_peers(table, trimmed);
    for (std::size_t i = 0; i < members.size(); ++i) {
      Judgement& judgement = judged.rows[members[i].row];
      judgement =
          judge_one(table, members[i], peers.of(i), within.value_or(kSinglePassSigma), middle);
      const double remains = trimmed[i].residual - trimmed_peers.of(i).centre;
      judgement.lasting = members[i].passes > 1 && remains >= judgement.slowdown / 2;
    }
  }
  judged.table = std::move(table);
  return judged;
}

}  // namespace fleetbench::detect
