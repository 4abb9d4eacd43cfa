/** The caller's conversations as MCP resources, and the agents as prompts, for both eras of the protocol. */
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ClientIdSchema } from '@interlude-ai/core/contract/http.ts';
import { emptyTurn, foldTurn, ownText } from '../../turn/fold-turn.ts';
import { saidTexts } from '../../turn/message-parts.ts';
import type { Principal } from '../../service/principal.ts';
import { ServiceError } from '../../service/service-error.ts';
import type { Service } from '../../service/service.ts';
import { cursorTo, toCursor } from '../http/cursor.ts';

const scheme = 'interlude://conversations/';
const mimeType = 'text/markdown';
const pageSize = 50;
/** Per conversation, the newest. */
const mostTurns = 50;

export const conversationTemplate = {
  name: 'conversation',
  title: 'A conversation',
  uriTemplate: `${scheme}{conversationId}`,
  description: 'What was said in one of your conversations',
  mimeType,
};

const example = { updatedAt: 1_795_219_200_000, conversation: 'demo-1' };
const CursorSchema = cursorTo(z.object({ updatedAt: z.int().min(0), conversation: ClientIdSchema }), example);

/** Last changed first. */
export async function listConversations(service: Service, principal: Principal, cursor: unknown) {
  const parsed = CursorSchema.optional().safeParse(cursor);
  if (!parsed.success) throw invalidParams('The cursor is not one of this list.');
  const { items, next } = await service.listConversations(principal, {
    after: parsed.data ?? null,
    limit: pageSize,
  });
  const resources = items.map(({ conversation, agent, updatedAt }) => ({
    uri: scheme + encodeURIComponent(conversation),
    name: conversation,
    title: `Conversation with ${service.agents.get(agent)?.title ?? agent}`,
    mimeType,
    annotations: { lastModified: new Date(updatedAt).toISOString() },
  }));
  return { resources, ...(next && { nextCursor: toCursor(next) }) };
}

export async function readConversation(service: Service, principal: Principal, given: unknown) {
  const uri = typeof given === 'string' ? given : '';
  const notFound = () => new ResourceNotFoundError(uri, 'You have no such conversation.');
  const id = ClientIdSchema.safeParse(uri.startsWith(scheme) ? decoded(uri.slice(scheme.length)) : undefined);
  if (!id.success) throw notFound();
  try {
    const { conversation, turns } = await service.readConversation(principal, id.data, {
      before: null,
      limit: mostTurns,
    });
    const agent = service.agents.get(conversation.agent)?.title ?? conversation.agent;
    const parts = turns.flatMap(({ given, log }) => [
      ...given.map(
        ({ role, content }) => `**${role === 'user' ? 'You' : agent}:** ${saidTexts(content).join('\n')}`,
      ),
      `**${agent}:** ${log === null ? '(at work)' : ownText(foldTurn(emptyTurn, log)).trim()}`,
    ]);
    return { contents: [{ uri, mimeType, text: parts.join('\n\n') }] };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'conversation_not_found') throw notFound();
    throw error;
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Each agent as a prompt: what a person picks to have their client's model talk to it. Pure. */
type Agents = Service['agents'];

export function listPrompts(agents: Agents) {
  return [...agents.values()].map(({ name, title, description }) => ({
    name,
    title,
    description: description ?? `Talk to the agent ${title}`,
    arguments: [
      { name: 'message', title: 'Message', description: `The message to ${title}`, required: true },
    ],
  }));
}

export function readPrompt(agents: Agents, given: unknown, values: unknown) {
  const name = typeof given === 'string' ? given : '';
  const agent = agents.get(name);
  if (!agent) throw invalidParams(`There is no prompt "${name}".`);
  const { message: written } = Object(values) as Record<string, unknown>;
  const message = typeof written === 'string' ? written.trim() : '';
  if (message === '') throw invalidParams('The argument "message" is missing: what to tell the agent.');
  const text = `Call the tool ask_${name} with exactly this message, and show me its answer: ${message}`;
  return {
    description: agent.title,
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  };
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
