import type { TurnRef } from '../../turn/turn.ts';

/** Where the callers of turns want to be told of them. What is secret is sealed. */
export interface PushConfigs {
  /** Takes the place of the caller's earlier one of this id. Otherwise names the limit that the caller has reached. */
  put(config: PushConfig, limits: PushLimits): Promise<'kept' | keyof PushLimits>;
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

/** Of one caller: for one turn, and for all of their turns. One that has been told of the end no longer counts. */
export interface PushLimits {
  perTurn: number;
  perCaller: number;
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
