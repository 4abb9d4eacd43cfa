/** The workflows of a turn's agents, and whether they wait for people. */
import type { Client } from '@temporalio/client';
import { expect } from 'vitest';
import type { Storage } from '../../src/storage/storage.ts';
import { searchAttributes, turnWorkflowId } from '../../src/workflows/messages.ts';
import type { ChatStream } from '../service/chat-stream.ts';

export interface ObservedTurn {
  conversation: string;
  stream: Pick<ChatStream, 'turnId'>;
}

interface Used {
  temporal: { client: Client };
  service: { storage: Storage };
}

export function idOf({ conversation, stream: { turnId } }: ObservedTurn): string {
  return turnWorkflowId({ tenant: 'demo', conversation, turnId });
}

/** The workflow ids of the delegated agents with this name, in the order in which they were asked. */
export async function delegatesOf({ service }: Used, turn: ObservedTurn, name: string): Promise<string[]> {
  const log = await service.storage.turnLog.read({ tenant: 'demo', conversation: turn.conversation }, 0);
  const ids = new Map<string | undefined, string>([[undefined, idOf(turn)]]);
  const found: string[] = [];
  for (const { turnId, event } of log) {
    if (turnId !== turn.stream.turnId || event.type !== 'tool-input-available' || !event.agent) continue;
    const id = `${ids.get(event.parentToolCallId)}/agent/${event.toolCallId}`;
    ids.set(event.toolCallId, id);
    if (event.agent === name) found.push(id);
  }
  return found;
}

export async function isWaiting({ temporal }: Pick<Used, 'temporal'>, workflowId: string): Promise<boolean> {
  const { typedSearchAttributes } = await temporal.client.workflow.getHandle(workflowId).describe();
  return typedSearchAttributes.get(searchAttributes.status) === 'waiting_input';
}

/** Until the turn's own agent waits for people, and its timer runs. */
export async function untilWaiting(used: Pick<Used, 'temporal'>, turn: ObservedTurn): Promise<void> {
  await expect.poll(() => isWaiting(used, idOf(turn))).toBe(true);
}

/** Until so many delegated agents with this name wait for people. Returns their workflow ids. */
export async function untilDelegatesWait(
  used: Used,
  turn: ObservedTurn,
  name: string,
  count: number,
  timeout = 20_000,
): Promise<string[]> {
  const waiting = async () => {
    const ids = await delegatesOf(used, turn, name);
    const areWaiting = await Promise.all(ids.map((id) => isWaiting(used, id).catch(() => false)));
    return areWaiting.filter(Boolean).length;
  };
  await expect.poll(waiting, { timeout }).toBe(count);
  return delegatesOf(used, turn, name);
}
