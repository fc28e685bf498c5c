"""The grader with the course's exercises: what learners and teachers call, where judge and checks meet."""
