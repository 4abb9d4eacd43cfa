/**
 * `POST /run/v1/elicitations/{id}/complete`: a page to which a tool has sent the user says that it is done. It has no
 * token; its signature over time, question and body says who it is.
 */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ElicitationReceiptSchema } from '../../contract/elicitation-response.ts';
import { ElicitationIdSchema } from '../../contract/ids.ts';
import type { Service } from '../../service/service.ts';
import { describeRoute, json } from '../http/describe-route.ts';
import { ProblemError } from '../http/problems.ts';
import { toReceipt } from '../http/receipt.ts';
import { withSchemas } from '../http/validation.ts';

/** Whatever the page has to say, it says to its own tool's activities. */
const bodyLimit = 64_000;
const ParamsSchema = z.object({
  elicitation: ElicitationIdSchema.meta({
    description: 'The question that sent the user to the page; the page has it from its own address',
    examples: ['0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90'],
  }),
});

/** Optional here, because a missing signature is refused as a wrong one is. */
const SignatureHeadersSchema = z.looseObject({
  'interlude-signature': z
    .string()
    .optional()
    .meta({
      examples: ['t=1790000000,v1=2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881'],
      description:
        '`t=<epoch seconds>,v1=<hex>`: HMAC-SHA256 over `<t>.<elicitation>.<body>`; counts for five minutes. `signCompletion` of `interlude/tools` makes it',
    }),
});
/** Of one address in a minute, before it is not listened to any more. */
const maxForged = 10;

/** A Fastify plugin: `fastify.register(toolPages, service)`. */
export async function toolPages(
  fastify: FastifyInstance,
  { completePage }: Pick<Service, 'completePage'>,
): Promise<void> {
  await fastify.register(rateLimit, { global: false });
  const forged = fastify.createRateLimit({ max: maxForged, timeWindow: 60_000 });
  fastify.removeAllContentTypeParsers();
  // The signature is over the bytes as they came.
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));

  const complete = describeRoute({
    tag: 'elicitations',
    id: 'completeElicitation',
    summary: 'Report that the page of a tool is done',
    description:
      'For the server of a page to which a tool in TypeScript has sent its user. It has no token: the header signs time, question and body with the secret of the tools. A repetition changes nothing, and is told the same.',
    response: {
      200: json('The tool goes on; `duplicate` when it was reported before', ElicitationReceiptSchema),
    },
    problems: [
      'invalid_request',
      'unauthenticated',
      'already_answered',
      'expired',
      'turn_over',
      'body_too_large',
      'rate_limited',
      'internal',
      'unavailable',
    ],
    isPublic: true,
  });
  withSchemas(fastify).post(
    '/run/v1/elicitations/:elicitation/complete',
    {
      bodyLimit,
      schema: {
        ...complete,
        params: ParamsSchema,
        headers: SignatureHeadersSchema,
      },
    },
    async (request, reply) => {
      const { elicitation: elicitationId } = request.params;
      const completed = await completePage({
        elicitationId,
        body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
        signature: request.headers['interlude-signature'],
        address: request.ip,
      });
      if (completed) {
        const { statusCode, body } = toReceipt(elicitationId, completed);
        return reply.code(statusCode).send(body);
      }
      const counted = await forged(request);
      if (!counted.isAllowed && counted.isExceeded) {
        const headers = { 'retry-after': String(counted.ttlInSeconds) };
        throw new ProblemError('rate_limited', 'Wait as long as Retry-After says, then try again.', {
          headers,
        });
      }
      throw new ProblemError(
        'unauthenticated',
        'The Interlude-Signature is missing, wrong, older than five minutes, or for another question.',
      );
    },
  );
}
