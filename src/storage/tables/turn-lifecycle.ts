/**
 * How a turn comes into a conversation, or is withdrawn before it does. Each function is one transaction, and the
 * row of the turn is locked before the row of its conversation.
 */
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import type { TurnRef } from '../../turn/turn.ts';
import { isConversation, writeToConversation } from '../log/append.ts';
import type { ElicitationRow } from '../ports/elicitations.ts';
import { dueAfter } from './due-turns.ts';
import { insertImages } from './images.ts';
import type { NewTurn } from '../ports/turns.ts';
import { routedByTemporal } from '../ports/versions.ts';
import type { StoredMessage } from '../ports/conversations.ts';
import { fromJson } from '../schema.ts';
import type { Tables } from '../schema.ts';
import { endLostTurns } from './turn-end.ts';
import { currentBuildId } from './versions.ts';

/** A turn that nobody took up within this time never will be: Temporal was told to start it, or it was not. */
const abandonedAfterMs = 60 * 60 * 1000;

type Write = Transaction<Tables>;

export async function prepareTurn(
  write: Write,
  { turn, deployment }: { turn: NewTurn; deployment: string | undefined },
  now: number,
) {
  const { tenant, conversation, turnId, user, agent } = turn;
  await write
    .deleteFrom('turns')
    .where('tenant', '=', tenant)
    .where('conversation', '=', conversation)
    .where('status', '=', 'starting')
    .where('created_at', '<', now - abandonedAfterMs)
    .execute();
  // The update changes nothing; it locks the row, so that nobody withdraws the conversation meanwhile.
  const { user_id: owner } = await write
    .insertInto('conversations')
    .values({
      tenant,
      conversation,
      user_id: user,
      agent,
      last_seq: 0,
      last_position: 0,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'conversation'])
        .doUpdateSet((row) => ({ created_at: row.ref('conversations.created_at') })),
    )
    .returning('user_id')
    .executeTakeFirstOrThrow();
  if (owner !== user) return 'foreign-conversation' as const;

  // Asked only now: whoever was quicker with the same message has let go of the conversation's row.
  const known = await write
    .selectFrom('turns')
    .select('turn_id')
    .where('tenant', '=', tenant)
    .where('conversation', '=', conversation)
    .where('client_message_id', '=', turn.clientMessageId)
    .where('turn_id', '!=', turnId)
    .limit(1)
    .executeTakeFirst();
  if (known && !(await removeUnbegun(write, known.turn_id))) return 'known' as const;

  const prepared = await write
    .insertInto('turns')
    .values({
      turn_id: turnId,
      tenant,
      conversation,
      user_id: user,
      agent,
      capabilities: JSON.stringify(turn.capabilities),
      status: 'starting',
      client_message_id: turn.clientMessageId,
      staged: JSON.stringify(turn.messages),
      created_at: now,
      ended_at: null,
      ending_at: null,
      build_id: deployment === undefined ? routedByTemporal : currentBuildId(deployment),
      ...dueAfter.prepare(now),
    })
    // Prepared again: the update changes nothing, and lets the row be read.
    .onConflict((conflict) =>
      conflict.column('turn_id').doUpdateSet((row) => ({ turn_id: row.ref('turns.turn_id') })),
    )
    .returning('build_id')
    .executeTakeFirstOrThrow();
  if (prepared.build_id === null) throw new NoVersion();
  await insertImages(write, turnId, turn.images ?? []);
  return { buildId: prepared.build_id };
}

/** Rolls the transaction back. */
export class NoVersion extends Error {
  override name = 'NoVersion';
}

/** A turn that failed before it began has answered nothing: the same message starts anew. False for any other. */
async function removeUnbegun(write: Write, turnId: string): Promise<boolean> {
  const removed = await write
    .deleteFrom('turns')
    .where('turn_id', '=', turnId)
    .where('status', '=', 'failed')
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('turn_events')
            .select('seq')
            .where('turn_id', '=', turnId)
            .where('key', '=', 'turn-started'),
        ),
      ),
    )
    .executeTakeFirst();
  return removed.numDeletedRows > 0n;
}

/** Null when the turn was withdrawn. `closed`: questions of lost turns, which end with it. */
export async function beginTurn(
  write: Write,
  turn: TurnRef,
  now: number,
): Promise<{ closed: ElicitationRow[] } | null> {
  // Its messages stay set aside until it ends: to clear them here would take a statement that reads them first.
  const row = await write
    .updateTable('turns')
    .set({ status: 'running', ...dueAfter.begin(now) })
    .where('turn_id', '=', turn.turnId)
    .where('status', '=', 'starting')
    .returning(['agent', 'staged'])
    .executeTakeFirst();
  // Somebody was quicker: withdrawn, or begun by an earlier attempt of the same activity.
  if (!row) return (await thisTurn(write, turn))?.status === 'running' ? { closed: [] } : null;

  const closed = await endLostTurns(write, turn, now);
  const messages = fromJson<Omit<StoredMessage, 'turnId'>[]>(row.staged ?? '[]');
  const event = { type: 'turn-started', agent: row.agent, messageId: turn.turnId } as const;
  await writeToConversation(write, turn, { messages, events: [{ key: 'turn-started', event }] }, now);
  return { closed };
}

export async function withdrawTurn(write: Write, turn: TurnRef): Promise<boolean> {
  const withdrawn = await write
    .deleteFrom('turns')
    .where('turn_id', '=', turn.turnId)
    .where('status', '=', 'starting')
    .executeTakeFirst();
  if (withdrawn.numDeletedRows === 0n) return (await thisTurn(write, turn)) === undefined;

  // A conversation that never had a turn is as if it had never been. The lock comes first: only then is it
  // certain that no other request is just preparing one.
  await write
    .updateTable('conversations')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where(isConversation(turn))
    .execute();
  await write
    .deleteFrom('conversations')
    .where(isConversation(turn))
    .where((row) => row.not(row.exists(row.selectFrom('turns').select('turn_id').where(sameConversation))))
    .execute();
  return true;
}

const sameConversation = sql<boolean>`turns.tenant = conversations.tenant and turns.conversation = conversations.conversation`;

function thisTurn(write: Write, { turnId }: TurnRef) {
  return write.selectFrom('turns').select('status').where('turn_id', '=', turnId).executeTakeFirst();
}
