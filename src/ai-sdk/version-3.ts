/** Answers as version 6 of the SDK reads them. It has no parts of a provider's own: there, questions are raw chunks. Pure. */
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { Agent, Answer } from './agent.ts';
import type { AgentContent, AgentPart, Question } from './agent-part.ts';
import { identify } from './identify.ts';
import type { Identity } from './identify.ts';
import { mapStream } from './map-stream.ts';

/** A `LanguageModelV3`, named by what it really says: so it fits the type of whichever copy a consumer brings along. */
export interface AgentModelV3 extends Identity {
  readonly specificationVersion: 'v3';
  doGenerate(call: LanguageModelV3CallOptions): Promise<AnswerV3>;
  doStream(
    call: LanguageModelV3CallOptions,
  ): Promise<{ stream: ReadableStream<PartV3>; response: { headers: Record<string, string> } }>;
}

type AnswerV3 = Omit<Answer, 'content'> & { content: Exclude<AgentContent, Question>[] };
type PartV3 = Exclude<AgentPart, Question> | { type: 'raw'; rawValue: unknown };

export function toVersion3(agentId: string, agent: Agent): AgentModelV3 {
  return {
    specificationVersion: 'v3',
    ...identify(agentId),
    async doGenerate(call) {
      const answer = await agent.generate(call);
      return {
        ...answer,
        content: answer.content.flatMap((part) => (part.type === 'elicitation' ? [] : [part])),
      };
    },
    async doStream(call) {
      const answer = await agent.stream(call);
      const { includeRawChunks = false } = call;
      return { ...answer, stream: mapStream(answer.stream, (part) => toParts(part, includeRawChunks)) };
    },
  };
}

export function toParts(part: AgentPart, includeRawChunks: boolean): PartV3[] {
  if (part.type !== 'elicitation') return [part];
  return includeRawChunks ? [{ type: 'raw', rawValue: part.elicitation }] : [];
}
