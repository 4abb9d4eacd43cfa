import type { Kysely } from 'kysely';
import type { TurnEndings } from './notifications/turn-endings.ts';
import type { WakeUps } from './notifications/notifications.ts';
import type { QuestionObserver } from './ports/elicitations.ts';
import type { Tables } from './schema.ts';

/** What the tables, the log and the notifications of this folder share. */
export interface Database {
  kind: 'sqlite' | 'postgres';
  query: Kysely<Tables>;
  wakeUps: WakeUps;
  endings: TurnEndings;
  questions: QuestionObserver;
  now: () => number;
}
