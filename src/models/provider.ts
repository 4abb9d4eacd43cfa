/** Makes language models from the `provider:model` of the agents file. Providers are loaded when first used. */
import { createRequire } from 'node:module';
import { statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LanguageModel, LogWarningsFunction, LanguageModelMiddleware } from 'ai';
import type { Logger } from 'pino';
import type { PackageSettings } from '../platform/config/agents-file/agents-file.ts';
import type { Config, ProvidersConfig } from '../platform/config/config.ts';
import type { Script } from './scripted/script.ts';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { isRecord, presentMembers } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';

export type Models = (spec: string) => Promise<LanguageModel>;

/** The model cannot be made as configured. The message says what to change. */
export class ModelConfigError extends Error {
  override name = 'ModelConfigError';
}

export function createModels(config: Pick<Config, 'providers' | 'configDir' | 'secret'>): Models {
  const made = new Map<string, Promise<LanguageModel>>();
  return async (spec) => {
    // The agents file may change while this runs.
    const key = JSON.stringify([spec, config.providers, spec === 'scripted' && changedAt(config)]);
    const model = made.get(key) ?? createModel(spec, config);
    made.set(key, model);
    try {
      return await model;
    } catch (error) {
      // Failures are not cached: the operator may fix the configuration while this runs.
      made.delete(key);
      throw error;
    }
  };
}

/** The environment variable with the key for a model; null when none is configured. */
export function keyVariable(spec: string, providers: ProvidersConfig): string | null {
  switch (split(spec).provider) {
    case 'openai':
      return providers.openai?.apiKeyEnv ?? 'OPENAI_API_KEY';
    case 'anthropic':
      return providers.anthropic?.apiKeyEnv ?? 'ANTHROPIC_API_KEY';
    case 'openai-compatible':
      return providers['openai-compatible']?.apiKeyEnv ?? null;
    default:
      return packageSettings(spec, providers)?.apiKeyEnv ?? null;
  }
}

function packageSettings(spec: string, providers: ProvidersConfig): PackageSettings | undefined {
  const { provider } = split(spec);
  return providers.packages?.[provider];
}

async function createModel(
  spec: string,
  { providers, configDir, secret }: Pick<Config, 'providers' | 'configDir' | 'secret'>,
): Promise<LanguageModel> {
  const { provider, model } = split(spec);
  const variable = keyVariable(spec, providers);
  const apiKey = variable === null ? undefined : secret(variable);
  if (variable !== null && apiKey === undefined) {
    throw new ModelConfigError(`The model ${spec} needs a key: set ${variable}.`);
  }
  switch (provider) {
    case 'scripted': {
      const { createScriptedModel } = await import('./scripted/scripted-model.ts');
      return createScriptedModel(await loadScript({ providers, configDir }));
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI(given({ apiKey, baseURL: providers.openai?.baseURL }))(model);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic(given({ apiKey, baseURL: providers.anthropic?.baseURL }))(model);
    }
    case 'openai-compatible': {
      const settings = providers['openai-compatible'];
      if (!settings)
        throw new ModelConfigError(`The model ${spec} needs providers.openai-compatible.baseURL.`);
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const { baseURL, headers } = settings;
      const made = createOpenAICompatible({
        name: provider,
        baseURL,
        headers,
        includeUsage: true,
        fetch: fetchReadableChunks,
        ...given({ apiKey }),
      })(model);
      const { wrapLanguageModel } = await import('ai');
      return wrapLanguageModel({ model: made, middleware: describeFiles });
    }
    default:
      // The agents file has checked the name: a package has a scope or a hyphen.
      if (/[/-]/.test(provider)) {
        const settings = packageSettings(spec, providers);
        return createPackageModel({ name: provider, model, settings, apiKey, configDir });
      }
      throw new ModelConfigError(
        `There is no model provider "${provider}"; write scripted, openai:…, anthropic:… or openai-compatible:….`,
      );
  }
}

/** Makes a model of a provider; packages export it as `create…`. */
type CreateProvider = (settings: Record<string, unknown>) => (model: string) => LanguageModel;

/** @throws {ModelConfigError} the package is not there, or does not export a provider. */
async function createPackageModel({
  name,
  model,
  settings,
  apiKey,
  configDir,
}: {
  name: string;
  model: string;
  settings: PackageSettings | undefined;
  apiKey: string | undefined;
  configDir: string;
}): Promise<LanguageModel> {
  const exported = await loadPackage(name, configDir);
  const named = settings?.factory ?? Object.keys(exported).find((key) => /^create[A-Z]/.test(key)) ?? '';
  const create = exported[named];
  if (typeof create !== 'function') {
    throw new ModelConfigError(
      settings?.factory === undefined
        ? `The package ${name} exports no function create…; is it a provider of the AI SDK?`
        : `The package ${name} exports no function ${named} (providers.packages.${name}.factory); it exports ${Object.keys(exported).join(', ')}.`,
    );
  }
  const { baseURL, settings: more } = settings ?? {};
  const given = {
    ...more,
    ...(apiKey !== undefined && { apiKey }),
    ...(baseURL !== undefined && { baseURL }),
  };
  return (create as CreateProvider)(given)(model);
}

async function loadPackage(name: string, configDir: string): Promise<Record<string, unknown>> {
  const { resolve } = createRequire(path.join(configDir, 'agents.yaml'));
  let file: string;
  try {
    file = resolve(name);
  } catch {
    throw new ModelConfigError(
      `The package ${name} is not installed: run npm install ${name} in ${configDir}.`,
    );
  }
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
}

/** When the file of the script was changed; undefined if there is none. */
function changedAt({ providers, configDir }: Pick<Config, 'providers' | 'configDir'>): number | undefined {
  const file = path.resolve(configDir, providers.scripted?.script ?? '');
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}

/** Scripts by file, with their state when they were first loaded: Node keeps a module for each address. */
const firstLoaded = new Map<string, number | undefined>();

async function loadScript(config: Pick<Config, 'providers' | 'configDir'>): Promise<Script> {
  const file = config.providers.scripted?.script;
  if (file === undefined) throw new ModelConfigError('The scripted model needs providers.scripted.script.');
  const resolved = path.resolve(config.configDir, file);
  const changed = changedAt(config);
  if (!firstLoaded.has(resolved)) firstLoaded.set(resolved, changed);
  const { href } = pathToFileURL(resolved);
  const address = firstLoaded.get(resolved) === changed ? href : `${href}?changed=${changed}`;
  let loaded: Record<string, unknown>;
  try {
    loaded = (await import(address)) as Record<string, unknown>;
  } catch (error) {
    throw new ModelConfigError(`The script ${resolved} cannot be loaded.`, { cause: error });
  }
  const script = loaded['script'] ?? loaded['default'];
  if (isScript(script)) return script;
  throw new ModelConfigError(`The script ${resolved} lacks "export const script = defineScript([…])".`);
}

function isScript(value: unknown): value is Script {
  return typeof value === 'object' && value !== null && 'rules' in value && Array.isArray(value.rules);
}

function split(spec: string): { provider: string; model: string } {
  const colon = spec.indexOf(':');
  return colon < 0
    ? { provider: spec, model: '' }
    : { provider: spec.slice(0, colon), model: spec.slice(colon + 1) };
}

/** The providers distinguish missing and undefined members. */
function given<T extends Record<string, string | undefined>>(settings: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: string;
  };
}

/**
 * Logs each warning of a model once, for example about a setting that it does not support. The AI SDK has one hook for it
 * per process, and by default writes to the console at every call.
 */
export function logModelWarnings(logger: Pick<Logger, 'warn'>): void {
  const seen = new Set<string>();
  const log: LogWarningsFunction = (given) => {
    // Version 5 of the AI SDK in the same process passes only the list.
    if (Array.isArray(given)) return;
    const { warnings, provider, model } = given;
    for (const warning of warnings) {
      const key = JSON.stringify([provider, model, warning]);
      if (seen.has(key)) continue;
      seen.add(key);
      logger.warn({ provider, model, warning }, 'a model ignores a setting of its agent');
    }
  };
  globalThis.AI_SDK_LOG_WARNINGS = log;
}

type Members = Record<string, unknown>;

/**
 * Adapts OpenAI-compatible servers to the AI SDK.
 *
 * The SDK fails a whole answer because of one null or mistyped member in a chunk, and for an answer without a finish
 * reason. So only the members that it uses are passed on. `[DONE]` means that the answer is complete, so a missing reason
 * is added; without either, it was cut off.
 */
export async function fetchReadableChunks(url: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { body, status, statusText, headers } = response;
  if (!response.ok || body === null) return response;
  const events = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(readableEvents())
    .pipeThrough(new TextEncoderStream());
  return new Response(events, { status, statusText, headers });
}

function readableEvents(): TransformStream<{ data: string }, string> {
  let finishReason: string | undefined;
  let hasCalls = false;
  return new TransformStream({
    transform({ data }, controller) {
      const send = (text: string) => controller.enqueue(`data: ${text.replaceAll('\n', '\ndata: ')}\n\n`);
      const chunk = readChunk(data);
      for (const choice of chunk?.choices ?? []) {
        finishReason ??= choice.finish_reason;
        hasCalls ||= choice.delta.tool_calls !== undefined;
      }
      if (data.trim() === '[DONE]' && finishReason === undefined) {
        const delta = {};
        send(JSON.stringify({ choices: [{ delta, finish_reason: hasCalls ? 'tool_calls' : 'stop' }] }));
      }
      send(chunk ? JSON.stringify(chunk) : data);
    },
  });
}

interface Chunk {
  choices: Choice[];
  [member: string]: unknown;
}

interface Choice {
  index?: number;
  delta: Members & { tool_calls?: Members[] };
  finish_reason?: string;
}

/** Undefined for anything else, including an error in place of a chunk. */
function readChunk(data: string): Chunk | undefined {
  const chunk = readJson(data);
  if (!isRecord(chunk) || presentMembers(chunk)['error'] !== undefined) return undefined;
  const { id, created, model, choices, usage } = chunk;
  return {
    ...(typeof id === 'string' && { id }),
    ...(typeof created === 'number' && { created }),
    ...(typeof model === 'string' && { model }),
    choices: (Array.isArray(choices) ? choices : []).filter(isRecord).map(readChoice),
    ...(isRecord(usage) && { usage: presentMembers(usage) }),
  };
}

function readChoice({ index, delta, finish_reason: reason }: Members): Choice {
  const { role, tool_calls: calls, ...rest } = isRecord(delta) ? presentMembers(delta) : {};
  const read = (Array.isArray(calls) ? calls : []).filter(isRecord).map(readCall);
  return {
    ...(typeof index === 'number' && { index }),
    delta: { ...rest, ...(role === 'assistant' && { role }), ...(read.length > 0 && { tool_calls: read }) },
    ...(typeof reason === 'string' && reason !== '' && { finish_reason: reason }),
  };
}

/** Arguments are a JSON string; some servers send the object itself. */
function readCall({ function: named, ...rest }: Members): Members {
  const called = isRecord(named) ? presentMembers(named) : {};
  const input = called['arguments'];
  return {
    ...presentMembers(rest),
    function: { ...called, ...(isRecord(input) && { arguments: JSON.stringify(input) }) },
  };
}

function readJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

type Params = Parameters<NonNullable<LanguageModelMiddleware['transformParams']>>[0]['params'];
type Message = Params['prompt'][number];
type ToolPart = Extract<Message, { role: 'tool' }>['content'][number];

/**
 * Chat completions only support text in tool results. The SDK would send an image as JSON: megabytes of base64 that no model can
 * read. So the model gets a note instead.
 */
const describeFiles: LanguageModelMiddleware = {
  transformParams: ({ params }) =>
    Promise.resolve({ ...params, prompt: params.prompt.map((message) => withoutFiles(message)) }),
};

function withoutFiles(message: Message): Message {
  return message.role === 'tool' ? { ...message, content: message.content.map(toWords) } : message;
}

function toWords(part: ToolPart): ToolPart {
  if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
  const words = part.output.value.map((block) => {
    if (block.type === 'text') return block.text;
    return block.type === 'file'
      ? `[${block.mediaType}: not shown to this model; the user's client has it]`
      : '';
  });
  return { ...part, output: { type: 'text', value: words.join('\n') } };
}
