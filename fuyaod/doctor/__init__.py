"""`fuyaoctl doctor`: checks the node and explains what each gap costs and how to mend it."""

from fuyaod.doctor.decide import diagnose
from fuyaod.doctor.observe import observe_facts

__all__ = ["diagnose", "observe_facts"]
