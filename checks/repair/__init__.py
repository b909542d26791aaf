"""The small change that makes a wrong answer right, which says where the slip is."""
