/**
 * From the agents file's `provider:model` to a language model. Providers are loaded when first used, so that a
 * process starts without those it does not need.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LanguageModel } from 'ai';
import type { Config, ProvidersConfig } from '../config/config.ts';
import { describeFiles } from './describe-files.ts';
import { fetchReadableChunks } from './readable-chunks.ts';
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
      // Nothing that failed is kept: the operator may repair it while we run.
      made.delete(spec);
      throw error;
    }
  };
}

/** Name of the environment variable that holds the key for a model; null when none is configured. */
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

/** The providers tell "not given" from "given as undefined". */
function given<T extends Record<string, string | undefined>>(settings: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: string;
  };
}
