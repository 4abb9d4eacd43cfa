/**
 * The agent as a model of each version of the AI SDK's provider interface: V4 for version 7 of the SDK, V3 for 6, V2 for 5.
 * V2 and V3 have no parts of a provider's own, so there questions are raw chunks. Pure.
 */
import type {
  JSONObject,
  LanguageModelV2CallOptions,
  LanguageModelV3CallOptions,
  LanguageModelV4,
  LanguageModelV4CustomContent,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { Agent, Answer } from './agent.ts';
import type { AgentContent, AgentPart, Finish, Question, Warning } from './parts.ts';

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
      return { ...answer, stream: mapStream(answer.stream, (part) => [toPartV4(part)]) };
    },
  };
}

export function toPartV4(part: AgentPart): LanguageModelV4StreamPart {
  return part.type === 'elicitation' ? toCustom(part) : part;
}

function toCustom({ elicitation }: Question): LanguageModelV4CustomContent {
  const interlude = elicitation as JSONObject;
  return { type: 'custom', kind: 'interlude.elicitation-request', providerMetadata: { interlude } };
}

/** A `LanguageModelV3`, as a type of our own, so that it fits the types of any installed copy of the SDK. */
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
      return { ...answer, stream: mapStream(answer.stream, (part) => toPartsV3(part, includeRawChunks)) };
    },
  };
}

export function toPartsV3(part: AgentPart, includeRawChunks: boolean): PartV3[] {
  if (part.type !== 'elicitation') return [part];
  return includeRawChunks ? [{ type: 'raw', rawValue: part.elicitation }] : [];
}

/** A `LanguageModelV2`, as a type of our own, so that it fits the types of any installed copy of the SDK. */
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
        ...toFinishV2(answer),
        content: answer.content.flatMap((part) => (part.type === 'elicitation' ? [] : [part])),
        warnings: answer.warnings.map(toWarningV2),
        response: answer.response,
      };
    },
    async doStream(call) {
      const answer = await agent.stream(call);
      const { includeRawChunks = false } = call;
      return { ...answer, stream: mapStream(answer.stream, (part) => toPartsV2(part, includeRawChunks)) };
    },
  };
}

export function toPartsV2(part: AgentPart, includeRawChunks: boolean): PartV2[] {
  switch (part.type) {
    case 'stream-start':
      return [{ type: part.type, warnings: part.warnings.map(toWarningV2) }];
    case 'elicitation':
      return includeRawChunks ? [{ type: 'raw', rawValue: part.elicitation }] : [];
    case 'finish':
      return [{ type: part.type, ...toFinishV2(part) }];
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

function toFinishV2({ finishReason, usage, providerMetadata }: Finish): FinishV2 {
  const [inputTokens, outputTokens] = [usage.inputTokens.total, usage.outputTokens.total];
  const isKnown = inputTokens !== undefined && outputTokens !== undefined;
  return {
    finishReason: finishReason.unified,
    usage: { inputTokens, outputTokens, totalTokens: isKnown ? inputTokens + outputTokens : undefined },
    providerMetadata,
  };
}

function toWarningV2({ type, feature, details }: Warning): WarningV2 {
  if (type === 'unsupported') return { type: 'unsupported-setting', setting: feature, details };
  return { type: 'other', message: `${feature}: ${details}` };
}

/** What every version requires of a model. */
interface Identity {
  readonly provider: string;
  readonly modelId: string;
  supportedUrls: Record<string, RegExp[]>;
}

function identify(agentId: string): Identity {
  return {
    provider: 'interlude',
    modelId: agentId,
    // Claims to read every URL, so that the SDK does not download files that are refused.
    supportedUrls: { '*/*': [/^/] },
  };
}

/** Passes on a cancellation, with its reason. */
function mapStream<From, To>(stream: ReadableStream<From>, map: (part: From) => To[]): ReadableStream<To> {
  const transform = new TransformStream<From, To>({
    transform(part, controller) {
      for (const mapped of map(part)) controller.enqueue(mapped);
    },
  });
  return stream.pipeThrough(transform);
}
