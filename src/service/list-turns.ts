/** A caller's turns with one agent, last changed first, page by page. */
import type { TurnFilter, TurnPosition } from '../storage/ports/turns.ts';
import type { Storage } from '../storage/storage.ts';
import { toOwnTurn } from './own-turn.ts';
import type { OwnTurn } from './own-turn.ts';
import { ownerOf } from './principal.ts';
import type { Principal } from './principal.ts';

export type { TurnFilter, TurnPosition } from '../storage/ports/turns.ts';

export interface TurnPage {
  turns: OwnTurn[];
  /** Of all pages. */
  total: number;
  /** Where the next page goes on; null on the last. */
  next: TurnPosition | null;
}

export async function listTurns(
  { turns }: Pick<Storage, 'turns'>,
  principal: Principal,
  filter: TurnFilter,
  { after, limit }: { after: TurnPosition | null; limit: number },
): Promise<TurnPage> {
  const { rows, total } = await turns.list(ownerOf(principal), filter, { after, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const next =
    last && rows.length > limit ? { changedAt: last.endedAt ?? last.createdAt, turnId: last.turnId } : null;
  return { turns: page.map(toOwnTurn), total, next };
}
