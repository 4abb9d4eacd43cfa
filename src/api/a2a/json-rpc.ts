/** JSON-RPC of A2A 1.0 (section 9) and of 0.3, told apart by the version that a request names. */
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { JsonRpcTransportHandler, validateVersion } from '@a2a-js/sdk/server';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mayBeAnswer } from './answer.ts';
import { agentPath } from './card.ts';
import { outageIn, wasHandled } from './caller.ts';
import { unreadable } from './errors.ts';
import { nameExtensions } from './served.ts';
import type { Agents } from './served.ts';
import { isStream, sendStream } from './stream.ts';
import { idOf, jsonRpcErrorOf } from './transport-errors.ts';
import { isLegacy } from './versions.ts';

interface Route {
  Params: { agent: string };
}

export function jsonRpcRoute(fastify: FastifyInstance, agents: Agents): void {
  // Clients that join paths to an address they keep send to the one with a slash.
  for (const path of [agentPath(':agent'), `${agentPath(':agent')}/`])
    fastify.post<Route>(
      path,
      { config: { isAnswer: mayBeAnswer }, schema: { hide: true } },
      (request, reply) => respond(agents, request, reply),
    );
}

async function respond(
  { find, contextFor }: Agents,
  request: FastifyRequest<Route>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { card, handler } = find(request.params.agent);
  const context = contextFor(request, reply);
  const legacy = isLegacy(context.requestedVersion);
  const body = request.body as Record<string, unknown>;
  const failed = (error: unknown) => ({
    jsonrpc: '2.0',
    id: idOf(body),
    error: jsonRpcErrorOf(error, legacy),
  });
  nameExtensions(reply, context, legacy ? 'x-a2a-extensions' : 'a2a-extensions');
  // Clients of 0.3 read nothing but events where they have asked for a stream.
  const isAwaitedAsStream = legacy && streamingMethods.has(body?.['method']);
  const refuse = (answer: object) =>
    isAwaitedAsStream ? sendStream(reply, eventsOf(answer), failing) : reply.send(answer);
  const failing = { failed, failedStatus: () => 200, isEvent: isAwaitedAsStream };
  try {
    validateVersion(context.requestedVersion, card, 'JSONRPC');
  } catch (error) {
    return refuse(failed(error));
  }
  const transport = legacy
    ? new LegacyJsonRpcTransportHandler(handler)
    : new JsonRpcTransportHandler(handler);
  const answer = await transport.handle(body, context);
  const outage = outageIn(context);
  if (outage !== undefined) throw outage;
  if (isStream(answer)) return sendStream(reply, answer, failing);
  return refuse(isMisread(answer, context) ? failed(unreadable()) : answer);
}

const streamingMethods = new Set<unknown>(['message/stream', 'tasks/resubscribe']);

async function* eventsOf(answer: object): AsyncGenerator<object> {
  yield answer;
}

/** The SDK calls it an internal error when its codecs fail at what a caller sent. */
function isMisread(answer: object, context: ServerCallContext): boolean {
  if (wasHandled(context) || !('error' in answer)) return false;
  return (answer.error as { code?: unknown }).code === -32603;
}
