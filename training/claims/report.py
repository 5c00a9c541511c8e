"""docs/reproduction.md: made of the results, and of nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from training.claims.claim import Claim
from training.claims.comparison import comparison_section
from training.claims.judge import is_current, result_file
from training.claims.ledger import CLAIMS
from training.evaluation.significance import LEVEL
from training.store import read_json

HEAD = """# Five papers, claim by claim

<!-- Made by `interlingua reproduce --report`; a test fails when it is out of date. -->

Every claim that the training library can test, run again on small public corpora: what the paper
found, what is found here over several seeds, a test of the difference, a verdict. The corpora of
the papers need licences and the papers' models days of GPUs, so what is tested is the *relation*
(this above that), by rules that were fixed before a claim was measured:

- **better**: the difference of the means has the claimed sign, a two-tailed t-test over seeds says
  p < 0.05: Welch's between systems, the paired test between two measures of the same runs and
  between systems that stand over the same trained parts, since those are not independent. (Up to
  the first figures of Y3 all were Welch's; the change turned no verdict.) The opposite sign with
  p < 0.05 does not hold.
- **far better**: as better, for claims that say so. It does not hold where the 95 % interval lies
  below half of the smallest of the paper's differences that are quoted. (This rule came after the
  first figures of C2, which are in it; by the one above C2 would be undecided.)
- **not worse**: the 95 % interval of the difference lies above a stated margin.
- **at least, at most**: the 95 % interval of the mean lies on that side of a stated bound.
- **better by fold**: as better, by the paired t-test over ten rotations of the labelled text,
  p < 0.01.

Anything else is undecided at this scale, and so is a comparison with a system that has not learnt
by then (its search error on held-out text is above 90 %). What three seeds leave
undecided may get two more. Two looks give chance two throws, so the second one counts with
p < 0.0294 and the interval of that level. In Pocock 1977 both of two looks have that level, and
together they are wrong 5 % of the time; here the first has 0.05, so of differences that are none
the two call 5.0 % real by Welch's test and 6.7 % by the paired one. That rule came after the first
claims of five seeds; of their verdicts it turned one, L7's. What is still undecided may be tried
anew, with other settings or a rule that suits it better, on seeds that were never looked at, whose
number is chosen before (10 and up): a trial of its own with p < 0.05, and its entry says what was
measured before.

A claim of several parts holds where all of them do. Figures are measured on exported bundles in the
runtime that serves them. To run a claim again from data to verdict,
`interlingua reproduce S1 --data DATA`; to run all that is not run yet or has changed,
`interlingua reproduce --all --data DATA`. What is broken off goes on where it was.
"""

_AGAIN = "to be run again"
_NOT_YET = "not run yet"


def report(results: Path, claims: Sequence[Claim] = CLAIMS) -> str:
    """Return the page.

    Args:
        results: Where the results lie.
        claims: In their order.
    """
    found = {
        claim.id: read_json(result_file(results, claim.id))
        for claim in claims
        if result_file(results, claim.id).exists()
    }
    verdicts = {claim.id: _verdict(claim, found.get(claim.id)) for claim in claims}
    blocks = [HEAD, _summary(claims, verdicts)]
    paper = ""
    for claim in claims:
        if claim.paper != paper:
            paper = claim.paper
            blocks.append(f"## {paper}\n")
        blocks.append(_entry(claim, found.get(claim.id), verdicts[claim.id], results))
    blocks.append(comparison_section(results))
    return "\n".join(blocks)


def _summary(claims: Sequence[Claim], verdicts: Mapping[str, str]) -> str:
    counts = Counter(verdicts.values())
    known = ("holds", "does not hold", "undecided", _AGAIN, _NOT_YET)
    said = ", ".join(f"{counts[name]} {name}" for name in known if counts[name] or name != _AGAIN)
    rows = []
    for claim in claims:
        verdict = verdicts[claim.id]
        shown = verdict if verdict in (_AGAIN, _NOT_YET) else f"**{verdict}**"
        rows.append(f"| [{claim.id}](#{claim.id.lower()}) | {claim.says} | {shown} |")
    return "\n".join(
        [
            f"Of {len(claims)} claims: {said}.\n",
            "| claim | says | verdict |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _verdict(claim: Claim, result: Mapping[str, Any] | None) -> str:
    if result is None:
        return _NOT_YET
    return str(result["verdict"]) if is_current(claim, result) else _AGAIN


def _entry(claim: Claim, result: Mapping[str, Any] | None, verdict: str, results: Path) -> str:
    lines = [
        f"### {claim.id}",
        "",
        claim.says,
        "",
        f"- The paper ({claim.where}): {claim.figures}.",
        f"- Data here: {claim.data}.",
    ]
    if claim.scale:
        lines.append(f"- Scale: {claim.scale}")
    first, system = next(iter(claim.systems.items()))
    lines.append(f"- At the paper's size, {first}: `{system.paper_command}`")
    lines += [f"- Command: `{claim.command}`", ""]
    if result is None:
        return "\n".join([*lines, "Not run yet.", ""])
    if verdict == _AGAIN:
        lines += ["What follows was measured with earlier settings; it is to be run again.", ""]
    lines += [
        f"**Verdict: {result['verdict']}**, seeds {', '.join(map(str, result['seeds']))}.",
        "",
        "| part | relation | first | second | difference "
        f"| {100 * (1 - result.get('level', LEVEL)):.3g} % interval | p | verdict |",
        "|---|---|---|---|---|---|---|---|",
        *(_part(part) for part in result["parts"]),
        "",
        "| system | measure | by seed |",
        "|---|---|---|",
        *(
            f"| {row['system']} | {row['quantity']}, {row['unit']} | "
            f"{' '.join(_number(value) for value in row['values'])} |"
            for row in result["figures"]
        ),
        "",
        f"Measured {result['measured']} on {result['machine']}, commit `{result['commit']}`, "
        + ", ".join(f"{name} {version}" for name, version in result["versions"].items())
        + ".",
        "",
    ]
    picture = results / f"{claim.id}.svg"
    if picture.exists():
        lines += [f"![{claim.id}]({results.name}/{claim.id}.svg)", ""]
    return "\n".join(lines)


def _part(part: Mapping[str, Any]) -> str:
    test = part["test"]
    one_system = len({cell["system"] for cell in part["cells"]}) == 1
    cells = [
        f"{cell['quantity' if one_system else 'system']}: "
        f"{_number(cell['mean'])} ± {_number(cell['deviation'])}"
        for cell in part["cells"]
    ]
    bound = {
        "far better": f"far better ({part['bound']:g})",
        "not worse": f"not worse by {part['bound']:g}",
        "at least": f"at least {part['bound']:.4g}",
        "at most": f"at most {part['bound']:.4g}",
    }.get(part["relation"], part["relation"])
    if part.get("paired", one_system and len(cells) > 1):
        bound += ", paired"
    second = cells[1] if len(cells) > 1 else ""
    interval = f"{_number(test['low'])} to {_number(test['high'])}"
    p = "" if part["relation"] in ("not worse", "at least", "at most") else _p(test["p"])
    return (
        f"| {part['says']} | {bound} | {cells[0]} | {second} | {_number(test['difference'])} | "
        f"{interval} | {p} | {part['verdict']}{'' if part['learnt'] else ': one has not learnt'} |"
    )


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.2f}"
