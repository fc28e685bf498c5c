"""The grader with the course's exercises: what learners and teachers call, judge and checks together."""
