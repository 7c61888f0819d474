"""The certificate: committed courses that stay clear of each other whatever the policies command.

A robot flies a reference, a point that moves as an exact double integrator, and its tracker keeps
the robot within a tube about that point. The course of a reference is its state and the brake to
rest; `rule` accepts a new course only where it stays clear of every teammate's, `pact` keeps the
pairs of courses that both robots of a pair judge by. `docs/certificate.md` has the theorem, its
assumptions and what was measured.
"""
