"""What ``import fairseq_plugins`` gives: prepared folders, trainings and trained models."""
