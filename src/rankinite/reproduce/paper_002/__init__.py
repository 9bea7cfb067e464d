"""Paper 002, From RankNet to LambdaRank to LambdaMART: its figure, and what its sections say can be measured."""
