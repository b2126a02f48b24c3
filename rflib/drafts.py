"""A fit works on a draft of its estimator, which replaces it at the end: a fit that fails changes nothing."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """Let a method change its estimator as a whole or, if it raises, leave it as it was.

    The method gets a draft, which is a shallow copy. It may set any attribute, but must not change the objects
    that attributes hold. When it returns, the attributes of the draft become those of the estimator, all at once.
    An interrupt by the keyboard is an error like others.
    """

    @wraps(method)
    def fitting(self: Any, *args: Any, **options: Any) -> Any:
        draft = object.__new__(type(self))
        vars(draft).update(vars(self))
        found = method(draft, *args, **options)
        self.__dict__ = vars(draft)
        return self if found is draft else found

    return cast(Method, fitting)
