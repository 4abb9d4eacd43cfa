/** Serves clients up to revision 2025-11-25: their sessions, requests, and replies to our questions. */
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import packageJson from '../../../../package.json' with { type: 'json' };
import type { McpSession, McpReply } from '../../../service/mcp-sessions.ts';
import type { Service } from '../../../service/service.ts';
import { readHops } from '../../../turn/turn.ts';
import type { Principal } from '../../../service/principal.ts';
import { ElicitationIdSchema } from '@interlude-ai/core/contract/http.ts';
import type { ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import { ServiceError } from '../../../service/service-error.ts';
import { sendEventStream } from '../../http/event-stream.ts';
import {
  conversationTemplate,
  listConversations,
  readConversation,
  listPrompts,
  readPrompt,
} from '../resources-and-prompts.ts';
import { shownBy } from '../modern/caller.ts';
import type { Arrived } from '../modern/caller.ts';
import type { Caller } from '../tools/tool.ts';
import type { McpContext } from '../tools/tool-layer.ts';
import { toResponse, answerQuestion } from '../tools/questions.ts';
import { callStream } from './call-stream.ts';
import type { LegacyCall } from './call-stream.ts';
import { errorMessage, idIn, readMessage, requestIdIn, resultMessage, questionOf } from './messages.ts';
import type { Message, Request, RequestId } from './messages.ts';

interface Arriving {
  request: FastifyRequest;
  reply: FastifyReply;
  arrived: Arrived;
}

const code = {
  invalidRequest: -32600,
  noMethod: -32601,
  invalidParams: -32602,
  refused: -32000,
  noSession: -32001,
  noResource: -32002,
};

export async function serveLegacy(parts: McpContext, arriving: Arriving): Promise<FastifyReply> {
  const { request, reply, arrived } = arriving;
  const message = request.method === 'POST' ? readMessage(request.body) : undefined;
  const messageId = message?.id ?? idIn(request.body);
  const refuse = (words: string) => reply.code(400).send(errorMessage(messageId, code.invalidRequest, words));
  if (message === null) return refuse('This is no JSON-RPC message.');
  // We send messages only within the streams of calls.
  if (request.method === 'GET' && request.headers['last-event-id'] === undefined)
    return reply
      .code(405)
      .header('allow', 'POST, DELETE')
      .send(errorMessage(null, code.refused, 'There is no stream but those of calls.'));
  if (message?.kind === 'request' && message.method === 'initialize')
    return initialize(parts, arriving, message);

  const version = request.headers['mcp-protocol-version'];
  if (version !== undefined && !isVersion(version))
    return refuse(`MCP-Protocol-Version is none of ${versions.join(', ')}.`);
  const id = request.headers['mcp-session-id'];
  if (typeof id !== 'string') return refuse('Send initialize first, then its Mcp-Session-Id.');
  const session = await parts.service.mcpSessions.find(arrived.principal, id, arrived.address);
  // By the specification, 404 makes the client initialize again.
  if (!session)
    return reply.code(404).send(errorMessage(messageId, code.noSession, 'There is no such session.'));
  if (message) return serveMessage(parts, { ...arriving, session }, message);
  if (request.method === 'DELETE') {
    await parts.service.mcpSessions.end(session.id);
    return reply.code(204).send();
  }
  return resume(parts, { ...arriving, session });
}

async function initialize({ service }: McpContext, { reply, arrived }: Arriving, { id, params }: Request) {
  const session = await openSession(service, arrived.principal, params);
  if (!session) return reply.send(errorMessage(id, code.invalidParams, 'protocolVersion is missing.'));
  return reply.header('mcp-session-id', session.id).send(
    resultMessage(id, {
      protocolVersion: session.version,
      capabilities: { tools: {}, resources: {}, prompts: {} },
      serverInfo: { name: 'interlude', title: 'Interlude', version: packageJson.version },
      instructions:
        'Agents that may take minutes and may ask the user questions on their way. Each ask_… tool talks to one agent.',
    }),
  );
}

type InSession = Arriving & { session: McpSession };

async function serveMessage(parts: McpContext, arriving: InSession, message: Message) {
  const { reply, arrived, session } = arriving;
  const caller: Caller = { ...arrived, shows: session.shows };
  switch (message.kind) {
    case 'notification':
      if (message.method === 'notifications/cancelled')
        await cancel(parts, { caller, session }, message.params['requestId']);
      return reply.code(202).send();
    case 'response':
      await takeReply(parts.service, { caller, session }, message);
      return reply.code(202).send();
    case 'request':
      return message.method === 'tools/call'
        ? callTool(parts, { ...arriving, caller }, message)
        : reply.send(await answer(parts, caller, message));
    default:
      return message satisfies never;
  }
}

/** A disconnect does not end a call; this does. */
async function cancel(
  { layer, service }: McpContext,
  { caller, session }: { caller: Caller; session: McpSession },
  requestId: unknown,
): Promise<void> {
  const call = await service.mcpSessions.findCall(session.id, JSON.stringify(requestId ?? null));
  const found = call && (await layer.find(caller, call));
  if (found) await layer.cancel(caller, found.turn);
}

async function answer(parts: McpContext, caller: Caller, request: Request) {
  const { id, method } = request;
  try {
    const result = await resultOf(parts, caller, request);
    return result
      ? resultMessage(id, result)
      : errorMessage(id, code.noMethod, `There is no method ${method}.`);
  } catch (error) {
    if (error instanceof ResourceNotFoundError) return errorMessage(id, code.noResource, error.message);
    if (error instanceof ProtocolError) return errorMessage(id, error.code, error.message);
    throw error;
  }
}

/** Null if there is no such method. */
async function resultOf({ layer, service }: McpContext, caller: Caller, { method, params }: Request) {
  const { principal } = caller;
  switch (method) {
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: await layer.list(caller) };
    case 'resources/list':
      return listConversations(service, principal, params['cursor']);
    case 'resources/templates/list':
      return { resourceTemplates: [conversationTemplate] };
    case 'resources/read':
      return readConversation(service, principal, params['uri']);
    case 'prompts/list':
      return { prompts: listPrompts(service.agents) };
    case 'prompts/get':
      return readPrompt(service.agents, params['name'], params['arguments']);
    default:
      return null;
  }
}

async function callTool(parts: McpContext, arriving: InSession & { caller: Caller }, message: Request) {
  const { reply, session, caller, arrived } = arriving;
  const { id, params } = message;
  const given = params['arguments'] ?? {};
  const { name } = params;
  if (typeof name !== 'string' || typeof given !== 'object')
    return reply.send(errorMessage(id, code.invalidParams, 'name or arguments are missing.'));
  const requestId = JSON.stringify(id);
  const idempotencyKey = await callKey(parts, { caller, session }, requestId, { name, arguments: given });
  const started = await parts.layer.start(caller, {
    name,
    arguments: { ...given },
    hops: readHops(params._meta),
    traceParent: params._meta?.['traceparent'],
    idempotencyKey,
  });
  if (started === null)
    return reply.send(errorMessage(id, code.invalidParams, `There is no tool "${name}" for this caller.`));
  if (started.kind === 'result') return reply.send(resultMessage(id, started.result));
  const { turn, answered = [] } = started;
  const { conversation, turnId } = turn;
  const progressToken = params._meta?.progressToken ?? null;
  const call = { requestId, conversation, turnId, tool: name, progressToken, idempotencyKey };
  await parts.service.mcpSessions.addCall(session.id, call);
  return stream(parts, arriving, {
    session,
    turn,
    requestId: id,
    tool: name,
    progressToken,
    answered,
    signal: arrived.signal,
  });
}

/** Clients repeat a request within this time. */
const repeatedMs = 60_000;

/**
 * The idempotency key of a call: a request that is sent again is the same call. A client that rejoins its session may count its
 * request ids from the start, so a call with other arguments, or under the id of a call that is over, is a new one.
 */
async function callKey(
  { layer, service }: McpContext,
  { caller, session }: { caller: Caller; session: McpSession },
  requestId: string,
  content: object,
): Promise<string> {
  const base = `mcp ${session.id} ${requestId} ${hash('sha256', JSON.stringify(content), 'base64url')}`;
  const earlier = await service.mcpSessions.findCall(session.id, requestId);
  if (!earlier) return base;
  const found = await layer.find(caller, earlier);
  const isOver = !found || (found.endedAt !== null && Date.now() - found.endedAt > repeatedMs);
  const isSame = !isOver && earlier.idempotencyKey?.startsWith(base) === true;
  return isSame ? (earlier.idempotencyKey ?? base) : `${base} ${earlier.turnId}`;
}

/** Resumes the stream of a call. Its event ids begin with the id of the request. */
async function resume(parts: McpContext, arriving: InSession): Promise<FastifyReply> {
  const { request, reply, session, arrived } = arriving;
  const [tag = ''] = String(request.headers['last-event-id']).split('.', 1);
  const requestId = requestIdIn(tag);
  const call = requestId === null ? null : await parts.service.mcpSessions.findCall(session.id, requestId);
  const caller: Caller = { ...arrived, shows: session.shows };
  const found = call && (await parts.layer.find(caller, call));
  if (!call || !found)
    return reply.code(404).send(errorMessage(null, code.noSession, 'There is no such call.'));
  return stream(parts, arriving, {
    session,
    turn: found.turn,
    requestId: JSON.parse(call.requestId) as string | number,
    tool: call.tool,
    progressToken: call.progressToken,
    signal: arrived.signal,
  });
}

function stream(parts: McpContext, { reply }: Arriving, call: LegacyCall): FastifyReply {
  return sendEventStream(reply, { texts: callStream(parts, call), signal: call.signal });
}

/** What `initialize` of the revisions up to 2025-11-25 agrees on: a session of one of their versions. */
const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

function isVersion(text: string | string[]): boolean {
  return versions.some((version) => version === text);
}

const InitializeSchema = z.looseObject({ protocolVersion: z.string(), capabilities: z.unknown() });

/** Null if the parameters are not those of `initialize`. */
async function openSession(
  { mcpSessions }: Service,
  principal: Principal,
  params: unknown,
): Promise<McpSession | null> {
  const { data } = InitializeSchema.safeParse(params);
  if (!data) return null;
  return mcpSessions.open(principal, {
    version: isVersion(data.protocolVersion) ? data.protocolVersion : versions[0],
    shows: shownBy({ [CLIENT_CAPABILITIES_META_KEY]: data.capabilities }),
  });
}

/**
 * A client's reply to one of our questions; the call's stream, at any process, sees it in the database. An error, or a result
 * that is not an answer, means that the question was not shown. An unknown id is ignored.
 */
async function takeReply(
  service: Service,
  { caller, session }: { caller: Caller; session: McpSession },
  { id, result }: { id: RequestId; result?: unknown },
): Promise<void> {
  const elicitationId = questionOf(id);
  const response = toResponse(result);
  const found = await service.findQuestion(caller.principal, elicitationId);
  if (!found) return refuse(service, caller, { elicitationId, response: response ?? { action: 'cancel' } });
  const put = (kind: McpReply['kind'], reasons?: string) =>
    service.mcpSessions.putReply(session.id, {
      elicitationId,
      kind,
      reasons: reasons ?? null,
    });
  if (!response) return put('undelivered');
  const verdict = await answerQuestion(service, caller, { question: found.question, response });
  switch (verdict.kind) {
    case 'awaited':
      return put('awaited');
    case 'misfit':
      return put('misfit', verdict.reasons);
    case 'settled':
    case 'late':
      return undefined;
    default:
      return verdict satisfies never;
  }
}

/** Tries to answer a question that is not the caller's, so that the service refuses and audits it. */
async function refuse(
  service: Service,
  { principal, address }: Caller,
  reply: { elicitationId: string; response: ElicitationResponse },
): Promise<void> {
  if (!ElicitationIdSchema.safeParse(reply.elicitationId).success) return;
  await service.answerQuestion(principal, { ...reply, address, mayBeModel: true }).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
  });
}
