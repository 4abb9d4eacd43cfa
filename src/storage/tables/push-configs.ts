import type { Selectable } from 'kysely';
import type { Database } from '../database.ts';
import type { PushConfig, PushConfigKey, PushConfigs } from '../ports/push-configs.ts';
import type { Tables } from '../schema.ts';

export function createPushConfigs({ query }: Database): PushConfigs {
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
    async put(config, { perTurn, perCaller }) {
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
    async get(key) {
      const row = await ofOwner(key).where('id', '=', key.id).executeTakeFirst();
      return row ? toConfig(row) : null;
    },
    async list(owner) {
      return (await ofOwner(owner).orderBy('id').execute()).map(toConfig);
    },
    async remove(key) {
      await remove(key).execute();
    },
    async ofDelivery(deliveryId) {
      const row = await query
        .selectFrom('push_configs')
        .selectAll()
        .where('delivery_id', '=', deliveryId)
        .executeTakeFirst();
      return row ? toConfig(row) : null;
    },
    async removeDelivery(deliveryId) {
      await query.deleteFrom('push_configs').where('delivery_id', '=', deliveryId).execute();
    },
    async deliveriesOf({ tenant, turnId }) {
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
