/** A copy of a conversation, or of everything of a user, as lines of plain values. Secrets that were entered into forms are left out. */
import { openAnswer } from '../credentials/sealing/sealed-values.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import { readRequestedSchema } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { secretFields } from '@interlude-ai/core/elicitation/form/secret-fields.ts';
import type { ElicitationRequest } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ConversationRow } from '../storage/tables/conversations.ts';
import type { TurnRow } from '../storage/tables/turn-rows.ts';
import type { Storage } from '../storage/storage.ts';
import { ownConversation, requirePerson } from './own-turn.ts';
import type { Principal } from './principal.ts';

/** One line of an export. */
export type Exported = { kind: string } & Record<string, unknown>;

interface Parts {
  storage: Storage;
  keys: KeyRing;
}

/** Refuses other callers than the owner before the first line. */
export async function exportConversation(
  parts: Parts,
  principal: Principal,
  { conversation, address }: { conversation: string; address: string | null },
): Promise<AsyncIterable<Exported>> {
  const own = await ownConversation(parts.storage, principal, conversation);
  await requirePerson(parts.storage, principal, { detail: 'exporting a conversation for a user', address });
  return linesOf(parts, own);
}

/** Conversations, accounts without their secrets, remembered approvals, links to Slack, and what the audit says of the user. */
export async function* exportUser(
  parts: Parts,
  { tenant, user }: { tenant: string; user: string },
): AsyncGenerator<Exported> {
  const { storage } = parts;
  yield { kind: 'user', tenant, user };
  for (const { server, account, scopes, status, createdAt } of await storage.connections.list({
    tenant,
    user,
  }))
    yield { kind: 'connection', server, account, scopes, status, createdAt: timeOf(createdAt) };
  for (const { server, place, tool, conversation, createdAt } of await storage.approvals.list({
    tenant,
    user,
  }))
    yield { kind: 'approval', server, place, tool, conversation, createdAt: timeOf(createdAt) };
  for (const { team, slackUser, linkedAt } of await storage.slack.people.ofUser({ tenant, user }))
    yield { kind: 'slack-link', team, slackUser, linkedAt: timeOf(linkedAt) };
  for (const row of await storage.exports.conversationsOf({ tenant, user })) yield* linesOf(parts, row);
  for (const { at, ...entry } of await storage.erasure.auditOf({ tenant, user }))
    yield { kind: 'audit', at: timeOf(at), ...entry };
}

async function* linesOf(parts: Parts, conversation: ConversationRow): AsyncGenerator<Exported> {
  const { conversation: id, agent, createdAt, updatedAt } = conversation;
  yield { kind: 'conversation', id, agent, createdAt: timeOf(createdAt), updatedAt: timeOf(updatedAt) };
  for (const turn of await parts.storage.exports.turnsOf(conversation)) yield* linesOfTurn(parts, turn);
}

async function* linesOfTurn({ storage: { exports }, keys }: Parts, turn: TurnRow): AsyncGenerator<Exported> {
  const { conversation, turnId, agent, status, createdAt, endedAt, usage } = turn;
  yield {
    kind: 'turn',
    conversation,
    turnId,
    agent,
    status,
    createdAt: timeOf(createdAt),
    endedAt: endedAt === null ? null : timeOf(endedAt),
    usage,
  };
  for (const { at, ...message } of await exports.messagesOf(turn, turnId))
    yield { kind: 'message', turnId, at: timeOf(at), ...message };
  for (const image of await exports.imagesOf(turnId)) yield { kind: 'image', turnId, ...image };
  for (const { at, ...call } of await exports.callsOf(turnId))
    yield { kind: 'call', turnId, at: timeOf(at), ...call };
  for (const { question, answers } of await exports.questionsOf(turnId)) {
    const { id, server, request, settledAt } = question;
    yield {
      kind: 'question',
      turnId,
      id,
      server,
      status: question.status,
      askedAt: timeOf(question.createdAt),
      settledAt: settledAt === null ? null : timeOf(settledAt),
      request,
    };
    for (const { action, sealedContent, receivedAt, surface } of answers) {
      // Empty: it was deleted.
      const content = sealedContent ? openAnswer(keys, id, sealedContent) : null;
      const said = { action, at: timeOf(receivedAt), surface };
      yield { kind: 'answer', question: id, ...said, content: content && withoutSecrets(request, content) };
    }
  }
  for (const { seq, at, event } of await exports.entriesOf(turnId))
    yield { kind: 'event', turnId, seq, at: timeOf(at), event };
}

function withoutSecrets(request: ElicitationRequest, text: string): unknown {
  const content = JSON.parse(text) as Record<string, unknown>;
  if (request.mode !== 'form') return content;
  const form = readRequestedSchema(request.requestedSchema);
  const secrets = form.kind === 'form' ? new Set(secretFields(form.fields, request.requestedSchema)) : null;
  const entries = Object.entries(content).map(([name, value]) => [
    name,
    secrets?.has(name) === false ? value : '(not exported)',
  ]);
  return Object.fromEntries(entries);
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}
