/**
 * A program that answers over HTTP. It gets `{tool, arguments, round, requestState?, inputRequests}` and returns
 * `{inputResponses}`: a map as on the wire, or a list of `{id, value}`. Any failure ends the call with a sentence about
 * it, and nothing is sent to the server.
 */
import { z } from 'zod';
import { SourceError } from './source.ts';
import type { Answer, AnswerSource, Question, Round } from './source.ts';

export interface ResponderOptions {
  headers?: Record<string, string>;
  /** 30,000 by default. */
  timeoutMs?: number;
  name?: string;
}

const longestReply = 1024 * 1024;

const given = z.union([
  z.strictObject({
    action: z.enum(['accept', 'decline', 'cancel']),
    content: z.record(z.string(), z.unknown()).optional(),
  }),
  /** The next source is asked. */
  z.null(),
]);
const replySchema = z.looseObject({
  inputResponses: z.union([z.record(z.string(), z.unknown()), z.array(z.looseObject({ id: z.string() }))]),
});

/** Throws `TypeError` for an invalid address at once. */
export function responder(address: string | URL, options: ResponderOptions = {}): AnswerSource {
  const url = URL.parse(address);
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new TypeError(`${String(address)} is no http or https address of a responder.`);
  if (url.username || url.password)
    throw new TypeError('The address of a responder must hold no credentials; send them in a header.');
  const name = options.name ?? `responder ${url.host}`;
  return {
    name,
    kind: 'program',
    async answer(round, { signal }) {
      const text = await post(url, round, { ...options, name, signal });
      return readReply(text, round.questions, name);
    },
  };
}

interface Posting extends ResponderOptions {
  name: string;
  signal: AbortSignal;
}

async function post(
  url: URL,
  round: Round,
  { headers, timeoutMs = 30_000, name, signal }: Posting,
): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const fail = (why: string, cause?: unknown) => new SourceError(`The ${name} ${why}.`, { cause });
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(toBody(round)),
      // The questions and headers are for this address only.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw fail(`answered with HTTP ${response.status}`);
    }
    const text = await readText(response, longestReply);
    if (text === null) throw fail(`answered with more than ${longestReply} bytes`);
    return text;
  } catch (error) {
    if (error instanceof SourceError) throw error;
    signal.throwIfAborted();
    throw timeout.aborted
      ? fail(`did not answer within ${timeoutMs / 1_000} s`, error)
      : fail('cannot be reached', error);
  }
}

/** Null for a longer one, which is not read to its end. */
async function readText({ body }: Response, most: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function toBody({ tool, arguments: input, round, requestState, questions, server }: Round): object {
  return {
    tool,
    arguments: input,
    round,
    ...(server !== undefined && { server }),
    ...(requestState !== undefined && { requestState }),
    inputRequests: Object.fromEntries(
      questions.map(({ key, request }) => [key, { method: 'elicitation/create', params: request }]),
    ),
  };
}

async function readReply(
  text: string,
  questions: readonly Question[],
  name: string,
): Promise<Map<string, Answer>> {
  const fail = (why: string, cause?: unknown) => new SourceError(`The ${name} ${why}.`, { cause });
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch (cause) {
    throw fail('did not answer with JSON', cause);
  }
  const { data } = replySchema.safeParse(reply);
  if (!data) throw fail('answered without inputResponses, a map or a list');
  const twice = Array.isArray(data.inputResponses)
    ? doubled(data.inputResponses.map(({ id }) => id))
    : await doubledKey(text);
  if (twice !== undefined) throw fail(`answers "${twice}" twice`);
  const entries: [string, unknown][] = Array.isArray(data.inputResponses)
    ? data.inputResponses.map(({ id, ...rest }) => [
        id,
        'value' in rest ? byValue(questions, id, rest['value'], fail) : rest,
      ])
    : Object.entries(data.inputResponses);
  const known = new Set(questions.map(({ key }) => key));
  const unknown = entries.find(([key]) => !known.has(key))?.[0];
  if (unknown !== undefined) throw fail(`answers "${unknown}", which was not asked`);
  const answered = new Map(entries);
  const missing = questions.find(({ key }) => !answered.has(key));
  if (missing) throw fail(`leaves out "${missing.key}"; where it does not know an answer it says null`);
  const answers = new Map<string, Answer>();
  for (const [key, value] of entries) {
    const read = given.safeParse(value);
    if (!read.success) throw fail(`answers "${key}" with something that has no action, or an unknown one`);
    if (read.data)
      answers.set(key, {
        action: read.data.action,
        ...(read.data.content && { content: read.data.content }),
      });
  }
  return answers;
}

/** The answer that `{id, value}` means: a value for the only field of the form. */
function byValue(
  questions: readonly Question[],
  id: string,
  value: unknown,
  fail: (why: string) => Error,
): unknown {
  const question = questions.find(({ key }) => key === id);
  if (!question || question.request.mode === 'url') return { action: value === false ? 'decline' : 'accept' };
  const [only, ...others] = question.fields;
  if (!only || others.length > 0)
    throw fail(`answers "${id}" with a single value, and the form has ${question.fields.length} fields`);
  return { action: 'accept', content: { [only.name]: value } };
}

function doubled(ids: readonly string[]): string | undefined {
  return ids.find((id, at) => ids.indexOf(id) !== at);
}

/** JSON's parser silently takes the last of equal members. */
async function doubledKey(text: string): Promise<string | undefined> {
  const { parseDocument } = await import('yaml');
  const error = parseDocument(text, { uniqueKeys: true }).errors.find(({ code }) => code === 'DUPLICATE_KEY');
  if (!error) return undefined;
  return /^\s*"((?:[^"\\]|\\.)*)"/.exec(text.slice(error.pos[0]))?.[1] ?? 'a question';
}
