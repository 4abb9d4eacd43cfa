/** The agents of a service as language models: `streamText({ model: interlude('assistant'), prompt })`. */
import { InvalidArgumentError, NoSuchModelError } from '@ai-sdk/provider';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { OnElicitation } from '../answer-questions.ts';
import type { Timing } from '../retry.ts';
import type { Token } from '../send.ts';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import { createAgent } from './agent.ts';
import { createNaming } from './open-turn.ts';
import { toVersion2, toVersion3, toVersion4 } from './versions.ts';
import type { AgentModelV2, AgentModelV3 } from './versions.ts';

export interface InterludeOptions {
  /** Where the service is, as in `https://interlude.example`. */
  baseURL: string;
  /**
   * An access token of the user, or an API key. A function is called for every call, and again when the service no longer
   * accepts the token it returned. A call's own header `authorization` takes precedence.
   */
  token: Token;
  /**
   * Answers questions where no person is watching; without it they stay open until they are answered elsewhere or expire.
   */
  onElicitation?: OnElicitation;
  /**
   * Which questions you can show to a person. Others are never asked. All with `onElicitation`, none without: set it if you
   * show the questions in the stream yourself.
   */
  capabilities?: Capabilities;
  /** What happens to the turn when `abortSignal` aborts: `leave` (the default) lets it go on, `cancel` stops it. */
  onAbort?: 'leave' | 'cancel';
  fetch?: typeof globalThis.fetch;
  /** In milliseconds. A call fails when the service has not accepted its message within `giveUpMs`. */
  timing?: Partial<Timing>;
}

/** The `modelId` of a model is the id of its agent. */
export interface InterludeProvider<Model> {
  (agentId: string): Model;
  languageModel(agentId: string): Model;
  /** Agents answer in text; there are no other models. */
  embeddingModel(modelId: string): never;
  textEmbeddingModel(modelId: string): never;
  imageModel(modelId: string): never;
}

type Versioned<Version, Model> = InterludeProvider<Model> & { readonly specificationVersion: Version };

/** `specificationVersion` is that of the consumer: `v4` (the default) for version 7 of the AI SDK, `v3` for 6, `v2` for 5. */
export function createInterlude(
  options: InterludeOptions & { specificationVersion?: 'v4' },
): Versioned<'v4', LanguageModelV4>;
export function createInterlude(
  options: InterludeOptions & { specificationVersion: 'v3' },
): Versioned<'v3', AgentModelV3>;
export function createInterlude(
  options: InterludeOptions & { specificationVersion: 'v2' },
): InterludeProvider<AgentModelV2>;
export function createInterlude({
  specificationVersion = 'v4',
  onAbort = 'leave',
  ...options
}: InterludeOptions & { specificationVersion?: 'v2' | 'v3' | 'v4' }): unknown {
  const { baseURL } = options;
  if (!URL.canParse(baseURL)) {
    const message = `baseURL has to be where the service is, as in https://interlude.example, not "${baseURL}".`;
    throw new InvalidArgumentError({ argument: 'baseURL', message });
  }
  const naming = createNaming();
  const agentOf = (agentId: string) => createAgent(agentId, { ...options, onAbort, naming });
  switch (specificationVersion) {
    case 'v4':
      return versioned(specificationVersion, (id) => toVersion4(id, agentOf(id)));
    case 'v3':
      return versioned(specificationVersion, (id) => toVersion3(id, agentOf(id)));
    case 'v2':
      // Providers of version 2 have no `specificationVersion`.
      return provide((id) => toVersion2(id, agentOf(id)));
    default: {
      specificationVersion satisfies never;
      const message = 'specificationVersion has to be "v2", "v3" or "v4".';
      throw new InvalidArgumentError({ argument: 'specificationVersion', message });
    }
  }
}

function versioned<Version, Model>(
  specificationVersion: Version,
  modelOf: (agentId: string) => Model,
): Versioned<Version, Model> {
  return Object.assign(provide(modelOf), { specificationVersion });
}

function provide<Model>(modelOf: (agentId: string) => Model): InterludeProvider<Model> {
  const noSuch = (modelType: 'embeddingModel' | 'imageModel') => (modelId: string) => {
    throw new NoSuchModelError({ modelId, modelType });
  };
  return Object.assign((agentId: string) => modelOf(agentId), {
    languageModel: modelOf,
    embeddingModel: noSuch('embeddingModel'),
    textEmbeddingModel: noSuch('embeddingModel'),
    imageModel: noSuch('imageModel'),
  });
}
