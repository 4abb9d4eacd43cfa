/**
 * The clients that read a stream or wait for a result at this process. Their signals abort when the client disconnects or
 * the service closes; neither affects the turn.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { streamOpened } from '../../telemetry/metrics/instruments.ts';

export interface Readers {
  /** Aborts when the reader is gone, or with the reason `closing` when the service is. */
  listen(reply: FastifyReply): AbortSignal;
}

export const closing = 'closing';

/**
 * When `fastify` closes, streams are cut without an end event, so that their clients resume at another process.
 * `graceMs`: grace period after which all connections are closed, also of clients that do not read and of requests that
 * never end; the process's own grace period has to be longer.
 */
export function createReaders(fastify: FastifyInstance, { graceMs = 8_000 } = {}): Readers {
  const open = new Map<FastifyReply, AbortController>();
  const sockets = new Set<Socket>();
  let isClosing = false;

  fastify.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  fastify.addHook('preClose', async () => {
    isClosing = true;
    // `fetch` keeps a connection at hand that it may never use, and Node does not count it as idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    for (const [reply, wait] of open) {
      hangUpAfter(reply);
      wait.abort(closing);
    }
    setTimeout(() => fastify.server.closeAllConnections(), graceMs).unref();
  });
  // A connection that is kept alive keeps the whole server from closing.
  fastify.addHook('onSend', async (_, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });

  return {
    listen(reply) {
      const wait = new AbortController();
      if (isClosing) wait.abort(closing);
      // Gone before anybody listened: its `close` has been and will not come again.
      if (reply.raw.destroyed) {
        wait.abort();
        return wait.signal;
      }
      open.set(reply, wait);
      const streamEnded = streamOpened(reply.request.routeOptions.url ?? '');
      reply.raw.once('close', () => {
        streamEnded();
        wait.abort();
        open.delete(reply);
      });
      return wait.signal;
    },
  };
}

/** For a response whose headers were sent without `connection: close`. */
function hangUpAfter({ raw }: FastifyReply): void {
  const { socket } = raw;
  if (raw.headersSent) raw.once('finish', () => socket?.end());
}
