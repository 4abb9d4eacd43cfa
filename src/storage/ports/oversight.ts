/** What operators read of the turns and questions of all users. In all tenants where `tenant` is null. */
import type { Status } from '../../elicitation/elicitation.ts';
import type { TurnEndStatus } from '../../turn/turn.ts';
import type { ElicitationRow } from './elicitations.ts';
import type { TurnRow } from './turns.ts';

/** `waiting`: it goes on, and has an open question. `working`: it goes on without one. `cancelling`: it is to stop. */
export type TurnState = 'waiting' | 'working' | 'cancelling' | TurnEndStatus;

export interface TurnSearch {
  user?: string | undefined;
  /** Whose API key has begun it, for no user. */
  service?: string | undefined;
  agent?: string | undefined;
  /** A server or a delegated agent: turns that called it. */
  server?: string | undefined;
  state?: TurnState | undefined;
  /** When it was accepted: at this time or later, in epoch milliseconds. */
  since?: number | undefined;
  /** Before this time. */
  until?: number | undefined;
}

export interface QuestionSearch extends Pick<TurnSearch, 'user' | 'agent' | 'server' | 'since' | 'until'> {
  status?: Status | undefined;
}

/** A place in a list: the last item of the page before. */
export interface SearchPosition {
  createdAt: number;
  id: string;
}

export interface SearchPage {
  after: SearchPosition | null;
  limit: number;
}

export interface SeenTurn extends TurnRow {
  /** Its open questions, oldest first. */
  waitsFor: ElicitationRow[];
  /** Null: it is not traced. */
  traceId: string | null;
}

/** How often the model and the tools of a turn were called for the same thing. */
export interface Attempts {
  /** By the key of the step (turn/step-keys.ts), with the delegation where there is one. */
  steps: Map<string, number>;
  /** By the id of the call: attempts since its last pause. */
  calls: Map<string, number>;
}

export interface Oversight {
  /** Newest first. */
  turns(tenant: string | null, search: TurnSearch, page: SearchPage): Promise<SeenTurn[]>;
  questions(tenant: string | null, search: QuestionSearch, page: SearchPage): Promise<ElicitationRow[]>;
  turn(turnId: string): Promise<SeenTurn | null>;
  /** Ids that begin with these characters, which are hexadecimal; two at most. */
  idsBeginningWith(tenant: string | null, start: string): Promise<string[]>;
  /** Oldest first. */
  questionsOf(turnId: string): Promise<ElicitationRow[]>;
  attemptsOf(turnId: string): Promise<Attempts>;
}
