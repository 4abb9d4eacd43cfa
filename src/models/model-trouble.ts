/**
 * What went wrong with a model call, sorted by what to do about it. Pure.
 *
 * Messages are read by users, land in workflow history and in logs, so they are written here and name only the
 * model, its host and a status: a provider's own words may repeat the prompt or the key.
 */
import { APICallError, StreamProviderError } from 'ai';
import { ModelConfigError } from './provider.ts';

export interface ModelTrouble {
  type:
    | 'ModelRateLimited'
    | 'ModelQuotaExhausted'
    | 'ModelUnavailable'
    | 'ModelUnauthorized'
    | 'ModelRefusedRequest'
    | 'ModelContextTooLong'
    | 'ModelContentPolicy'
    | 'ModelEmptyAnswer'
    | 'ModelMisconfigured';
  message: string;
  /** Whether the same call can succeed later. */
  retry: boolean;
  /** How long the provider asked us to wait, in milliseconds. */
  retryAfterMs?: number;
  status?: number;
}

export interface ModelIdentity {
  /** As in the agents file: `openai:…`. */
  spec: string;
  /** Environment variable with the key, if there is one. */
  keyVariable: string | null;
}

/** The model stopped talking in the middle, or never began. */
export class ModelStalledError extends Error {
  override name = 'ModelStalledError';
}

const longestWaitMs = 60_000;

export function classifyModelError(error: unknown, model: ModelIdentity, now = Date.now()): ModelTrouble {
  if (error instanceof ModelConfigError) {
    return { type: 'ModelMisconfigured', message: error.message, retry: false };
  }
  const facts = factsOf(error, now);
  const at = facts.host === undefined ? '' : ` at ${facts.host}`;
  const code = facts.status === undefined ? '' : ` (${facts.status})`;
  const subject = `The model ${model.spec}${at}`;
  const trouble = (type: ModelTrouble['type'], retry: boolean, message: string): ModelTrouble => ({
    type,
    message,
    retry,
    ...(retry && facts.retryAfterMs !== undefined && { retryAfterMs: facts.retryAfterMs }),
    ...(facts.status !== undefined && { status: facts.status }),
  });

  switch (kindOf(facts)) {
    case 'quota':
      return trouble(
        'ModelQuotaExhausted',
        false,
        `${subject} refused the call${code}: its quota is used up. Check plan and billing there.`,
      );
    case 'rate':
      return trouble('ModelRateLimited', true, `${subject} is rate-limited${code}. Try again in a moment.`);
    case 'key': {
      const remedy =
        model.keyVariable === null
          ? 'Configure apiKeyEnv for its provider.'
          : `Check the key in ${model.keyVariable}.`;
      return trouble('ModelUnauthorized', false, `${subject} refused our key${code}. ${remedy}`);
    }
    case 'policy':
      return trouble(
        'ModelContentPolicy',
        false,
        `${subject} declined to answer because of its content policy. Rephrase the request.`,
      );
    case 'length':
      return trouble(
        'ModelContextTooLong',
        false,
        `This conversation is too long for ${model.spec}. Start a new one.`,
      );
    case 'unknown-model':
      return trouble(
        'ModelRefusedRequest',
        false,
        `${subject} does not exist there${code}. Check the model's name and the provider's baseURL in the agents file.`,
      );
    case 'refused':
      return trouble(
        'ModelRefusedRequest',
        false,
        `${subject} did not accept the request${code}. Check that it supports tools and streaming.`,
      );
    case 'stalled':
      return trouble('ModelUnavailable', true, `${subject} stopped answering. Try again in a moment.`);
    case 'unavailable':
      return trouble(
        'ModelUnavailable',
        true,
        `${subject} cannot be reached or is out of order${code}. Try again in a moment.`,
      );
  }
}

/** Nothing was said and nothing called. Out of room is final; anything else may be better next time. */
export function emptyAnswer(finish: string, { spec }: ModelIdentity): ModelTrouble {
  if (finish === 'content-filter') {
    const message = `The model ${spec} declined to answer because of its content policy. Rephrase the request.`;
    return { type: 'ModelContentPolicy', message, retry: false };
  }
  const retry = finish !== 'length';
  const message = retry
    ? `The model ${spec} answered with nothing. Ask again, or in other words.`
    : `The model ${spec} ran out of room before it said anything. Ask for something shorter.`;
  return { type: 'ModelEmptyAnswer', message, retry, ...(retry && { retryAfterMs: 250 }) };
}

interface Facts {
  name: string;
  host?: string | undefined;
  status?: number | undefined;
  /** The provider's own error codes, lower case. */
  codes: string[];
  retryAfterMs?: number | undefined;
}

function kindOf({ name, status, codes }: Facts) {
  const says = (pattern: RegExp) => codes.some((code) => pattern.test(code));
  if (name === 'ModelStalledError') return 'stalled';
  if (status === 402 || says(/insufficient_quota|billing/)) return 'quota';
  if (says(/content_filter|content_policy|responsible_?ai/)) return 'policy';
  if (status === 413 || says(/context_length|string_above_max|request_too_large/)) return 'length';
  if (status === 429 || says(/rate_limit/)) return 'rate';
  if (status === 401 || status === 403 || says(/authentication|permission|invalid_api_key/)) return 'key';
  if (name === 'AI_LoadAPIKeyError') return 'key';
  if (status === 404 || says(/model_not_found/) || name === 'AI_NoSuchModelError') return 'unknown-model';
  if (status !== undefined && status >= 400 && status < 500 && ![408, 409, 425].includes(status))
    return 'refused';
  if (says(/invalid_request/) || requestErrors.has(name)) return 'refused';
  return 'unavailable';
}

/** The SDK could not even make a request out of what it was given. */
const requestErrors = new Set([
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
  'AI_MessageConversionError',
  'AI_MissingToolResultsError',
  'AI_UnsupportedFunctionalityError',
]);

function factsOf(error: unknown, now: number): Facts {
  const name = error instanceof Error ? error.name : 'Error';
  if (APICallError.isInstance(error)) {
    const answer = error.data ?? parsed(error.responseBody);
    return {
      name,
      host: URL.parse(error.url)?.host,
      // A 200 here means that the answer could not be read: no fault of the request.
      status: error.statusCode === 200 ? undefined : error.statusCode,
      codes: codesIn(answer),
      retryAfterMs: retryAfter(error.responseHeaders ?? {}, now),
    };
  }
  if (StreamProviderError.isInstance(error)) {
    const codes = [error.type, error.code].flatMap((code) =>
      typeof code === 'string' ? code.toLowerCase() : [],
    );
    return { name, status: error.statusCode, codes: [...codes, ...codesIn(error.data)] };
  }
  return { name, codes: [] };
}

/** `code` and `type` of an OpenAI or Anthropic error body, and of the bare error object in a stream. */
function codesIn(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  const { error, code, type } = body as Record<string, unknown>;
  const own = [code, type].flatMap((value) => (typeof value === 'string' ? value.toLowerCase() : []));
  return [...own, ...codesIn(error)];
}

function parsed(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? '') as unknown;
  } catch {
    return undefined;
  }
}

function retryAfter(headers: Record<string, string>, now: number): number | undefined {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN);
  const value = headers['retry-after'] ?? '';
  const seconds = value.trim() === '' ? Number.NaN : Number(value);
  const candidates = [exact, seconds * 1000, Date.parse(value) - now];
  const found = candidates.find((ms) => Number.isFinite(ms));
  return found === undefined ? undefined : Math.min(Math.max(found, 0), longestWaitMs);
}
