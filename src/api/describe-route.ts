/** What the OpenAPI document says about a route, beside the schemas that check what comes in. */
import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import { ProblemSchema } from '../contract/problem.ts';

interface Description {
  tag: 'chat' | 'openai' | 'conversations' | 'elicitations' | 'service';
  summary: string;
  description?: string;
  /** By status: a schema for JSON, `eventStream(…)`, or `nothing(…)`. */
  response: Record<number, unknown>;
  /** Statuses of the problem documents that this route has of its own. */
  problems?: number[];
}

/** Any route that needs a principal may answer with these. */
const everywhere = [400, 401, 429, 503];

export function describeRoute({
  tag,
  summary,
  description,
  response,
  problems = [],
}: Description): FastifySchema {
  const errors = [...everywhere, ...problems].map((status) => [status, problem] as const);
  return {
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    response: { ...Object.fromEntries(errors), ...response },
  };
}

export function eventStream(description: string) {
  return { description, content: { 'text/event-stream': { schema: z.string() } } };
}

export function nothing(description: string) {
  return z.null().describe(description);
}

const problem = {
  description: 'A problem document',
  content: { 'application/problem+json': { schema: ProblemSchema } },
};
