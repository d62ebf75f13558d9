"""Chat templates of our own with the traits of well-known families: what they refuse, what they demand, what they move
and what they leave out. The real ones are not ours to keep; the slow tests fetch some.
"""

# Takes everything, in its place; thoughts before the last question are left out (Qwen 3).
EASY = """\
{%- set last = namespace(question=-1) %}
{%- for m in messages if m.role == 'user' %}{% set last.question = loop.index0 %}{% endfor %}
{%- if tools %}<|system|>tools:{% for t in tools %}
{{ t | tojson }}{% endfor %}<|end|>
{% endif %}
{%- for m in messages %}
<|{{ m.role }}|>
{%- if m.reasoning_content and loop.index0 > last.question %}<think>{{ m.reasoning_content }}</think>{% endif %}
{{- m.content }}
{%- for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}<|end|>
{%- endfor %}
{% if add_generation_prompt %}<|assistant|>{% endif %}
"""

# A system message at the beginning or not at all (Qwen 3.5).
STRICT_SYSTEM = """\
{%- if tools %}<|system|>{{ tools | tojson }}
{%- if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}<|end|>
{%- elif messages[0].role == 'system' %}<|system|>{{ messages[0].content }}<|end|>{% endif %}
{%- for m in messages %}
{%- if m.role == 'system' and not loop.first %}{{ raise_exception('the system message must be the first') }}{% endif %}
{%- if m.role == 'tool' %}
{%- if loop.previtem.role != 'tool' %}<|user|>{% endif %}<result>{{ m.content }}</result>
{%- if loop.last or loop.nextitem.role != 'tool' %}<|end|>{% endif %}
{%- elif m.role != 'system' %}<|{{ m.role }}|>{{ m.content }}
{%- for c in m.tool_calls or [] %}<function={{ c.function.name }}>{% for k, v in c.function.arguments.items() %}<parameter={{ k }}>{{ v if v is string else v | tojson }}</parameter>{% endfor %}</function>{% endfor %}<|end|>
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}
"""

# User and assistant in turns, call ids of nine characters, nobody after a result but the assistant (Mistral).
ALTERNATING = """\
{%- set rest = messages[1:] if messages[0].role == 'system' else messages %}
{%- set ns = namespace(n=0) %}
{%- for m in rest %}
{%- if m.role == 'user' or (m.role == 'assistant' and not m.tool_calls) %}
{%- if (m.role == 'user') != (ns.n % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{%- set ns.n = ns.n + 1 %}
{%- endif %}
{%- endfor %}
{{- bos_token }}
{%- if messages[0].role == 'system' %}[SYSTEM]{{ messages[0].content }}[/SYSTEM]{% endif %}
{%- if tools %}[TOOLS]{{ tools | tojson }}[/TOOLS]{% endif %}
{%- for m in rest %}
{%- if m.role == 'user' %}[INST]{{ m.content }}[/INST]
{%- elif m.role == 'assistant' %}{{ m.content }}
{%- for c in m.tool_calls or [] %}
{%- if c.id | length != 9 %}{{ raise_exception('call ids have nine characters') }}{% endif %}[CALL]{{ c.function.name }}[ID]{{ c.id }}[ARGS]{{ c.function.arguments | tojson }}
{%- endfor %}{{ eos_token }}
{%- elif m.role == 'tool' %}[RESULT]{{ m.tool_call_id }}:{{ m.content }}[/RESULT]
{%- else %}{{ raise_exception('only user, assistant and tool here, not ' + m.role) }}{% endif %}
{%- endfor %}
"""

# No system role, no tools, strict turns (Gemma 2).
NO_SYSTEM = """\
{{- bos_token }}
{%- for m in messages %}
{%- if m.role not in ['user', 'assistant'] %}{{ raise_exception('no role ' + m.role) }}{% endif %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{{- '<turn>' + ('model' if m.role == 'assistant' else 'user') + '\n' + m.content | trim + '</turn>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}<turn>model
{% endif %}
"""

# One call in a turn; the system message and the tools in the first user message (Llama 3).
ONE_CALL = """\
{{- bos_token }}
{%- set system = messages[0].content if messages[0].role == 'system' else '' %}
{%- set rest = messages[1:] if messages[0].role == 'system' else messages %}
{{- '<|start|>system<|of|>' + system + '<|eot|>' }}
{%- if tools %}
{%- if rest | length == 0 %}{{ raise_exception('tools need a user message') }}{% endif %}
{{- '<|start|>user<|of|>' }}{% for t in tools %}{{ t | tojson(indent=4) }}{% endfor %}{{ rest[0].content + '<|eot|>' }}
{%- set rest = rest[1:] %}
{%- endif %}
{%- for m in rest %}
{%- if 'tool_calls' in m and m.tool_calls %}
{%- if m.tool_calls | length != 1 %}{{ raise_exception('one call in a turn') }}{% endif %}
{{- '<|start|>assistant<|of|>{"name": "' + m.tool_calls[0].function.name + '", "parameters": ' }}
{{- m.tool_calls[0].function.arguments | tojson }}{{ '}<|eot|>' }}
{%- elif m.role == 'tool' %}{{ '<|start|>ipython<|of|>' + (m.content | tojson) + '<|eot|>' }}
{%- else %}{{ '<|start|>' + m.role + '<|of|>' + m.content | trim + '<|eot|>' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|start|>assistant<|of|>{% endif %}
"""

# Channels: no reasoning beside a text in a turn that calls (gpt-oss). A first system message speaks as developer.
CHANNELS = """\
{%- set last = namespace(call=none) %}
{{- '<|start|>system<|message|>effort: ' + (reasoning_effort or 'medium') + '<|end|>' }}
{%- if messages[0].role == 'system' or tools %}<|start|>developer<|message|>
{%- if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}
{%- for t in tools or [] %}
// {{ t.function.description }}
type {{ t.function.name }} = ({{ t.function.parameters | tojson }}) => any;{% endfor %}<|end|>
{%- endif %}
{%- for m in messages %}
{%- if m.role == 'assistant' and m.tool_calls %}
{%- if m.content and m.thinking %}{{ raise_exception('either content or thinking in a turn that calls') }}{% endif %}
{%- if m.content or m.thinking %}<|start|>assistant<|channel|>analysis<|message|>{{ m.content or m.thinking }}<|end|>{% endif %}
{%- set last.call = m.tool_calls[0].function.name %}
{{- '<|start|>assistant to=functions.' + last.call + '<|channel|>commentary<|message|>' + (m.tool_calls[0].function.arguments | tojson) + '<|call|>' }}
{%- elif m.role == 'assistant' %}<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|end|>
{%- elif m.role == 'tool' %}
{%- if last.call is none %}{{ raise_exception('a result without a call') }}{% endif %}
{{- '<|start|>functions.' + last.call + '<|message|>' + (m.content | tojson) + '<|end|>' }}
{%- elif m.role == 'user' %}<|start|>user<|message|>{{ m.content }}<|end|>
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|start|>assistant{% endif %}
"""

# Content is a list of parts, with pictures (Qwen 3 VL and others).
PARTS = """\
{%- if tools %}<|system|>{{ tools | tojson }}<|end|>{% endif %}
{%- for m in messages %}<|{{ m.role }}|>
{%- if m.content is string %}{{ m.content }}{% else %}
{%- for p in m.content %}{% if p.type == 'image' %}<|image|>{% else %}{{ p.text }}{% endif %}{% endfor %}
{%- endif %}
{%- for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}<|end|>
{%- endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}
"""

TEMPLATES = {
    "easy": EASY,
    "strict system": STRICT_SYSTEM,
    "alternating": ALTERNATING,
    "no system": NO_SYSTEM,
    "one call": ONE_CALL,
    "channels": CHANNELS,
    "parts": PARTS,
}
