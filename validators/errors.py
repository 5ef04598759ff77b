"""What can go wrong with the machinery (never with the code under test).

ValidatorError                     exit 1
├── EngineUnavailableError         exit 75  retry: the daemon is gone, the disk is full
│   ├── PythonUnavailableError             a Python that only a silent registry may have
│   └── EnvironmentGoneError               a lock whose packages are not to be had any more
├── EngineTooOldError              exit 69  a person has to act
└── UnknownRecipeError             exit 65  names a language, runner or Python we do not know
"""


class ValidatorError(Exception):
    """One sentence for a person: the fact, then the next step."""

    exit_code = 1


class EngineUnavailableError(ValidatorError):
    """The engine, host or index failed, not the guest. Nothing was decided; try again later."""

    exit_code = 75


class PythonUnavailableError(EngineUnavailableError):
    """Only a registry that is silent now may have this Python; tasks of others go on."""


class EnvironmentGoneError(EngineUnavailableError):
    """A lock can no longer be installed; tasks of others go on."""


class EngineTooOldError(ValidatorError):
    """The engine answers but cannot enforce what a run needs."""

    exit_code = 69


class UnknownRecipeError(ValidatorError):
    """A recipe names something this version does not know."""

    exit_code = 65
