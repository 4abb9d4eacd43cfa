/**
 * `POST /run/v1/elicitations/{id}/complete`: the page to which a tool sent the user reports that it is done. It has no token; a
 * signature over time, question and body authenticates it.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ElicitationReceiptSchema } from '@interlude-ai/core/contract/elicitation.ts';
import { ElicitationIdSchema } from '@interlude-ai/core/contract/http.ts';
import type { Service } from '../../service/service.ts';
import { describeRoute, json } from '../http/describe-route.ts';
import { ProblemError } from '../http/problems.ts';
import { acceptSignedBodies, rawBodyOf } from '../http/signed-requests.ts';
import { toReceipt } from '../http/receipt.ts';
import { withSchemas } from '../http/validation.ts';

const bodyLimit = 64_000;
const ParamsSchema = z.object({
  elicitation: ElicitationIdSchema.meta({
    description: 'The question that sent the user to the page; the page has it from its own address',
    examples: ['0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90'],
  }),
});

/** Optional here, because a missing signature is refused like a wrong one. */
const SignatureHeadersSchema = z.looseObject({
  'interlude-signature': z
    .string()
    .optional()
    .meta({
      examples: ['t=1790000000,v1=2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881'],
      description:
        '`t=<epoch seconds>,v1=<hex>`: HMAC-SHA256 over `<t>.<elicitation>.<body>`; counts for five minutes. `signCompletion` of `@interlude-ai/tools` makes it',
    }),
});

/** A Fastify plugin: `fastify.register(toolPages, service)`. */
export async function toolPages(fastify: FastifyInstance, { completePage }: Service): Promise<void> {
  const refuseTooMany = acceptSignedBodies(fastify, '*');

  const complete = describeRoute({
    tag: 'elicitations',
    id: 'completeElicitation',
    summary: 'Report that the page of a tool is done',
    description:
      'For the server of a page to which a tool in TypeScript has sent its user. It has no token: the header signs time, question and body with the secret of the tools. Repeating it changes nothing and gets the same response.',
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
        body: rawBodyOf(request),
        signature: request.headers['interlude-signature'],
        address: request.ip,
      });
      if (completed) {
        const { statusCode, body } = toReceipt(elicitationId, completed);
        return reply.code(statusCode).send(body);
      }
      refuseTooMany(request);
      throw new ProblemError(
        'unauthenticated',
        'The Interlude-Signature is missing, wrong, older than five minutes, or for another question.',
      );
    },
  );
}
