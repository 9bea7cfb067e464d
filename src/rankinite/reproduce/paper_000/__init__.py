"""Paper 000, Adapting boosting for information retrieval measures: Table 1, Figure 2, Tables 2 to 4, Figures 3 and 4."""
