/**
 * Only what Slack has signed comes through: the signature is over the bytes as they came, so bodies stay bytes here. What
 * is forged or too old is refused and enters the audit, and whoever goes on is not listened to for a while.
 */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ProblemError } from '../http/problems.ts';
import type { Service } from '../../service/service.ts';
import { verifySignature } from '../../slack/signature.ts';

interface Parts extends Pick<Service, 'now' | 'recordRefusal'> {
  signingSecret: string;
}

/** Slack's own are some kilobytes; forms with much text in them are more. */
export const bodyLimit = 1_000_000;
/** Of one address in a minute. */
const maxForged = 10;

export async function requireSignature(
  fastify: FastifyInstance,
  { signingSecret, now, recordRefusal }: Parts,
): Promise<void> {
  await fastify.register(rateLimit, { global: false });
  const forged = fastify.createRateLimit({ max: maxForged, timeWindow: 60_000 });
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(
    ['application/json', 'application/x-www-form-urlencoded'],
    { parseAs: 'buffer' },
    (_, body, done) => done(null, body),
  );
  fastify.addHook('preHandler', async (request) => {
    const { headers } = request;
    const verdict = verifySignature(
      signingSecret,
      {
        body: bytesOf(request),
        timestamp: headers['x-slack-request-timestamp'],
        signature: headers['x-slack-signature'],
      },
      now(),
    );
    if (verdict === 'signed') return;
    const counted = await forged(request);
    if (!counted.isAllowed && counted.isExceeded) {
      throw new ProblemError('rate_limited', 'Wait as long as Retry-After says, then try again.', {
        headers: { 'retry-after': String(counted.ttlInSeconds) },
      });
    }
    const detail =
      verdict === 'stale' ? 'an old request of Slack' : 'request of Slack with a wrong signature';
    // Whose workspace it claims to be of is nobody's word: it stands under no tenant.
    await recordRefusal({ tenant: '', elicitationId: '', actor: null, detail, address: request.ip });
    throw new ProblemError('unauthenticated', words[verdict]);
  });
}

const words = {
  stale: 'The request is more than five minutes old, or its clock is wrong.',
  forged: 'The signature is missing or wrong.',
};

/** The body as it came. */
function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

export function jsonOf(request: FastifyRequest): unknown {
  return jsonIn(bytesOf(request).toString('utf8'));
}

export function jsonIn(text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProblemError('invalid_request', 'The body cannot be read; send valid JSON.');
  }
}

export function formOf(request: FastifyRequest): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(bytesOf(request).toString('utf8')));
}
