/**
 * The clients that read a stream or wait for a result at this process. A client's signal aborts when it disconnects or the service
 * closes; neither affects the turn.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Service } from '../../service/service.ts';
import { streamOpened } from '../../platform/telemetry/metrics/instruments.ts';

/** What the surfaces get that start or follow turns. */
export interface SurfaceParts {
  service: Service;
  readers: Readers;
  /** For posted messages, in bytes. */
  bodyLimit: number;
}

export interface Readers {
  /** Aborts when the client disconnects, or with the reason `closing` when the service closes. */
  listen(reply: FastifyReply): AbortSignal;
}

export const closing = 'closing';
export const expired = 'expired';

/** The longest delay that Node's timers take. */
const longestTimerMs = 2 ** 31 - 1;

/** For a stream: `signal`, which now also aborts when the token that opened the stream ends, with the reason `expired`. */
export function untilExpired({ request, raw }: FastifyReply, signal: AbortSignal): AbortSignal {
  const leftMs = request.authorizedUntil - Date.now();
  if (!Number.isFinite(leftMs)) return signal;
  const expiry = new AbortController();
  const timer = setTimeout(() => expiry.abort(expired), Math.min(leftMs, longestTimerMs)).unref();
  raw.once('close', () => clearTimeout(timer));
  return AbortSignal.any([signal, expiry.signal]);
}

/**
 * When `fastify` closes, streams are cut without an end event, so that their clients resume at another process.
 * `graceMs`: after this, all connections are closed, even if their clients do not read. The process's own grace period has to be
 * longer.
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
    // `fetch` may open connections that it never uses; Node does not count them as idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    for (const [reply, wait] of open) {
      hangUpAfter(reply);
      wait.abort(closing);
    }
    setTimeout(() => fastify.server.closeAllConnections(), graceMs).unref();
  });
  // A kept-alive connection would keep the server from closing.
  fastify.addHook('onSend', async (_, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });

  return {
    listen(reply) {
      const wait = new AbortController();
      if (isClosing) wait.abort(closing);
      // Already disconnected: `close` has been emitted.
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

/**
 * Keeps the connection open if a response is sent before the request's body has arrived: closing would make TCP reset the
 * connection and discard the response (RFC 9112 §9.6). The rest of the body is read and dropped.
 */
export function readToTheEnd(fastify: FastifyInstance): void {
  fastify.addHook('onSend', async (request, reply) => {
    if (!request.raw.complete) reply.removeHeader('connection');
  });
}
