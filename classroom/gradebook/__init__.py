"""What a teacher decides about points: corrections, deadlines, a roster and totals."""
