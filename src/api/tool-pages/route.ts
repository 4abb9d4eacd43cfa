/**
 * `POST /run/v1/elicitations/{id}/complete`: a page to which a tool has sent the user says that it is done. It has no
 * token; its signature over time, question and body says who it is.
 */
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import type { Service } from '../../service/service.ts';
import { ProblemError } from '../http/problems.ts';
import { toReceipt } from '../http/receipt.ts';

/** Whatever the page has to say, it says to its own tool's activities. */
const bodyLimit = 64_000;
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

  fastify.post<{ Params: { elicitation: string } }>(
    '/run/v1/elicitations/:elicitation/complete',
    { bodyLimit },
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
