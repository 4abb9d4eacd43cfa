import type { Selectable } from 'kysely';
import type { TurnRef } from '../../turn/turn.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';
import type { PushConfig, PushConfigKey } from '../schema/session-tables.ts';

/** Per caller: for one turn, and for all turns. Targets that have been notified of the end do not count. */
interface PushLimits {
  perTurn: number;
  perCaller: number;
}

/** Where the callers of turns want to be notified. */
export function createPushConfigs({ query }: Database) {
  const ofOwner = ({ turn, caller }: Omit<PushConfigKey, 'id'>) =>
    query
      .selectFrom('push_configs')
      .selectAll()
      .where('tenant', '=', turn.tenant)
      .where('turn_id', '=', turn.turnId)
      .where('caller', '=', caller);
  const remove = ({ turn, caller, id }: PushConfigKey) =>
    query
      .deleteFrom('push_configs')
      .where('tenant', '=', turn.tenant)
      .where('turn_id', '=', turn.turnId)
      .where('caller', '=', caller)
      .where('id', '=', id);
  return {
    /** Replaces the caller's earlier one of this id. Otherwise returns the limit that the caller has reached. */
    async put(config: PushConfig, { perTurn, perCaller }: PushLimits): Promise<'kept' | keyof PushLimits> {
      const all = await query
        .selectFrom('push_configs')
        .select(['tenant', 'turn_id', 'id'])
        .where('caller', '=', config.caller)
        .execute();
      const ofTurn = all.filter(
        (row) => row.tenant === config.turn.tenant && row.turn_id === config.turn.turnId,
      );
      if (!ofTurn.some(({ id }) => id === config.id)) {
        if (ofTurn.length >= perTurn) return 'perTurn';
        if (all.length >= perCaller) return 'perCaller';
      }
      const row = toRow(config);
      await query
        .insertInto('push_configs')
        .values(row)
        .onConflict((same) => same.columns(['tenant', 'turn_id', 'caller', 'id']).doUpdateSet(row))
        .execute();
      return 'kept';
    },
    async get(key: PushConfigKey): Promise<PushConfig | null> {
      const row = await ofOwner(key).where('id', '=', key.id).executeTakeFirst();
      return row ? toConfig(row) : null;
    },
    async list(owner: Omit<PushConfigKey, 'id'>): Promise<PushConfig[]> {
      return (await ofOwner(owner).orderBy('id').execute()).map(toConfig);
    },
    async remove(key: PushConfigKey): Promise<void> {
      await remove(key).execute();
    },
    /** Null when it was removed or replaced. */
    async ofDelivery(deliveryId: string): Promise<PushConfig | null> {
      const row = await query
        .selectFrom('push_configs')
        .selectAll()
        .where('delivery_id', '=', deliveryId)
        .executeTakeFirst();
      return row ? toConfig(row) : null;
    },
    async removeDelivery(deliveryId: string): Promise<void> {
      await query.deleteFrom('push_configs').where('delivery_id', '=', deliveryId).execute();
    },
    /** Of all callers. */
    async deliveriesOf({ tenant, turnId }: Pick<TurnRef, 'tenant' | 'turnId'>): Promise<string[]> {
      const rows = await query
        .selectFrom('push_configs')
        .select('delivery_id')
        .where('tenant', '=', tenant)
        .where('turn_id', '=', turnId)
        .execute();
      return rows.map((row) => row.delivery_id);
    },
  };
}

function toRow({ turn, caller, id, deliveryId, wire, isStructured, position, sealed }: PushConfig) {
  return {
    delivery_id: deliveryId,
    tenant: turn.tenant,
    turn_id: turn.turnId,
    conversation: turn.conversation,
    caller,
    id,
    wire,
    structured: isStructured ? 1 : 0,
    position,
    sealed,
  };
}

function toConfig(row: Selectable<Tables['push_configs']>): PushConfig {
  const { tenant, turn_id: turnId, conversation, caller, id, wire, position, sealed } = row;
  return {
    turn: { tenant, conversation, turnId },
    caller,
    id,
    deliveryId: row.delivery_id,
    wire,
    isStructured: row.structured === 1,
    position,
    sealed,
  };
}
