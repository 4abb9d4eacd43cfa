import type { Database } from '../database.ts';
import type { SlackTables } from '../ports/slack.ts';
import { createSlackDeliveries } from './slack-deliveries.ts';
import { createSlackEvents } from './slack-events.ts';
import { createSlackInstallations } from './slack-installations.ts';
import { createSlackPeople, createSlackTickets } from './slack-people.ts';
import { createSlackQuestions } from './slack-questions.ts';
import { createSlackThreads } from './slack-threads.ts';

export function createSlackTables(database: Database): SlackTables {
  return {
    installations: createSlackInstallations(database),
    events: createSlackEvents(database),
    people: createSlackPeople(database),
    tickets: createSlackTickets(database),
    threads: createSlackThreads(database),
    deliveries: createSlackDeliveries(database),
    questions: createSlackQuestions(database),
  };
}
