"""Paper 003, Trada: tree based ranking function adaptation: Figures 6 to 10, Table 3, Figures 11 and 12."""
