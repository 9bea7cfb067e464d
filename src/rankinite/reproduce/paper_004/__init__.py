"""Paper 004, an ensemble of λ-gradient models: Figure 1, Tables 1 to 4, and what its text says of data, bags and diversity."""
