"""What the command answers, as values: for the table and for JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from monitoring.budget.architecture import Architecture
from monitoring.budget.memory import Budget, Plan, budget
from monitoring.budget.proposal import Proposal, propose

FITS = 0
DOES_NOT_FIT = 1
ALERT_FIRES = 3


@dataclass(frozen=True)
class Report:
    """A plan on a GPU, judged.

    Attributes:
        gpu: What the GPU is, for people.
        threshold: Usage (0..1) above which VLLMGPUMemoryHigh fires.
        proposal: A plan that fits, or None where none was found.
    """

    model: Architecture
    plan: Plan
    gpu: str
    threshold: float
    budget: Budget
    proposal: Proposal | None

    @property
    def alert_fires(self) -> bool:
        """Whether VLLMGPUMemoryHigh would be true for as long as the server runs under load."""
        return self.budget.usage_under_load > self.threshold

    @property
    def exit_code(self) -> int:
        """0: starts, the alert keeps quiet; 1: does not start; 3: starts, and the alert fires."""
        if not self.budget.starts:
            return DOES_NOT_FIT
        return ALERT_FIRES if self.alert_fires else FITS

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The answers in words, for a terminal that knows rich's marks."""
        found, plan = self.budget, self.plan
        lines = []
        if found.cache <= 0:
            lines.append("[red]does not fit[/red]: the weights alone are more than vLLM's share")
        elif not found.starts:
            lines.append(
                f"[red]does not fit[/red]: vLLM refuses to start, because not even one sequence of "
                f"{plan.max_model_len} tokens fits; {found.longest} do"
            )
        elif found.concurrency < plan.max_num_seqs:
            lines.append(
                f"[yellow]fits[/yellow], but only {found.concurrency:.1f} of {plan.max_num_seqs} "
                "sequences of full length at once: more of them are preempted"
            )
        else:
            lines.append("[green]fits[/green]")
        if self.alert_fires:
            lines.append(
                "[yellow]VLLMGPUMemoryHigh would fire for ever[/yellow]: "
                f"{found.usage_under_load:.3f} in use under load is above {self.threshold:g}"
            )
        return tuple(lines)

    def as_data(self) -> dict[str, Any]:
        """Return everything as plain data; sizes in bytes."""
        found = asdict(self.budget)
        found.update(starts=self.budget.starts, left=self.budget.left)
        proposal = None
        if self.proposal:
            proposal = {
                "flags": list(self.proposal.flags),
                "changes": list(self.proposal.changes),
                "budget": asdict(self.proposal.budget),
            }
        return {
            "model": self.model.name,
            "parameters": self.model.parameters.total,
            "plan": asdict(self.plan) | {"weights": self.plan.weights.name},
            "gpu": self.gpu,
            "budget": found,
            "alert_threshold": self.threshold,
            "alert_fires": self.alert_fires,
            "proposal": proposal,
        }


def judge(model: Architecture, plan: Plan, usable: int, gpu: str, threshold: float) -> Report:
    """Return the report on a plan; see `memory.budget` and `proposal.propose`."""
    return Report(
        model,
        plan,
        gpu,
        threshold,
        budget(model, plan, usable),
        propose(model, plan, usable, threshold),
    )
