/**
 * `/webhooks/nango`: Nango says that somebody has connected. No more than a hint, as it can be sent again by whoever
 * overheard it: it is answered at once, and then Nango is asked.
 */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { readPresent } from '../../elicitation/form/schema-keywords.ts';
import { parseInput, ProblemError } from '../http/problems.ts';
import { CredentialStoreError } from '../../service/accounts.ts';
import type { NangoAttempts } from '../../service/nango-attempts.ts';
import type { RecordRefusal } from '../../service/record-refusal.ts';
import { takeHints } from './hints.ts';
import { isSignedBy } from './signature.ts';

export interface NangoWebhookParts {
  attempts: Pick<NangoAttempts, 'attemptIn' | 'confirm' | 'discard'>;
  signingKey: string;
  recordRefusal: RecordRefusal;
  logger: Logger;
}

/** Nango's own are some kilobytes; what it passes on from providers is none of ours. */
const bodyLimit = 256_000;
/** Of one address in a minute, before it is not listened to any more. */
const maxForged = 10;

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
  // Of syncs and the like.
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
      // Whoever began it has disconnected since, or was too late: nobody would ever use or end it.
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

  await fastify.register(rateLimit, { global: false });
  const forged = fastify.createRateLimit({ max: maxForged, timeWindow: 60_000 });
  fastify.removeAllContentTypeParsers();
  // The signature is over the bytes as they came.
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) =>
    done(null, body),
  );

  fastify.post('/webhooks/nango', { bodyLimit }, async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    if (!isSignedBy(signingKey, body, request.headers['x-nango-hmac-sha256'])) {
      const counted = await forged(request);
      if (!counted.isAllowed && counted.isExceeded) {
        const headers = { 'retry-after': String(counted.ttlInSeconds) };
        throw new ProblemError('rate_limited', 'Wait as long as Retry-After says, then try again.', {
          headers,
        });
      }
      await auditForgery(request.ip);
      throw new ProblemError('unauthenticated', 'The signature is missing or wrong.');
    }
    follow(parseInput(webhookSchema, read(body)));
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

  /** Whose connection it claimed to be about is nobody's word: it stands under no tenant. */
  function auditForgery(address: string): Promise<void> {
    const detail = 'webhook of Nango with a wrong signature';
    return recordRefusal({ tenant: '', elicitationId: '', actor: null, detail, address });
  }
}

function read(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new ProblemError('invalid_request', 'The body cannot be read; send valid JSON.');
  }
}
