/**
 * `/webhooks/nango`: Nango reports a new connection. It can be replayed, so it is only a hint: it is answered at once, and then
 * Nango is asked.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { readPresent } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { CredentialStoreError } from '../../service/accounts.ts';
import type { NangoAttempts } from '../../service/nango-attempts.ts';
import type { RecordRefusal } from '../../service/authenticate.ts';
import { ProblemError } from '../http/problems.ts';
import { acceptSignedBodies, parseJson, rawBodyOf } from '../http/signed-requests.ts';
import { parseInput } from '../http/validation.ts';
import { takeHints } from './hints.ts';

interface NangoWebhookParts {
  attempts: Pick<NangoAttempts, 'attemptIn' | 'confirm' | 'discard'>;
  signingKey: string;
  recordRefusal: RecordRefusal;
  logger: Logger;
}

/** Nango's own webhooks are a few kilobytes; forwarded ones of providers are not for us. */
const bodyLimit = 256_000;

const name = z.string().min(1).max(255);
const webhookSchema = z.union([
  z.object({
    type: z.literal('auth'),
    operation: z.string(),
    success: z.boolean(),
    connectionId: name,
    providerConfigKey: name,
    tags: z.preprocess((tags) => readPresent(tags ?? {}), z.record(z.string(), z.string())),
    error: z.object({ type: z.string().nullish() }).nullish(),
  }),
  // Webhooks of syncs and the like.
  z.object({ type: z.string().refine((type) => type !== 'auth') }),
]);

interface Hint {
  attempt: string;
  integration: string;
  connectionId: string;
}

/** A Fastify plugin: `fastify.register(nangoWebhook, parts)`. */
export async function nangoWebhook(fastify: FastifyInstance, parts: NangoWebhookParts): Promise<void> {
  const { attempts, signingKey, recordRefusal, logger } = parts;
  const hints = takeHints<Hint>({
    async work({ attempt, integration, connectionId }) {
      const { kind } = await attempts.confirm(attempt, connectionId, null);
      // The person disconnected meanwhile or was too late: nothing would ever use or end the connection.
      if (kind === 'unknown-attempt') await attempts.discard(integration, connectionId);
    },
    failed({ connectionId }, error) {
      const why = error instanceof CredentialStoreError ? { reason: error.message } : { err: error };
      logger.warn(
        { connectionId, ...why },
        'a webhook of Nango could not be followed; polling finds the connection',
      );
    },
    dropped: ({ connectionId }) =>
      logger.warn({ connectionId }, 'too many webhooks of Nango at once; polling finds the connection'),
  });
  fastify.addHook('onClose', () => hints.close());

  const refuseTooMany = acceptSignedBodies(fastify, 'application/json');

  fastify.post('/webhooks/nango', { bodyLimit }, async (request, reply) => {
    const body = rawBodyOf(request);
    if (!isSignedBy(signingKey, body, request.headers['x-nango-hmac-sha256'])) {
      refuseTooMany(request);
      logger.warn(
        { address: request.ip },
        "a webhook with a wrong signature; if it is Nango's own, NANGO_WEBHOOK_SIGNING_KEY is wrong",
      );
      await auditForgery(request.ip);
      throw new ProblemError('unauthenticated', 'The signature is missing or wrong.');
    }
    follow(parseInput(webhookSchema, parseJson(body.toString('utf8'))));
    return reply.code(200).send();
  });

  function follow(webhook: z.infer<typeof webhookSchema>): void {
    if (!('connectionId' in webhook)) return;
    const { operation, success, connectionId, providerConfigKey: integration, tags, error } = webhook;
    const attempt = attempts.attemptIn(tags);
    if (success && attempt !== null)
      hints.give(`${attempt} ${connectionId}`, { attempt, integration, connectionId });
    else
      logger.info(
        { operation, success, connectionId, integration, error: error?.type ?? undefined },
        'a webhook of Nango',
      );
  }

  /** The tenant that it names is unverified, so it is audited without one. */
  function auditForgery(address: string): Promise<void> {
    const detail = 'webhook of Nango with a wrong signature';
    return recordRefusal({ tenant: '', elicitationId: '', actor: null, detail, address });
  }
}

/** Checks Nango's HMAC over the raw bytes. Its older signature, a plain hash, is not accepted. */
export function isSignedBy(signingKey: string, body: Buffer, signature: unknown): boolean {
  if (typeof signature !== 'string' || !/^[0-9a-f]{64}$/i.test(signature)) return false;
  const expected = createHmac('sha256', signingKey).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
