/** For routes without a token, whose callers sign the raw body: Slack, Nango, and the pages of tools. */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ProblemError, rateLimited } from './problems.ts';

/** Per address and minute. */
const maxForged = 10;

/**
 * Keeps bodies of these types as bytes. Returns a function to call for each request whose signature is wrong: it throws
 * `rate_limited` if the address has sent too many.
 */
export async function acceptSignedBodies(
  fastify: FastifyInstance,
  contentTypes: string | string[],
): Promise<(request: FastifyRequest) => Promise<void>> {
  await fastify.register(rateLimit, { global: false });
  const forged = fastify.createRateLimit({ max: maxForged, timeWindow: 60_000 });
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(contentTypes, { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  return async (request) => {
    const counted = await forged(request);
    if (!counted.isAllowed && counted.isExceeded) throw rateLimited(counted.ttlInSeconds);
  };
}

export function rawBodyOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProblemError('invalid_request', 'The body cannot be read; send valid JSON.');
  }
}
