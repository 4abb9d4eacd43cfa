/** For routes without a token, whose callers sign the raw body: Slack, Nango, and the pages of tools. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createAddressLimit } from '../../service/limits.ts';
import { ProblemError } from './problems.ts';

/** Per address and minute. */
const maxForged = 10;

/**
 * Keeps bodies of these types as bytes. Returns a function to call for each request whose signature is wrong: it throws
 * `rate_limited` if the address has sent too many.
 */
export function acceptSignedBodies(
  fastify: FastifyInstance,
  contentTypes: string | string[],
): (request: FastifyRequest) => void {
  const forged = createAddressLimit({ max: maxForged, words: 'Too many of your signatures were wrong.' });
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(contentTypes, { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  return ({ ip }) => {
    const refusal = forged.refusalOf(ip);
    if (refusal) throw refusal;
    forged.count(ip);
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
