package provider

import (
	"encoding/json"
	"strings"

	"overt/internal/wire"
)

// known is a server whose differences are documented or were reported.
type known struct {
	preset string   // its name among the presets, "" if it is none
	hosts  []string // whose hosts these are, and what is below them
	set    func(p *Profile, model string)
}

// ProfileFor gives what is known of a server, by the name of a preset or by the host of a base URL, which must be the
// provider's own or below it; and of a model there. The sources are the vendors' documents, as far as they have any, and
// else reports of what they refuse; docs/provider-quirks.md has them one by one.
func ProfileFor(protocol, preset, endpoint, model string) Profile {
	host := hostOf(endpoint)
	var p Profile
	if wire.Local(endpoint) {
		p.TextCalls = []string{Auto} // servers of one's own often have no parser for the model
	}
	list := knownServers()
	switch protocol {
	case Responses:
		list = knownResponses()
	case Messages:
		p.CacheControl = true // every server knows the marks, if only to ignore them
		list = knownMessages()
	}
	for _, k := range list {
		if k.preset != "" && preset == k.preset || within(host, k.hosts...) {
			k.set(&p, strings.ToLower(model))
			break
		}
	}
	return p
}

// contentReasoning is where most servers have their reasoning.
const contentReasoning = "reasoning_content"

func knownServers() []known {
	return []known{
		{"deepseek", []string{"deepseek.com"}, func(p *Profile, _ string) {
			p.Reasoning, p.ReasoningField = WithCalls, contentReasoning // else it answers 400, also to an empty text left out
			p.Thinking, p.Efforts = ThinkingType, []string{"low", "high", "max"}
			p.TextCalls, p.MaxTools = []string{"dsml", "deepseek"}, openAITools
		}},
		{"moonshot", []string{"moonshot.ai", "moonshot.cn", "kimi.com"}, func(p *Profile, model string) {
			p.Reasoning, p.ReasoningField = WithCalls, contentReasoning
			p.Thinking, p.NoEffort = ThinkingType, true
			if strings.HasPrefix(model, "kimi-k3") {
				p.Thinking, p.NoEffort, p.Efforts = "", false, []string{"low", "high", "max"} // it always thinks
			}
			p.LimitField, p.CacheKey = completionTokens, true
			p.TextCalls, p.Schema = []string{"kimi"}, SchemaMoonshot
		}},
		{"mimo", []string{"xiaomimimo.com"}, func(p *Profile, _ string) {
			p.Reasoning, p.ReasoningField = WithCalls, contentReasoning
			p.Thinking, p.NoEffort, p.LimitField = ThinkingType, true, completionTokens
		}},
		{"openai", []string{"api.openai.com"}, func(p *Profile, _ string) {
			p.LimitField, p.Thinking, p.CacheKey, p.MaxTools = completionTokens, ThinkingEffort, true, openAITools
		}},
		{"", []string{"openai.azure.com"}, func(p *Profile, _ string) {
			p.LimitField, p.Thinking, p.KeyHeader, p.MaxTools = completionTokens, ThinkingEffort, "Api-Key", openAITools
		}},
		{"openrouter", []string{"openrouter.ai"}, func(p *Profile, model string) {
			p.Reasoning, p.ReasoningField, p.Thinking = Always, carrierDetails, ThinkingObject
			p.CacheControl = strings.HasPrefix(model, "anthropic/")
		}},
		{"gemini", []string{"generativelanguage.googleapis.com"}, func(p *Profile, _ string) {
			p.Thinking, p.Schema = ThinkingEffort, SchemaGemini
			p.CallSentinel = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`
		}},
		{"minimax", []string{"minimax.io", "minimaxi.com"}, func(p *Profile, _ string) {
			p.LimitField, p.Thinking, p.NoEffort = completionTokens, ThinkingAdaptive, true
			p.Extra = json.RawMessage(`{"reasoning_split":true}`) // else thinking is text between tags
			p.Reasoning, p.TextCalls = Always, []string{"minimax"}
		}},
		{"zhipu", []string{"bigmodel.cn"}, glm},
		{"zai", []string{"z.ai"}, glm},
		{"dashscope", []string{"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"}, func(p *Profile, _ string) {
			p.Thinking = ThinkingEnable
		}},
		{"mistral", []string{"mistral.ai"}, func(p *Profile, _ string) {
			p.IDs, p.ToolName = Alnum9, true
			p.Thinking, p.Efforts = ThinkingEffort, []string{"high"}
		}},
		{"groq", []string{"groq.com"}, func(p *Profile, model string) {
			p.Thinking, p.MaxTools = ThinkingEffort, openAITools
			switch {
			case strings.Contains(model, "gpt-oss"):
				p.Reasoning, p.ReasoningField = WithCalls, "reasoning" // other models refuse the field
				p.Efforts = []string{"low", "medium", "high"}
			default:
				p.NoEffort = true
			}
		}},
		{"cerebras", []string{"cerebras.ai"}, func(p *Profile, _ string) {
			p.Reasoning, p.ReasoningField, p.Thinking = WithCalls, "reasoning", ThinkingEffort
		}},
		{"xai", []string{"x.ai"}, func(p *Profile, _ string) {
			p.LimitField, p.LaneHeader = completionTokens, "X-Grok-Conv-Id"
			p.Schema, p.Repeats = SchemaXAI, true
		}},
		{"ollama", nil, func(p *Profile, _ string) {
			p.Thinking, p.Efforts = ThinkingEffort, []string{"low", "medium", "high", "max"}
			p.ToolName = true // its templates want the name of the tool
			p.TextCalls = []string{Auto}
		}},
		{"vllm", nil, func(p *Profile, _ string) { p.Thinking, p.TextCalls = ThinkingTemplate, []string{Auto} }},
		{"llamacpp", nil, func(p *Profile, _ string) {
			p.Thinking, p.TextCalls, p.Schema = ThinkingTemplate, []string{Auto}, SchemaLlama
		}},
		{"lmstudio", nil, func(p *Profile, _ string) { p.TextCalls = []string{Auto} }},
	}
}

// knownResponses are servers of Responses.
func knownResponses() []known {
	return []known{
		{"openai", []string{"api.openai.com"}, func(p *Profile, _ string) { p.CacheKey, p.MaxTools = true, openAITools }},
		{"", []string{"openai.azure.com"}, func(p *Profile, _ string) { p.KeyHeader, p.MaxTools = "Api-Key", openAITools }},
		{"xai", []string{"x.ai"}, func(p *Profile, _ string) { p.CacheKey, p.Schema = true, SchemaXAI }},
		{"deepseek", []string{"deepseek.com"}, func(p *Profile, _ string) { p.Efforts = []string{"low", "high", "max"} }},
	}
}

// knownMessages are servers of Messages.
func knownMessages() []known {
	return []known{
		{"anthropic", []string{"anthropic.com"}, func(p *Profile, model string) {
			p.Thinking, p.Efforts = ThinkingAdaptive, []string{"low", "medium", "high", "xhigh", "max"}
			for _, old := range []string{"-3-", "-4-5", "-4.5", "-4-1", "-4-0", "-4-2025"} { // up to 4.5 they take a budget only
				if strings.Contains(model, old) {
					p.Thinking, p.NoEffort = ThinkingBudget, true
				}
			}
		}},
		{"", []string{"deepseek.com"}, func(p *Profile, _ string) {
			p.Thinking, p.Efforts = ThinkingType, []string{"low", "high", "max"}
		}},
	}
}

const (
	completionTokens = "max_completion_tokens"
	openAITools      = 128 // OpenAI's bound on the number of tools, which others have taken over
)

func glm(p *Profile, model string) {
	p.Reasoning, p.ReasoningField, p.Thinking = WithCalls, contentReasoning, ThinkingType
	p.TextCalls = []string{"glm"}
	p.Extra = json.RawMessage(`{"tool_stream":true}`) // else it is silent until the arguments of a call are whole
	switch {
	case strings.HasPrefix(model, "glm-5.3"):
		p.Thinking, p.Efforts = "", []string{"low", "high", "max"} // it always thinks
	case !strings.HasPrefix(model, "glm-5.2"):
		p.NoEffort = true
	}
}
