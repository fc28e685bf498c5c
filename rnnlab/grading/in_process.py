"""A submission in the learner's own process: what `check` uses in a notebook. Quick, and no defence against
anything."""

from collections.abc import Callable

from rnnlab.grading.conversation import Conversation
from rnnlab.grading.inside import calls


class InProcess:
    """Calls the learner's function on copies and returns a copy of its result, as the separate process
    would."""

    def __init__(self, function: Callable, name: str | None = None):
        self.function, self.name = function, name or function.__name__

    def __call__(self, *arguments: object, **keywords: object) -> object:
        conversation = Conversation(self.name)
        question = conversation.question(arguments, keywords)
        return conversation.outcome(calls.call(self.function, question, conversation.reply))
