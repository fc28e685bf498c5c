"""The CMU project's last workload: one epoch of training on rotating pictures, by everybody who can.

Han and Uboweja, "Parallel Training of Recurrent Neural Networks" (15-418, 2016).  A network of 1000 inputs,
1000 hidden units and 1000 outputs, tanh on both, no biases, is shown 1000 sequences of 10 pictures that turn
by 10° a step, and draws the next picture each time.  An epoch of theirs is one minibatch with all 1000
sequences: forward, the squared error summed over all pixels, gradients of the three weights, and one step of
descent.

    problem              the numbers, and what a contestant must come back with
    numpy_contestants    as they wrote it, and with the products of all steps at once
    halide_contestants   their kernels under their eight schedules; and our own schedule
    ahead_of_time        those kernels as a library, as in their last version
    rung_contestants     rungs of our ladder with an output layer beside them
    pytensor_contestant  Theano's successor
    serve                one contestant's process, from inside

A contestant is a function epoch(problem) -> step, where step() -> EpochAnswer.
"""
