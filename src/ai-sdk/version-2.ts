/** Answers as version 5 of the SDK reads them. It has no parts of a provider's own: there, questions are raw chunks. Pure. */
import type { LanguageModelV2CallOptions } from '@ai-sdk/provider';
import type { Agent, Answer } from './agent.ts';
import type { AgentContent, AgentPart, Finish, Question, Warning } from './agent-part.ts';
import { identify } from './identify.ts';
import type { Identity } from './identify.ts';
import { mapStream } from './map-stream.ts';

/** A `LanguageModelV2`, named by what it really says: so it fits the type of whichever copy a consumer brings along. */
export interface AgentModelV2 extends Identity {
  readonly specificationVersion: 'v2';
  doGenerate(call: LanguageModelV2CallOptions): Promise<AnswerV2>;
  doStream(
    call: LanguageModelV2CallOptions,
  ): Promise<{ stream: ReadableStream<PartV2>; response: { headers: Record<string, string> } }>;
}

interface FinishV2 extends Pick<Finish, 'providerMetadata'> {
  finishReason: Finish['finishReason']['unified'];
  usage: Record<'inputTokens' | 'outputTokens' | 'totalTokens', number | undefined>;
}

type AnswerV2 = FinishV2 &
  Pick<Answer, 'response'> & { content: Exclude<AgentContent, Question>[]; warnings: WarningV2[] };

type PartV2 =
  | Exclude<AgentPart, Question | { type: 'stream-start' | 'finish' }>
  | { type: 'stream-start'; warnings: WarningV2[] }
  | { type: 'raw'; rawValue: unknown }
  | ({ type: 'finish' } & FinishV2);

type WarningV2 =
  | { type: 'unsupported-setting'; setting: string; details: string }
  | { type: 'other'; message: string };

export function toVersion2(agentId: string, agent: Agent): AgentModelV2 {
  return {
    specificationVersion: 'v2',
    ...identify(agentId),
    async doGenerate(call) {
      const answer = await agent.generate(call);
      return {
        ...toFinish(answer),
        content: answer.content.flatMap((part) => (part.type === 'elicitation' ? [] : [part])),
        warnings: answer.warnings.map(toWarning),
        response: answer.response,
      };
    },
    async doStream(call) {
      const answer = await agent.stream(call);
      const { includeRawChunks = false } = call;
      return { ...answer, stream: mapStream(answer.stream, (part) => toParts(part, includeRawChunks)) };
    },
  };
}

export function toParts(part: AgentPart, includeRawChunks: boolean): PartV2[] {
  switch (part.type) {
    case 'stream-start':
      return [{ type: part.type, warnings: part.warnings.map(toWarning) }];
    case 'elicitation':
      return includeRawChunks ? [{ type: 'raw', rawValue: part.elicitation }] : [];
    case 'finish':
      return [{ type: part.type, ...toFinish(part) }];
    case 'text-start':
    case 'text-delta':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
    case 'response-metadata':
    case 'error':
      return [part];
    default:
      return part satisfies never;
  }
}

function toFinish({ finishReason, usage, providerMetadata }: Finish): FinishV2 {
  const [inputTokens, outputTokens] = [usage.inputTokens.total, usage.outputTokens.total];
  const isKnown = inputTokens !== undefined && outputTokens !== undefined;
  return {
    finishReason: finishReason.unified,
    usage: { inputTokens, outputTokens, totalTokens: isKnown ? inputTokens + outputTokens : undefined },
    providerMetadata,
  };
}

function toWarning({ type, feature, details }: Warning): WarningV2 {
  if (type === 'unsupported') return { type: 'unsupported-setting', setting: feature, details };
  return { type: 'other', message: `${feature}: ${details}` };
}
