"""The head of Qwen3.5 that drafts the token after next (MTP), which `transformers` leaves out, from the package's own layer.

u_i = fc [ norm of the embedding of token i + 1 ; norm of the state after token i ], a layer of full attention over all u,
a norm, an output matrix. DeepSeek-AI, arXiv:2412.19437, section 2.2.
"""

import copy

import torch


class DraftHead(torch.nn.Module):
    """`own_output`: whether it has an embedding and an output matrix of its own. `own_norm`: whether it has a last norm
    of its own. What it lacks is the trunk's."""

    def __init__(self, model: torch.nn.Module, own_output: bool, own_norm: bool):
        super().__init__()
        trunk = model.model
        config = copy.deepcopy(model.config)
        config.num_hidden_layers, config.layer_types = 1, ["full_attention"]
        config._attn_implementation = "eager"
        width = config.hidden_size
        norm = type(trunk.norm)
        self.fc = torch.nn.Linear(2 * width, width, bias=False)
        self.pre_fc_norm_embedding = norm(width, eps=config.rms_norm_eps)
        self.pre_fc_norm_hidden = norm(width, eps=config.rms_norm_eps)
        self.layers = torch.nn.ModuleList([type(trunk.layers[-1])(config, 0)])
        self.norm = norm(width, eps=config.rms_norm_eps) if own_norm else None
        self.embed_tokens = torch.nn.Embedding(config.vocab_size, width) if own_output else None
        self.lm_head = torch.nn.Linear(width, config.vocab_size, bias=False) if own_output else None

    def forward(self, model: torch.nn.Module, ids: torch.Tensor) -> torch.Tensor:
        trunk = model.model
        states = trunk(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
        embedded = (self.embed_tokens or trunk.embed_tokens)(ids[:, 1:])
        joined = torch.cat([self.pre_fc_norm_embedding(embedded), self.pre_fc_norm_hidden(states)], -1)
        hidden = self.fc(joined)
        rows = hidden.shape[1]
        positions = torch.arange(1, rows + 1)[None]
        angles = trunk.rotary_emb(hidden, positions[None].expand(3, 1, -1))
        mask = torch.full((rows, rows), float("-inf")).triu(1)[None, None]
        hidden = self.layers[0](hidden, position_embeddings=angles, attention_mask=mask, position_ids=positions)
        return (self.lm_head or model.lm_head)((self.norm or trunk.norm)(hidden))
