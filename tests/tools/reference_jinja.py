"""Chat templates rendered by Python's Jinja2 in the environment that Hugging Face transformers uses.

transformers' own function is taken where the package is installed; otherwise the same environment is built here.
"""

import datetime
import functools
import json

import jinja2
import jinja2.ext
import jinja2.sandbox


class GenerationTag(jinja2.ext.Extension):
    """`{% generation %}` marks the model's words for training; its body is rendered as a macro's."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    @jinja2.pass_eval_context
    def _render(self, context, caller):
        return caller()


class TemplateNamespace(jinja2.utils.Namespace):
    """A namespace that takes no attribute with an underscore in front."""

    def __init__(*args, **kwargs):
        self, attributes = args[0], dict(*args[1:], **kwargs)
        for name in attributes:
            TemplateNamespace.check(name)
        jinja2.utils.Namespace.__init__(self, attributes)

    def __setitem__(self, name, value):
        TemplateNamespace.check(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def check(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"{name!r} cannot be stored on a namespace")


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def strftime_now(form):
    return datetime.datetime.now().strftime(form)


def build(source: str) -> jinja2.Template:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = strftime_now
    environment.globals["namespace"] = TemplateNamespace
    return environment.from_string(source)


@functools.lru_cache(maxsize=None)
def compiled(source: str) -> jinja2.Template:
    try:
        from transformers.utils.chat_template_utils import _compile_jinja_template
    except ImportError:
        return build(source)
    return _compile_jinja_template(source)


def render(source: str, variables: dict) -> str | None:
    """The text; None where the template is wrong or refuses. A template that prints an object's address has no text."""
    try:
        return compiled(source).render(**variables)
    except Exception:  # whatever Python raises is a refusal
        return None


def why_refused(source: str, variables: dict) -> str:
    try:
        compiled(source).render(**variables)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "not refused"
