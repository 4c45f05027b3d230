# SPDX-License-Identifier: Apache-2.0
"""The few statistics of a run. `runs` is a list for each run, with a sample or None a round."""

import math
import statistics

# Two-sided 95 % points of Student's t, from 1 degree of freedom on (Fisher and Yates, table III).
STUDENT_95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
              2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
              2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


def there(samples):
    return [sample for sample in samples if sample is not None]


def medians(runs):
    """Of each run that has samples."""
    return [statistics.median(there(run)) for run in runs if there(run)]


def spread(runs):
    """The median of the runs' medians, and the least and most of all samples; None without any."""
    samples = [sample for run in runs for sample in there(run)]
    if not samples:
        return None
    return {"median": statistics.median(medians(runs)), "min": min(samples), "max": max(samples)}


def paired(runs, others, how):
    """`how` of the two samples of each round that has both, in runs as they were."""
    return [[how(one, other) for one, other in zip(run, others_run)
             if one is not None and other is not None]
            for run, others_run in zip(runs, others)]


def ratios(runs, others):
    """No ratio to zero: such rounds have none."""
    divisible = [[sample or None for sample in run] for run in others]
    return paired(runs, divisible, lambda one, other: one / other)


def differences(runs, others):
    return paired(runs, others, lambda one, other: one - other)


def mean_interval(runs):
    """The mean of the runs' medians with its 95 % interval by Student's t; without an interval
    where there is one run, which says nothing about the next."""
    found = medians(runs)
    if not found:
        return None
    mean = statistics.fmean(found)
    if len(found) < 2:
        return {"mean": mean, "low": None, "high": None, "runs": len(found)}
    point = STUDENT_95[min(len(found) - 1, len(STUDENT_95)) - 1]
    half = point * statistics.stdev(found) / math.sqrt(len(found))
    return {"mean": mean, "low": mean - half, "high": mean + half, "runs": len(found)}
