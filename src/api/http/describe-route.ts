/**
 * The OpenAPI description of a route, beside the schemas that check its input. Routes without one are pages and not part of the
 * contract.
 */
import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import { ProblemSchema } from '@interlude-ai/core/contract/http.ts';
import { problems as table } from './problems.ts';
import type { ProblemCode } from './problems.ts';

interface Description {
  tag:
    | 'chat'
    | 'openai'
    | 'ag-ui'
    | 'conversations'
    | 'elicitations'
    | 'connections'
    | 'operators'
    | 'service';
  /** The name in generated clients. Never renamed. */
  id: string;
  summary: string;
  description?: string;
  /** By status. */
  response: Record<number, Response>;
  /** Besides those of every route. */
  problems?: ProblemCode[];
  /** Its responses have the headers of `nameTurn`. */
  namesTurn?: boolean;
  /** Needs no principal. */
  isPublic?: boolean;
}

type Response = z.ZodNull | Content;

interface Content {
  description: string;
  content: Record<string, { schema: z.ZodType }>;
}

/** Every route that needs a principal may answer with these. */
const everywhere: ProblemCode[] = [
  'invalid_request',
  'version_mismatch',
  'unauthenticated',
  'cannot_act_for_users',
  'unknown_host',
  'rate_limited',
  'internal',
  'unavailable',
];

export const problemsOf = {
  takingABody: ['body_too_large', 'unsupported_media_type'],
  startingATurn: [
    'unknown_agent',
    'conversation_not_found',
    'turn_in_progress',
    'idempotency_key_reused',
    'message_id_reused',
    'images_not_taken',
  ],
  answering: [
    'not_your_question',
    'person_required',
    'elicitation_not_found',
    'already_answered',
    'expired',
    'turn_over',
    'idempotency_key_reused',
    'invalid_content',
  ],
} as const satisfies Record<string, ProblemCode[]>;

const text = { type: 'string' };
const turnHeaders = {
  'x-turn-id': { ...text, description: 'The turn that the response is about' },
  'x-conversation-id': { ...text, description: 'Its conversation' },
};
const retryAfter = { 'retry-after': { type: 'integer', description: 'Seconds to wait before trying again' } };
const challenge = { 'www-authenticate': { ...text, description: 'What is missing or wrong (RFC 6750)' } };

export function describeRoute(description: Description): FastifySchema {
  const { tag, id, summary, response, problems = [], namesTurn = false, isPublic = false } = description;
  const codes = new Set([...(isPublic ? [] : everywhere), ...problems]);
  return {
    tags: [tag],
    operationId: id,
    summary,
    ...(description.description !== undefined && { description: description.description }),
    ...(isPublic && { security: [] }),
    response: { ...responses(response, namesTurn), ...problemResponses(codes) },
  };
}

export function json(description: string, schema: z.ZodType): Content {
  return { description, content: { 'application/json': { schema } } };
}

/** `data`: schema of each event; it needs an id. */
export function eventStream(description: string, data: z.ZodType): Content {
  // OpenAPI 3.1 cannot describe the events of a stream.
  const schema = z.string().meta({ 'x-event-data': toReference(data) });
  return { description, content: { 'text/event-stream': { schema } } };
}

/** A JSON object per line. */
export function lines(description: string): Content {
  return { description, content: { 'application/x-ndjson': { schema: z.string() } } };
}

/** One status, several content types. */
export function either(...contents: Content[]): Content {
  return {
    description: contents.map(({ description }) => description).join('. '),
    content: Object.assign({}, ...contents.map(({ content }) => content)),
  };
}

export function nothing(description: string): z.ZodNull {
  return z.null().describe(description);
}

function toReference(schema: z.ZodType): { $ref: string } {
  const id = schema.meta()?.id;
  if (id === undefined) throw new Error('only a schema with an id can be referred to');
  return { $ref: `#/components/schemas/${id}` };
}

function responses(response: Record<number, Response>, namesTurn: boolean): Record<string, unknown> {
  if (!namesTurn) return response;
  return Object.fromEntries(
    Object.entries(response).map(([status, given]) => [
      status,
      'content' in given ? { ...given, headers: turnHeaders } : given,
    ]),
  );
}

function problemResponses(codes: Set<ProblemCode>): Record<string, unknown> {
  const byStatus = Object.groupBy(codes, (code) => table[code].status);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, those]) => [
      status,
      {
        description: those.map((code) => `\`${code}\`: ${table[code].title}`).join('. '),
        headers: Object.assign({}, ...those.map(headersOf)),
        content: { 'application/problem+json': { schema: ProblemSchema } },
      },
    ]),
  );
}

function headersOf(code: ProblemCode): object {
  switch (code) {
    case 'unauthenticated':
      return challenge;
    case 'rate_limited':
    case 'unavailable':
      return retryAfter;
    case 'turn_in_progress':
      return { 'x-turn-id': turnHeaders['x-turn-id'], ...retryAfter };
    default:
      return {};
  }
}
