/**
 * A client that still writes its body would never see an answer after which the connection is closed: the reset that
 * follows takes the answer away (RFC 9112 §9.6). The connection stays, and the rest of the body is read and dropped,
 * for as long as a request may take to arrive.
 */
import type { FastifyInstance } from 'fastify';

export function readToTheEnd(fastify: FastifyInstance): void {
  fastify.addHook('onSend', async (request, reply) => {
    if (!request.raw.complete) reply.removeHeader('connection');
  });
}
