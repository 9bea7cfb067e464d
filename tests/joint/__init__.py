"""One model trained by several processes: the same bytes? A covering set is in test_joint; ``make cluster-test`` runs all."""
