"""Studies that anyone can run again: the demo, and the papers' tables and figures."""
