/**
 * What providers accept as the input schema of a tool, as documented or seen in their errors. Pure.
 *
 * - All: the root is an object, without `anyOf`, `oneOf`, `allOf`, `enum` or `not`; an array has `items`; each property is
 *   a schema.
 * - Anthropic: names of properties match `^[a-zA-Z0-9_.-]{1,64}$`, and the schema is valid JSON Schema 2020-12.
 * - OpenAI: at most 128 tools.
 * - Google: names of parameters match `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`; an OpenAPI subset without references, lists of types
 *   and most formats; `enum` is for strings; no keyword beside `anyOf`.
 */

export type Provider = 'openai' | 'anthropic' | 'google';

export interface ProviderRules {
  propertyName: RegExp;
  /** Characters of a name that are replaced. */
  unfitCharacter: RegExp;
  /** Whether references to definitions of the root are allowed. */
  keepsReferences: boolean;
  isGoogle: boolean;
}

const properties = { propertyName: /^[a-zA-Z0-9_.-]{1,64}$/, unfitCharacter: /[^a-zA-Z0-9_.-]+/g };
const googleProperties = { propertyName: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/, unfitCharacter: /[^a-zA-Z0-9_]+/g };

/** The rules that satisfy all of these providers. */
export function rulesOf(providers: readonly Provider[]): ProviderRules {
  const isGoogle = providers.includes('google');
  return { ...(isGoogle ? googleProperties : properties), keepsReferences: !isGoogle, isGoogle };
}

/**
 * The providers whose rules apply to a model of the agents file. An OpenAI-compatible endpoint may be a gateway to another
 * provider, which is recognised by the name of the model or the host.
 */
export function providersOf(spec: string, baseURL: string | undefined): Provider[] {
  const [kind = '', ...rest] = spec.split(':');
  const model = rest.join(':');
  switch (kind) {
    case 'openai':
      return ['openai'];
    case 'anthropic':
      return ['anthropic'];
    case 'openai-compatible': {
      const host = baseURL === undefined ? '' : (URL.parse(baseURL)?.host ?? '');
      const isGoogle = /gemini|^google\//i.test(model) || host.endsWith('googleapis.com');
      // Anthropic's rules about names do no harm elsewhere.
      return ['openai', 'anthropic', ...(isGoogle ? (['google'] as const) : [])];
    }
    case 'scripted':
      return [];
    default:
      // A package of the AI SDK, often a gateway to several providers.
      return ['openai', 'anthropic', ...(/google|gemini|vertex/i.test(spec) ? (['google'] as const) : [])];
  }
}

/** OpenAI rejects a longer list. Other servers with its protocol have another limit or none. */
export function mostToolsOf(spec: string): number {
  return spec.startsWith('openai:') ? 128 : Infinity;
}
