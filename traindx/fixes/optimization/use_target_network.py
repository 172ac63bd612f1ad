"""Learn values from a target network.

Copy the critic every few hundred steps (or move the copy slowly, by 0.005 a step), and estimate the next
state with the copy. Multiply the estimate by zero where the episode has ended, and use a discount below 1.

Verify: Q values stay within what an episode can bring.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="use a target network, mask the ends of episodes, and a discount of 0.99",
    applicability="patch",
    causes=("unstable-bootstrapping",),
    expected="Q values stay within what an episode can bring",
    touches=("loss",),
)
