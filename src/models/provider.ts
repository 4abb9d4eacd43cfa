/** Makes language models from the `provider:model` of the agents file. Providers are loaded when first used. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LanguageModel, LogWarningsFunction } from 'ai';
import type { Logger } from 'pino';
import type { Config, ProvidersConfig } from '../platform/config/config.ts';
import { describeFiles, fetchReadableChunks } from './openai-compatible.ts';
import type { Script } from './scripted/script.ts';

export type Models = (spec: string) => Promise<LanguageModel>;

/** The model cannot be made as configured. The message says what to change. */
export class ModelConfigError extends Error {
  override name = 'ModelConfigError';
}

export function createModels(config: Pick<Config, 'providers' | 'configDir' | 'secret'>): Models {
  const made = new Map<string, Promise<LanguageModel>>();
  return async (spec) => {
    const model = made.get(spec) ?? createModel(spec, config);
    made.set(spec, model);
    try {
      return await model;
    } catch (error) {
      // Failures are not cached: the operator may fix the configuration while this runs.
      made.delete(spec);
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
      return null;
  }
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
      return createScriptedModel(await loadScript(providers.scripted?.script, configDir));
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
      throw new ModelConfigError(
        `There is no model provider "${provider}"; write scripted, openai:…, anthropic:… or openai-compatible:….`,
      );
  }
}

async function loadScript(file: string | undefined, configDir: string): Promise<Script> {
  if (file === undefined) throw new ModelConfigError('The scripted model needs providers.scripted.script.');
  const resolved = path.resolve(configDir, file);
  let loaded: Record<string, unknown>;
  try {
    loaded = (await import(pathToFileURL(resolved).href)) as Record<string, unknown>;
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
