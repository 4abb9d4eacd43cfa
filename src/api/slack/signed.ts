/**
 * Accepts only requests that Slack signed. The signature covers the raw body, so bodies stay bytes here. Forged and old requests
 * are refused and audited; an address that sends many is refused without auditing.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Service } from '../../service/service.ts';
import { ProblemError } from '../http/problems.ts';
import { acceptSignedBodies, parseJson, rawBodyOf } from '../http/signed-requests.ts';

/** Most requests are a few kilobytes; forms with long texts are larger. */
export const bodyLimit = 1_000_000;

export async function requireSignature(
  fastify: FastifyInstance,
  { now, recordRefusal }: Service,
  signingSecret: string,
): Promise<void> {
  const types = ['application/json', 'application/x-www-form-urlencoded'];
  const refuseTooMany = acceptSignedBodies(fastify, types);
  fastify.addHook('preHandler', async (request) => {
    const { headers } = request;
    const verdict = verifySignature(
      signingSecret,
      {
        body: rawBodyOf(request),
        timestamp: headers['x-slack-request-timestamp'],
        signature: headers['x-slack-signature'],
      },
      now(),
    );
    if (verdict === 'signed') return;
    refuseTooMany(request);
    const detail =
      verdict === 'stale' ? 'an old request of Slack' : 'request of Slack with a wrong signature';
    request.log.warn(
      { address: request.ip },
      `${detail}; if it is Slack's own, SLACK_SIGNING_SECRET is wrong`,
    );
    // The workspace that it names is unverified, so it is audited without a tenant.
    await recordRefusal({ tenant: '', elicitationId: '', actor: null, detail, address: request.ip });
    throw new ProblemError('unauthenticated', words[verdict]);
  });
}

const words = {
  stale: 'The request is more than five minutes old, or its clock is wrong.',
  forged: 'The signature is missing or wrong.',
};

export function jsonOf(request: FastifyRequest): unknown {
  return parseJson(rawBodyOf(request).toString('utf8'));
}

export function formOf(request: FastifyRequest): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(rawBodyOf(request).toString('utf8')));
}

interface SignedRequest {
  body: Buffer;
  /** The headers `x-slack-request-timestamp` and `x-slack-signature`, unchecked. */
  timestamp: unknown;
  signature: unknown;
}

/** An older request may be a replay. */
const freshSeconds = 5 * 60;

/** Slack signs the raw body and the time of sending. */
export function verifySignature(
  secret: string,
  { body, timestamp, signature }: SignedRequest,
  now: number,
): 'signed' | 'stale' | 'forged' {
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return 'forged';
  if (typeof signature !== 'string' || !/^v0=[0-9a-f]{64}$/.test(signature)) return 'forged';
  const expected = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest();
  if (!timingSafeEqual(expected, Buffer.from(signature.slice('v0='.length), 'hex'))) return 'forged';
  return Math.abs(now / 1000 - Number(timestamp)) > freshSeconds ? 'stale' : 'signed';
}
