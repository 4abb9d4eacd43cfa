import type { TurnRef } from '../../turn/turn.ts';

/** Where the callers of turns want to be told of them. What is secret is sealed. */
export interface PushConfigs {
  /** Takes the place of the caller's earlier one of this id. False when the caller has `limit` others for the turn. */
  put(config: PushConfig, limit: number): Promise<boolean>;
  get(key: PushConfigKey): Promise<PushConfig | null>;
  /** By their ids. */
  list(owner: Omit<PushConfigKey, 'id'>): Promise<PushConfig[]>;
  remove(key: PushConfigKey): Promise<void>;
  /** Null when it was removed, or another one has taken its place. */
  ofDelivery(deliveryId: string): Promise<PushConfig | null>;
  removeDelivery(deliveryId: string): Promise<void>;
  /** Of all callers. */
  deliveriesOf(turn: Pick<TurnRef, 'tenant' | 'turnId'>): Promise<string[]>;
}

export interface PushConfigKey {
  turn: Pick<TurnRef, 'tenant' | 'turnId'>;
  /** The principal that made it; nobody else sees it. */
  caller: string;
  id: string;
}

export interface PushConfig extends PushConfigKey {
  turn: Pick<TurnRef, 'tenant' | 'conversation' | 'turnId'>;
  /** Names what delivers it. Another one as soon as anything of it changes. */
  deliveryId: string;
  /** The version of the protocol that the target reads. */
  wire: '1.0' | '0.3';
  /** Its caller knows the extension for questions. */
  isStructured: boolean;
  /** Of the log, when it was made: the first notification tells how the turn stood there. */
  position: number;
  sealed: string;
}
