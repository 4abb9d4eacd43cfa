/**
 * Follows a user's questions across conversations. The stream has no positions: every connection begins with what is open.
 * What was settled while there was none is looked up, so that a question told as open is told again when it is settled.
 */
import type { ElicitationRequest, PlacedElicitation } from '../contract/elicitation.ts';
import { InterludeError, parseObject } from './interlude-error.ts';
import { readMessages } from './read-chunks.ts';
import { reconnecting, streamOf } from './reconnect.ts';
import type { Reconnect } from './reconnect.ts';

interface FollowElicitations extends Reconnect {
  /** All questions of a conversation, in one attempt. */
  list: (conversationId: string, signal: AbortSignal) => Promise<ElicitationRequest[]>;
}

export async function* followElicitations(
  follow: FollowElicitations,
): AsyncGenerator<PlacedElicitation, void> {
  /** Told as open, and not yet as settled. */
  const open = new Map<string, PlacedElicitation>();
  let settled: PlacedElicitation[] = [];

  async function connect(signal: AbortSignal): Promise<Response> {
    const response = await follow.connect(signal);
    // Once the stream has begun, it tells whatever is settled from then on.
    settled = await settledOf([...open.values()], (id) => follow.list(id, signal));
    return response;
  }

  yield* reconnecting({ ...follow, connect }, async function* (response, { alive, advanced }) {
    const body = streamOf(response);
    const lookedUp = new Set(settled.map(({ elicitationId }) => elicitationId));
    for (const elicitation of settled) {
      open.delete(elicitation.elicitationId);
      yield elicitation;
    }
    for await (const { data } of readMessages(body, alive)) {
      const elicitation = parseObject(data ?? '');
      if (!isPlacedElicitation(elicitation)) continue;
      const { elicitationId, status } = elicitation;
      const isTold = status === 'pending' ? open.has(elicitationId) : lookedUp.has(elicitationId);
      if (status === 'pending') open.set(elicitationId, elicitation);
      else open.delete(elicitationId);
      if (isTold) continue;
      advanced();
      yield elicitation;
    }
    return 'cut';
  });
}

/** Those of them that are no longer open, as they are now. */
async function settledOf(
  elicitations: PlacedElicitation[],
  list: (conversationId: string) => Promise<ElicitationRequest[]>,
): Promise<PlacedElicitation[]> {
  const settled: PlacedElicitation[] = [];
  for (const id of new Set(elicitations.map(({ conversationId }) => conversationId))) {
    const now = await list(id).catch(noneWhenGone);
    for (const { elicitationId, conversationId, turnId } of elicitations) {
      const found = now.find((one) => one.elicitationId === elicitationId);
      if (found && found.status !== 'pending') settled.push({ ...found, conversationId, turnId });
    }
  }
  return settled;
}

function noneWhenGone(error: unknown): ElicitationRequest[] {
  if (error instanceof InterludeError && error.code === 'conversation_not_found') return [];
  throw error;
}

function isPlacedElicitation(value: Record<string, unknown>): value is PlacedElicitation {
  return value['type'] === 'elicitation-request' && typeof value['elicitationId'] === 'string';
}
