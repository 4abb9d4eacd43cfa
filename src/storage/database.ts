import type { Kysely } from 'kysely';
import type { TurnEndings } from './notifications/turn-endings.ts';
import type { Notifications } from './notifications/notifications.ts';
import type { QuestionObserver } from './ports/elicitations.ts';
import type { Tables } from './schema.ts';

/** What the tables, the log and the notifications of this folder share. */
export interface Database {
  kind: 'sqlite' | 'postgres';
  query: Kysely<Tables>;
  notifications: Notifications;
  endings: TurnEndings;
  questions: QuestionObserver;
  now: () => number;
}
