/** JSON-RPC of A2A 1.0 (section 9) and 0.3. The request's version decides which. */
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { JsonRpcTransportHandler, validateVersion } from '@a2a-js/sdk/server';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mayBeAnswer } from './send-message.ts';
import { agentPath } from './cards.ts';
import { outageIn, wasHandled, nameExtensions, isLegacy } from './caller.ts';
import { unreadable, idOf, jsonRpcErrorOf } from './errors.ts';
import type { Agents } from './caller.ts';
import { isStream, sendStream } from './stream.ts';

interface Route {
  Params: { agent: string };
}

export function jsonRpcRoute(fastify: FastifyInstance, agents: Agents): void {
  // Some clients post to the address with a slash at its end.
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
  // Clients of 0.3 that asked for a stream read errors as events, too.
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

/** The SDK answers with an internal error if its codecs cannot read the request. */
function isMisread(answer: object, context: ServerCallContext): boolean {
  if (wasHandled(context) || !('error' in answer)) return false;
  return (answer.error as { code?: unknown }).code === -32603;
}
