import type { TurnRef } from '../../turn/turn.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { Database } from '../database.ts';
import type { Row } from '../schema.ts';
import type { PushConfig, PushConfigKey } from '../schema/session-tables.ts';
import { deleteRows, findRow, findRows, upsert } from '../statements.ts';

/** Per caller: for one turn, and for all turns. Targets that have been notified of the end do not count. */
interface PushLimits {
  perTurn: number;
  perCaller: number;
}

/** Where the callers of turns want to be notified. */
export function createPushConfigs({ query }: Database) {
  const ofOwner = ({ turn, caller }: Omit<PushConfigKey, 'id'>) => ({
    tenant: turn.tenant,
    turn_id: turn.turnId,
    caller,
  });

  return {
    /** Replaces the caller's earlier one of this id. Otherwise returns the limit that the caller has reached. */
    async put(config: PushConfig, { perTurn, perCaller }: PushLimits): Promise<'kept' | keyof PushLimits> {
      const all = await findRows(query, 'push_configs', { caller: config.caller });
      const ofTurn = all.filter(
        (row) => row.tenant === config.turn.tenant && row.turn_id === config.turn.turnId,
      );
      if (!ofTurn.some(({ id }) => id === config.id)) {
        if (ofTurn.length >= perTurn) return 'perTurn';
        if (all.length >= perCaller) return 'perCaller';
      }
      const { turn, id, deliveryId, wire, isStructured: structured, position, sealed } = config;
      const { conversation } = turn;
      const values = toColumns({ conversation, deliveryId, wire, structured, position, sealed });
      await upsert(query, 'push_configs', { ...ofOwner(config), id }, values);
      return 'kept';
    },
    async get(key: PushConfigKey): Promise<PushConfig | null> {
      const row = await findRow(query, 'push_configs', { ...ofOwner(key), id: key.id });
      return row ? toConfig(row) : null;
    },
    async list(owner: Omit<PushConfigKey, 'id'>): Promise<PushConfig[]> {
      return (await findRows(query, 'push_configs', ofOwner(owner), 'id')).map(toConfig);
    },
    async remove(key: PushConfigKey): Promise<void> {
      await deleteRows(query, 'push_configs', { ...ofOwner(key), id: key.id });
    },
    /** Null when it was removed or replaced. */
    async ofDelivery(deliveryId: string): Promise<PushConfig | null> {
      const row = await findRow(query, 'push_configs', { delivery_id: deliveryId });
      return row ? toConfig(row) : null;
    },
    async removeDelivery(deliveryId: string): Promise<void> {
      await deleteRows(query, 'push_configs', { delivery_id: deliveryId });
    },
    /** Of all callers. */
    async deliveriesOf({ tenant, turnId }: Pick<TurnRef, 'tenant' | 'turnId'>): Promise<string[]> {
      const rows = await findRows(query, 'push_configs', { tenant, turn_id: turnId });
      return rows.map((row) => row.delivery_id);
    },
  };
}

function toConfig(row: Row<'push_configs'>): PushConfig {
  const { tenant, conversation, turnId, structured, ...config } = fromColumns(row);
  return { ...config, turn: { tenant, conversation, turnId }, isStructured: structured === 1 };
}
