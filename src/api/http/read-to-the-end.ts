/**
 * Keeps the connection open when a response is sent before the request's body has arrived. A client that is still sending
 * might never see the response: closing makes TCP reset the connection, which discards it (RFC 9112 §9.6). The rest of the
 * body is read and dropped, for as long as a request may take to arrive.
 */
import type { FastifyInstance } from 'fastify';

export function readToTheEnd(fastify: FastifyInstance): void {
  fastify.addHook('onSend', async (request, reply) => {
    if (!request.raw.complete) reply.removeHeader('connection');
  });
}
