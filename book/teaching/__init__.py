"""What a teacher takes from the book: slides for each meeting, quizzes for a learning platform."""
