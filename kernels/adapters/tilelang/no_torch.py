"""TileLang imports PyTorch for its types and its tensors at run time. To compile, names are enough:
import this module first where PyTorch is not installed."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types


class Name(type):
    """A class for each name; everything below it is another one, and calling one gives its name
    back."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = Name(name, (), {"__module__": "torch"})
        setattr(cls, name, made)
        return made

    def __call__(cls, *args, **kwargs):
        # as a decorator: what is decorated
        if len(args) == 1 and callable(args[0]) and not kwargs:
            return args[0]
        return cls

    def __instancecheck__(cls, thing):
        return False

    def __or__(cls, other):
        return cls

    __ror__ = __or__

    def __getitem__(cls, item):
        return cls

    def __bool__(cls):
        return False

    def __iter__(cls):
        return iter(())


class Module(types.ModuleType):
    __version__ = "2.9.0"
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = Name(name, (), {"__module__": self.__name__})
        setattr(self, name, made)
        return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        return (
            importlib.machinery.ModuleSpec(name, self, is_package=True)
            if name.partition(".")[0] == "torch"
            else None
        )

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        pass


if not importlib.util.find_spec("torch"):
    sys.meta_path.append(Finder())
