/**
 * What went wrong with a model call, sorted by what to do about it. Pure.
 *
 * Two people read of it. Whoever waits for the answer learns what they can do; that text lands in workflow history.
 * The operator learns in the log which model, where, what it said, and the remedy.
 */
import { APICallError, StreamProviderError } from 'ai';
import { plainLine } from '../elicitation/plain-text.ts';
import { withoutKeys } from '../telemetry/redact-secrets.ts';
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
  /** For whoever waits for the answer. */
  message: string;
  /** For the operator: names the model, its host, a status and the remedy. */
  forOperator: string;
  /** In the provider's own words, as far as they can be logged: they may repeat the key or the prompt. */
  said?: string;
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
    return {
      type: 'ModelMisconfigured',
      message: forUsers.ModelMisconfigured,
      forOperator: error.message,
      retry: false,
    };
  }
  const facts = factsOf(error, now);
  const at = facts.host === undefined ? '' : ` at ${facts.host}`;
  const code = facts.status === undefined ? '' : ` (${facts.status})`;
  const subject = `The model ${model.spec}${at}`;
  const trouble = (type: ModelTrouble['type'], retry: boolean, forOperator: string): ModelTrouble => ({
    type,
    message: forUsers[type],
    forOperator,
    retry,
    ...(facts.said !== undefined && { said: facts.said }),
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
      return trouble(
        'ModelRateLimited',
        true,
        `${subject} is rate-limited${code}. Ask the provider for a higher limit if it happens often.`,
      );
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
        `${subject} declined to answer because of its content policy${code}.`,
      );
    case 'length':
      return trouble('ModelContextTooLong', false, `A conversation is too long for ${model.spec}${code}.`);
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
        `${subject} did not accept the request${code}. Check that it supports tools and streaming, and the agent's modelSettings.`,
      );
    case 'stalled':
      return trouble('ModelUnavailable', true, `${subject} stopped answering.`);
    case 'unavailable':
      return trouble(
        'ModelUnavailable',
        true,
        `${subject} cannot be reached or is out of order${code}. Check that it runs and the provider's baseURL in the agents file.`,
      );
  }
}

const notSetUp =
  'The assistant cannot answer because of a problem in its set-up. Tell whoever runs this service.';
const away = 'The assistant cannot be reached right now. Try again in a moment.';

const forUsers: Record<ModelTrouble['type'], string> = {
  ModelRateLimited: 'The assistant has too much to do right now. Try again in a moment.',
  ModelQuotaExhausted: notSetUp,
  ModelUnavailable: away,
  ModelUnauthorized: notSetUp,
  ModelRefusedRequest: notSetUp,
  ModelContextTooLong: 'This conversation is too long for the assistant. Start a new one.',
  ModelContentPolicy: 'The assistant declined to answer because of its content policy. Rephrase the request.',
  ModelEmptyAnswer: 'The assistant answered with nothing. Ask again, or in other words.',
  ModelMisconfigured: notSetUp,
};

/** Nothing was said and nothing called. Out of room is final; anything else may be better next time. */
export function emptyAnswer(finish: string, { spec }: ModelIdentity): ModelTrouble {
  if (finish === 'content-filter') {
    const forOperator = `The model ${spec} declined to answer because of its content policy.`;
    return { type: 'ModelContentPolicy', message: forUsers.ModelContentPolicy, forOperator, retry: false };
  }
  if (finish === 'length') {
    const message = 'The assistant ran out of room before it said anything. Ask for something shorter.';
    const forOperator = `The model ${spec} ran out of room before it said anything. Give the agent more modelSettings.maxOutputTokens, or less to think about.`;
    return { type: 'ModelEmptyAnswer', message, forOperator, retry: false };
  }
  return {
    type: 'ModelEmptyAnswer',
    message: forUsers.ModelEmptyAnswer,
    forOperator: `The model ${spec} answered with nothing (${finish}).`,
    retry: true,
    retryAfterMs: 250,
  };
}

interface Facts {
  name: string;
  host?: string | undefined;
  status?: number | undefined;
  /** The provider's own error codes, lower case. */
  codes: string[];
  retryAfterMs?: number | undefined;
  said?: string | undefined;
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
      said: loggable(messageIn(answer) ?? error.message),
      retryAfterMs: retryAfter(error.responseHeaders ?? {}, now),
    };
  }
  if (StreamProviderError.isInstance(error)) {
    const codes = [error.type, error.code].flatMap((code) =>
      typeof code === 'string' ? code.toLowerCase() : [],
    );
    const said = loggable(error.message);
    return { name, status: error.statusCode, codes: [...codes, ...codesIn(error.data)], said };
  }
  return { name, codes: [], said: error instanceof Error ? loggable(error.message) : undefined };
}

function messageIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { error, message } = body as Record<string, unknown>;
  return typeof message === 'string' ? message : typeof error === 'string' ? error : messageIn(error);
}

const longestSaid = 300;
/** Longer than any name of a model or a parameter: it may be what somebody has written. */
const longestQuote = 60;

/** On one line, without what looks like a key and without long quotations. */
function loggable(words: string): string | undefined {
  const short = plainLine(words.slice(0, 4 * longestSaid));
  const quiet = withoutKeys(short).replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, (quote) =>
    quote.length > longestQuote ? '"…"' : quote,
  );
  return quiet === '' ? undefined : quiet.slice(0, longestSaid);
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
