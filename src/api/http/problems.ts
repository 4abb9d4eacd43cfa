/**
 * Every error the API answers with, as RFC 9457 problem documents. One table, stable codes; a code is never
 * reused for something else. `detail` is written for the person who reads it: it names the thing and the
 * remedy, never a token, an answer or a message.
 */
import type { z } from 'zod';
import { didYouMean } from '../../config/nearest-spelling.ts';
import { membersAt } from '../../config/problem-messages.ts';
import { isRecord, readPresent } from '../../elicitation/form/schema-keywords.ts';
import { ServiceError } from '../../service/service-error.ts';
import type { ServiceErrorCode } from '../../service/service-error.ts';
import { inputMessages, misspeltMembers, nearestIssues } from './input-messages.ts';

export const problems = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  unauthenticated: { status: 401, title: 'Sign in first' },
  forbidden: { status: 403, title: 'Not allowed' },
  cannot_act_for_users: { status: 403, title: 'This caller may not act for users' },
  person_required: { status: 403, title: 'Only the person can do this, signed in' },
  not_your_question: { status: 403, title: 'This question was asked of somebody else' },
  not_found: { status: 404, title: 'Not found' },
  unknown_agent: { status: 404, title: 'There is no such agent' },
  unknown_server: { status: 404, title: 'There is no such connection' },
  turn_not_found: { status: 404, title: 'There is no such turn' },
  conversation_not_found: { status: 404, title: 'There is no such conversation' },
  elicitation_not_found: { status: 404, title: 'There is no such question' },
  approval_not_found: { status: 404, title: 'There is no such approval' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  too_many_hops: { status: 409, title: 'The task was handed on too often' },
  turn_in_progress: { status: 409, title: 'The conversation is busy with a turn' },
  already_answered: { status: 409, title: 'The question has already been answered differently' },
  expired: { status: 410, title: 'The question has expired' },
  turn_cancelled: { status: 410, title: 'The turn ended before it had an answer' },
  turn_over: { status: 410, title: 'The turn that asked is over' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'This content type is not understood' },
  unknown_host: { status: 421, title: 'This is not the name of this service' },
  idempotency_key_reused: { status: 422, title: 'The Idempotency-Key belongs to another request' },
  images_not_taken: { status: 422, title: 'This agent takes no images' },
  message_id_reused: { status: 422, title: 'The message id belongs to another message' },
  invalid_content: { status: 422, title: 'The answer does not fit the question' },
  turn_failed: { status: 424, title: 'The turn failed' },
  turn_unfinished: { status: 424, title: 'The turn goes on, but its answer cannot be waited for here' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something went wrong on our side' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const satisfies Record<ServiceErrorCode, unknown> & Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** What is wrong with one field; `pointer` is a JSON pointer into the body (or query). */
export interface FieldError {
  pointer: string;
  detail: string;
}

export interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  code: ProblemCode;
  detail: string;
  errors?: FieldError[];
  [member: string]: unknown;
}

/** `members` are added to the document (`errors`, `turnId`, …), `headers` to the response. */
export interface ProblemExtra {
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
}

export class ProblemError extends Error {
  override name = 'ProblemError';
  readonly code: ProblemCode;
  readonly statusCode: number;
  readonly members: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(code: ProblemCode, detail: string, extra: ProblemExtra = {}) {
    super(detail, { cause: extra.cause });
    this.code = code;
    this.statusCode = problems[code].status;
    this.members = extra.members ?? {};
    this.headers = extra.headers ?? {};
  }

  toDocument(): ProblemDocument {
    const { status, title } = problems[this.code];
    const type = `urn:interlude:problem:${this.code}`;
    return { type, title, status, code: this.code, detail: this.message, ...this.members };
  }
}

/** Where in a request the parts of a use case's input stand, as JSON pointers; elsewhere, where their names say. */
export type Places = Record<string, string>;

/** What a use case refused, in HTTP. */
export function toProblem(
  { code, message, details, cause }: ServiceError,
  places: Places = {},
): ProblemError {
  if (code === 'unauthenticated') return unauthenticated(message, { reason: 'invalid_token' });
  const { issues, retryAfterMs, turnId, outcome } = details;
  const errors = issues?.map(({ path: [first, ...inner], detail }) => {
    const outer = first === undefined ? '' : (places[first] ?? toPointer([first]));
    return { pointer: outer + toPointer(inner), detail };
  });
  if (code === 'invalid_request' && errors) return invalidRequest(errors);
  return new ProblemError(code, message, {
    members: {
      ...(errors && { errors: firstOf(errors) }),
      ...(turnId !== undefined && { turnId }),
      ...(outcome && { outcome }),
    },
    headers: {
      ...(turnId !== undefined && { 'x-turn-id': turnId }),
      ...(retryAfterMs !== undefined && { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }),
    },
    cause,
  });
}

/** To `catch` the refusal of a use case with, where its input does not stand where its names say. */
export function standingAt(places: Places): (error: unknown) => never {
  return (error) => {
    throw error instanceof ServiceError ? toProblem(error, places) : error;
  };
}

interface Challenge {
  /** What was presented is no good; without it, nothing was presented (RFC 6750 §3.1). */
  reason?: 'invalid_token';
  /** Where clients read who issues tokens for this (RFC 9728 §5.1). */
  metadata?: string | undefined;
}

export function unauthenticated(detail: string, { reason, metadata }: Challenge = {}): ProblemError {
  const parameters = [
    ...(reason === undefined ? [] : [`error="${reason}"`]),
    ...(metadata === undefined ? [] : [`resource_metadata="${metadata}"`]),
  ];
  const challenge = ['Bearer', parameters.join(', ')].join(' ').trim();
  return new ProblemError('unauthenticated', detail, { headers: { 'www-authenticate': challenge } });
}

/**
 * Checks a body or query against its schema, where null may stand for a member that is left out; a mismatch is a 400 that
 * points at each wrong field. `at` is where the input stands in the request; it is the whole of it unless given.
 */
export function parseInput<T extends z.ZodType>(schema: T, input: unknown, at = ''): z.output<T> {
  const asSent = schema.safeParse(input);
  if (asSent.success) return asSent.data;
  const present = withoutRefusedNulls(input, asSent.error.issues.flatMap(nearestIssues));
  const parsed = schema.safeParse(present, { error: inputMessages });
  if (parsed.success) return parsed.data;
  throw invalidRequest(
    parsed.error.issues
      .flatMap(nearestIssues)
      .flatMap((issue) => toFieldErrors(issue, schema))
      .map(({ pointer, detail }) => ({ pointer: at + pointer, detail })),
  );
}

/** Only a schema tells null that is data, as in the content of an answer, from null that leaves a member out. */
function withoutRefusedNulls(input: unknown, issues: z.core.$ZodIssue[]): unknown {
  const copies = new Set<unknown>();
  const copyOf = (value: Members) => {
    if (copies.has(value)) return value;
    const copy = (Array.isArray(value) ? [...value] : { ...value }) as Members;
    copies.add(copy);
    return copy;
  };
  const valueAt = (root: unknown, path: PropertyKey[]) =>
    path.reduce<unknown>((at, key) => (at as Members | undefined)?.[key], root);
  let present = readPresent(input);
  for (const { path } of issues) {
    if (!isRecord(valueAt(present, path.slice(0, -1))) || valueAt(present, path) !== null) continue;
    let here = copyOf(present as Members);
    present = here;
    for (const key of path.slice(0, -1)) here = here[key] = copyOf(here[key] as Members);
    delete here[path.at(-1) as PropertyKey];
  }
  return present;
}

type Members = Record<PropertyKey, unknown>;

/** Refuses members that would have no effect, and are almost the name of one that would. */
export function refuseMisspelt(schema: z.ZodType, input: unknown): void {
  const errors = misspeltMembers(schema, input).map(({ name, meant }) => ({
    pointer: toPointer([name]),
    detail: `unknown (did you mean ${meant}?)`,
  }));
  if (errors.length > 0) throw invalidRequest(errors);
}

function toFieldErrors(issue: z.core.$ZodIssue, schema: z.ZodType): FieldError[] {
  if (issue.code !== 'unrecognized_keys') return [{ pointer: toPointer(issue.path), detail: issue.message }];
  const known = membersAt(schema, issue.path);
  return issue.keys.map((key) => ({
    pointer: toPointer([...issue.path, key]),
    detail:
      key === 'messages'
        ? 'unknown here; messages go to POST /run/api/chat'
        : `unknown${didYouMean(key, known)}; leave it out`,
  }));
}

export function invalidRequest(errors: FieldError[]): ProblemError {
  const [first] = errors;
  const rest = errors.length > 1 ? ` (and ${errors.length - 1} more; see errors)` : '';
  const detail = first
    ? `${first.pointer || 'the body'}: ${first.detail}${rest}`
    : 'The request is malformed.';
  return new ProblemError('invalid_request', detail, { members: { errors: firstOf(errors) } });
}

/** Enough to see what is wrong: the answer to a body of nothing but mistakes would be much larger than the body. */
function firstOf(errors: FieldError[]): FieldError[] {
  return errors.slice(0, 50);
}

/** RFC 6901; the whole document is the empty pointer. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
