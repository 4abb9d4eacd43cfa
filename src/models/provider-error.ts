/** What an error of a model call says about itself: status, the provider's codes and words, how long to wait. Pure. */
import { APICallError, StreamProviderError } from 'ai';
import { plainLine } from '../elicitation/plain-text.ts';
import { withoutKeys } from '../telemetry/redact-secrets.ts';
import type { BlamedTool } from './model-failure.ts';

export interface ErrorFacts {
  name: string;
  host?: string | undefined;
  status?: number | undefined;
  /** The provider's own error codes, lower case. */
  codes: string[];
  retryAfterMs?: number | undefined;
  /** The provider's own words, as far as they can be logged. */
  said?: string | undefined;
  blamedTool?: BlamedTool | undefined;
}

const longestRetryAfterMs = 60_000;

export function factsOf(error: unknown, now: number): ErrorFacts {
  const name = error instanceof Error ? error.name : 'Error';
  if (APICallError.isInstance(error)) {
    const answer = only(error.data ?? parsed(error.responseBody));
    const words = [paramIn(answer), messageIn(answer), error.responseBody].join(' ');
    return {
      name,
      host: URL.parse(error.url)?.host,
      // A 200 here means that the answer could not be read: no fault of the request.
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

/** Google's OpenAI-compatible address answers with a list. */
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
/** Longer than any name of a model or a parameter: it may be what somebody has written. */
const maxQuoteLength = 60;

/** On one line, without what looks like a key and without long quotations. */
function loggable(words: string): string | undefined {
  const short = plainLine(words.slice(0, 4 * maxLength));
  const quiet = withoutKeys(short).replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, (quote) =>
    quote.length > maxQuoteLength ? '"…"' : quote,
  );
  return quiet === '' ? undefined : quiet.slice(0, maxLength);
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
  return found === undefined ? undefined : Math.min(Math.max(found, 0), longestRetryAfterMs);
}
