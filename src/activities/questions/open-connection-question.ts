/**
 * Opens the question that asks a user to connect an account.
 *
 * A process that connects the account first writes the connection and then reads the open questions; this first writes
 * the question and then reads the connection. So one of the two sees the other's write.
 */
import type { ServerConfig } from '../../config/config.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import { questionAddress } from '../../elicitation/account-pages.ts';
import type { Context, ElicitationRequest } from '../../elicitation/elicitation.ts';
import { connectionMessage } from '../../elicitation/wording.ts';
import type { ConnectionAsk, NewQuestion, OpenResult } from '../../turn/ask.ts';
import type { Turn } from '../../turn/turn.ts';
import { pollOfConnection } from './polls.ts';
import { contextOf, openQuestion, serverOf } from './open-question.ts';
import type { QuestionParts } from './open-question.ts';

export async function openConnectionQuestion(
  parts: QuestionParts,
  input: NewQuestion<ConnectionAsk>,
): Promise<OpenResult> {
  const { turn, elicitationId, ask } = input;
  const { server: name, seenVersion } = ask;
  const server = serverOf(parts, name);
  // The row exists already if an earlier attempt's worker died before history recorded its result.
  const wasAsked = (await parts.storage.elicitations.get(elicitationId)) !== null;
  const before = wasAsked ? null : await newerVersion(parts, server, turn, seenVersion);
  if (before !== null) return { kind: 'already-connected', connectedVersion: before };

  const request = requestOf(parts, server, input);
  const mayGoUnnoticed = parts.storeOf(server).catchUp !== undefined;
  const poll = mayGoUnnoticed
    ? pollOfConnection(elicitationId, { turn, server: name, seenVersion })
    : undefined;
  const opened = await openQuestion(parts, input, { request, server: name, seenVersion }, poll);
  if (opened.kind !== 'opened') return opened;
  const connectedVersion = await newerVersion(parts, server, turn, seenVersion);
  return { ...opened, connectedVersion, ...(mayGoUnnoticed && { mayGoUnnoticed }) };
}

function requestOf(
  parts: QuestionParts,
  server: ServerConfig,
  { turn, elicitationId, ask }: NewQuestion<ConnectionAsk>,
): ElicitationRequest {
  const context: Context = {
    ...contextOf(parts, server, turn),
    trigger: 'credential_required',
    reason: ask.reason,
    ...(ask.tool !== undefined && { toolName: ask.tool }),
    ...(ask.toolCallId !== undefined && { toolCallId: ask.toolCallId }),
    ...(ask.scopes && { scopes: ask.scopes }),
  };
  const { connectedBy } = parts.storeOf(server);
  const message = connectionMessage(server.title, ask.reason, ask.tool, connectedBy);
  const url = questionAddress(parts.config.http.publicUrl, elicitationId);
  return { mode: 'url', message, url, context };
}

/** The connection's version if it is newer than `seenVersion`, else null. */
async function newerVersion(
  { storage }: QuestionParts,
  server: ServerConfig,
  turn: Turn,
  seenVersion: number,
): Promise<number | null> {
  const connection = await storage.connections.get(connectionKey(server, turn));
  return connection && connection.version > seenVersion ? connection.version : null;
}
