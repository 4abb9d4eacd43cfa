/**
 * Failed model calls: what the provider's error says, the class of the failure, and what to do about it. There are two messages:
 * the one for the user, which is stored in workflow history, says what they can do; the one for the operator names the model, its
 * host, the provider's words and the remedy. Pure.
 */
import { APICallError, StreamProviderError } from 'ai';
import { ModelConfigError } from './provider.ts';
import { plainLine } from '@interlude-ai/core/elicitation/plain-text.ts';
import { turnFailureInWords } from '../turn/for-person.ts';
import type { CodedFailure } from '../turn/turn-failure.ts';
import { withoutKeys } from '../platform/telemetry/redact-secrets.ts';

export interface ModelFailure {
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
  /** Of an empty answer: the model used up its tokens. */
  isOutOfRoom?: true;
  /** For the user. */
  message: string;
  /** For the operator: names the model, its host, a status and the remedy. */
  forOperator: string;
  /** The provider's message, reduced to what may be logged: it may repeat the key or the prompt. */
  said?: string;
  /** Whether the same call may succeed later. */
  retry: boolean;
  /** How long the provider asked us to wait, in milliseconds. */
  retryAfterMs?: number;
  status?: number;
  /** The provider rejected the content of the request. Leaving something out may help. */
  rejection?: { tool?: BlamedTool | undefined };
}

/** The tool that a provider names, by name or by index in the request. */
export type BlamedTool = { name: string } | { index: number };

export interface ModelIdentity {
  /** As in the agents file: `openai:…`. */
  spec: string;
  /** The environment variable with the key, if there is one. */
  keyVariable: string | null;
}

/** The model stopped in the middle of its answer, or never began. */
export class ModelStalledError extends Error {
  override name = 'ModelStalledError';
}

/**
 * The failure for an answer without text and calls. A retry does not help when the model ran out of tokens; otherwise it
 * may.
 */
export function emptyAnswer(finish: string, { spec }: ModelIdentity): ModelFailure {
  if (finish === 'content-filter') {
    const forOperator = `The model ${spec} declined to answer because of its content policy.`;
    return {
      type: 'ModelContentPolicy',
      message: turnFailureInWords({ code: 'ModelContentPolicy' }),
      forOperator,
      retry: false,
    };
  }
  if (finish === 'length') {
    const message = turnFailureInWords({ code: 'ModelEmptyAnswer', isOutOfRoom: true });
    const forOperator = `The model ${spec} ran out of room before it said anything. Give the agent more modelSettings.maxOutputTokens, or less to think about.`;
    return { type: 'ModelEmptyAnswer', isOutOfRoom: true, message, forOperator, retry: false };
  }
  return {
    type: 'ModelEmptyAnswer',
    message: turnFailureInWords({ code: 'ModelEmptyAnswer' }),
    forOperator: `The model ${spec} answered with nothing (${finish}).`,
    retry: true,
    retryAfterMs: 250,
  };
}

export function classifyModelError(error: unknown, model: ModelIdentity, now = Date.now()): ModelFailure {
  if (error instanceof ModelConfigError) {
    return {
      type: 'ModelMisconfigured',
      message: turnFailureInWords({ code: 'ModelMisconfigured' }),
      forOperator: error.message,
      retry: false,
    };
  }
  const facts = factsOf(error, now);
  const at = facts.host === undefined ? '' : ` at ${facts.host}`;
  const code = facts.status === undefined ? '' : ` (${facts.status})`;
  const subject = `The model ${model.spec}${at}`;
  const failure = (type: ModelFailure['type'], retry: boolean, forOperator: string): ModelFailure => {
    const coded: CodedFailure = { code: type };
    return {
      type,
      message: turnFailureInWords(coded),
      forOperator,
      retry,
      ...(facts.said !== undefined && { said: facts.said }),
      ...(retry && facts.retryAfterMs !== undefined && { retryAfterMs: facts.retryAfterMs }),
      ...(facts.status !== undefined && { status: facts.status }),
    };
  };

  switch (causeOf(facts)) {
    case 'quota':
      return failure(
        'ModelQuotaExhausted',
        false,
        `${subject} refused the call${code}: its quota is used up. Check plan and billing there.`,
      );
    case 'rate':
      return failure(
        'ModelRateLimited',
        true,
        `${subject} is rate-limited${code}. Ask the provider for a higher limit if it happens often.`,
      );
    case 'key': {
      const remedy =
        model.keyVariable === null
          ? 'Configure apiKeyEnv for its provider.'
          : `Check the key in ${model.keyVariable}.`;
      return failure('ModelUnauthorized', false, `${subject} refused our key${code}. ${remedy}`);
    }
    case 'policy':
      return failure(
        'ModelContentPolicy',
        false,
        `${subject} declined to answer because of its content policy${code}.`,
      );
    case 'length':
      return {
        ...failure('ModelContextTooLong', false, `A conversation is too long for ${model.spec}${code}.`),
        // 413 means too many bytes, which are files rather than text.
        ...(facts.status === 413 && { rejection: {} }),
      };
    case 'unknown-model':
      return failure(
        'ModelRefusedRequest',
        false,
        `${subject} does not exist there${code}. Check the model's name and the provider's baseURL in the agents file.`,
      );
    case 'refused':
      return {
        ...failure(
          'ModelRefusedRequest',
          false,
          `${subject} did not accept the request${code}. ${remedyFor(facts)}`,
        ),
        rejection: { tool: facts.blamedTool },
      };
    case 'stalled':
      return failure('ModelUnavailable', true, `${subject} stopped answering.`);
    case 'unavailable':
      return failure(
        'ModelUnavailable',
        true,
        `${subject} cannot be reached or is out of order${code}. Check the network, that it runs, and the provider's baseURL in the agents file.`,
      );
  }
}

function remedyFor({ said, blamedTool }: ErrorFacts): string {
  if (blamedTool) return 'Correct the tool that it names, or leave it out of the agents file.';
  return said === undefined
    ? "Check that it supports tools and streaming, and the agent's modelSettings."
    : "Compare what it says with the agent's modelSettings and tools.";
}

function causeOf({ name, status, codes, said = '', blamedTool }: ErrorFacts) {
  const says = (pattern: RegExp) => codes.some((code) => pattern.test(code));
  if (name === 'ModelStalledError') return 'stalled';
  if (status === 402 || says(/insufficient_quota|billing/)) return 'quota';
  if (says(/content_filter|content_policy|responsible_?ai/)) return 'policy';
  if (status === 413 || says(/context_length|request_too_large/)) return 'length';
  if (!blamedTool && (says(/string_above_max/) || (status !== 429 && isTooLong(said)))) return 'length';
  if (status === 429 || says(/rate_limit/)) return 'rate';
  // Regardless of the status: some providers and gateways answer 4xx while they are out of order.
  if (
    says(
      /^(overloaded(_error)?|server_error|internal_(server_)?error|(temporarily|service)_unavailable|timeout(_error)?)$/,
    )
  )
    return 'unavailable';
  if (status === 401 || status === 403 || says(/authentication|permission|invalid_api_key/)) return 'key';
  if (name === 'AI_LoadAPIKeyError') return 'key';
  const isRedirect = status !== undefined && status >= 300 && status < 400;
  if (status === 404 || isRedirect || says(/model_not_found/) || name === 'AI_NoSuchModelError')
    return 'unknown-model';
  if (status !== undefined && status >= 400 && status < 500 && ![408, 409, 425].includes(status))
    return 'refused';
  if (says(/invalid_request/) || requestErrors.has(name)) return 'refused';
  return 'unavailable';
}

/** For providers without a code for it: Anthropic, vLLM, llama.cpp, Ollama. */
function isTooLong(said: string): boolean {
  return /prompt is too long|context (length|size|window)|maximum (context|number of (input )?tokens)/i.test(
    said,
  );
}

/** Errors of the SDK before it sends a request. */
const requestErrors = new Set([
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
  'AI_MessageConversionError',
  'AI_MissingToolResultsError',
  'AI_UnsupportedFunctionalityError',
]);

interface ErrorFacts {
  name: string;
  host?: string | undefined;
  status?: number | undefined;
  /** The provider's error codes, in lower case. */
  codes: string[];
  retryAfterMs?: number | undefined;
  /** The provider's message, reduced to what may be logged. */
  said?: string | undefined;
  blamedTool?: BlamedTool | undefined;
}

const longestRetryAfterMs = 60_000;

function factsOf(error: unknown, now: number): ErrorFacts {
  const name = error instanceof Error ? error.name : 'Error';
  if (APICallError.isInstance(error)) {
    const answer = only(error.data ?? parsed(error.responseBody));
    const words = [paramIn(answer), messageIn(answer), error.responseBody].join(' ');
    return {
      name,
      host: URL.parse(error.url)?.host,
      // A 200 here means that the answer could not be read, which is not a fault of the request.
      status: error.statusCode === 200 ? undefined : error.statusCode,
      codes: codesIn(answer),
      said: loggable(messageIn(answer) ?? error.message),
      retryAfterMs: retryAfter(error.responseHeaders ?? {}, now),
      blamedTool: blamedTool(words),
    };
  }
  if (StreamProviderError.isInstance(error)) {
    const codes = [error.type, error.code].flatMap((code) =>
      typeof code === 'string' ? code.toLowerCase() : [],
    );
    const said = loggable(error.message);
    const blamed = blamedTool(error.message);
    return {
      name,
      status: error.statusCode,
      codes: [...codes, ...codesIn(error.data)],
      said,
      blamedTool: blamed,
    };
  }
  return { name, codes: [], said: error instanceof Error ? loggable(error.message) : undefined };
}

/** Google's OpenAI-compatible endpoint answers with a list. */
function only(body: unknown): unknown {
  return Array.isArray(body) ? body[0] : body;
}

function paramIn(body: unknown): string {
  if (typeof body !== 'object' || body === null) return '';
  const { error, param } = body as Record<string, unknown>;
  return typeof param === 'string' ? param : paramIn(error);
}

/**
 * OpenAI: `Invalid schema for function 'name'`, `tools[3].function.parameters`; Anthropic: `tools.3.custom.input_schema`;
 * Google: `tools[0].function_declarations[3].parameters`. Gateways quote them.
 */
function blamedTool(words: string): BlamedTool | undefined {
  const [, name] = /\b(?:function|tool)(?: name)? \\?['"`]([a-zA-Z0-9_.-]{1,128})\\?['"`]/.exec(words) ?? [];
  if (name !== undefined) return { name };
  const place = /\btools(?:\[0\]\.function_?[dD]eclarations)?(?:\.|\[)(\d{1,4})\b/.exec(words);
  return place ? { index: Number(place[1]) } : undefined;
}

function messageIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { error, message } = body as Record<string, unknown>;
  return typeof message === 'string' ? message : typeof error === 'string' ? error : messageIn(error);
}

const maxLength = 300;
/** Longer than any name of a model or parameter: it may quote the prompt. */
const maxQuoteLength = 60;

/** On one line, without long quotations and anything that looks like a key. */
function loggable(words: string): string | undefined {
  const short = plainLine(words.slice(0, 4 * maxLength));
  const quiet = withoutKeys(short).replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, (quote) =>
    quote.length > maxQuoteLength ? '"…"' : quote,
  );
  return quiet === '' ? undefined : quiet.slice(0, maxLength);
}

/** `code` and `type` of an OpenAI or Anthropic error body, or of the error object in a stream. */
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
  return found === undefined ? undefined : Math.min(Math.max(found, 0), longestRetryAfterMs);
}
