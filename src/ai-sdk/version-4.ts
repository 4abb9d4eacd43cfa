/** Answers as version 7 of the SDK reads them. Pure. */
import type {
  JSONObject,
  LanguageModelV4,
  LanguageModelV4CustomContent,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { Agent } from './agent.ts';
import type { AgentPart, Question } from './agent-part.ts';
import { identify } from './identify.ts';
import { mapStream } from './map-stream.ts';

export function toVersion4(agentId: string, agent: Agent): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    ...identify(agentId),
    async doGenerate(call) {
      const answer = await agent.generate(call);
      const content = answer.content.map((part) => (part.type === 'elicitation' ? toCustom(part) : part));
      return { ...answer, content };
    },
    async doStream(call) {
      const answer = await agent.stream(call);
      return { ...answer, stream: mapStream(answer.stream, (part) => [toPart(part)]) };
    },
  };
}

export function toPart(part: AgentPart): LanguageModelV4StreamPart {
  return part.type === 'elicitation' ? toCustom(part) : part;
}

function toCustom({ elicitation }: Question): LanguageModelV4CustomContent {
  // It came as JSON.
  const interlude = elicitation as JSONObject;
  return { type: 'custom', kind: 'interlude.elicitation-request', providerMetadata: { interlude } };
}
