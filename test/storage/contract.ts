/** What every database must do. Run by `sqlite.test.ts` and `postgres.test.ts`. */
import { afterAll, beforeAll } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { approvalsContract } from './contract/approvals.ts';
import { connectionsContract } from './contract/connections.ts';
import { conversationsContract } from './contract/conversations.ts';
import { delegationsContract } from './contract/delegations.ts';
import { dueTurnsContract } from './contract/due-turns.ts';
import { elicitationsContract } from './contract/elicitations.ts';
import { endedTurnsContract } from './contract/ended-turns.ts';
import { figuresContract } from './contract/figures.ts';
import { followContract } from './contract/follow.ts';
import { imagesContract } from './contract/images.ts';
import { installationContract } from './contract/installation.ts';
import { mcpSessionsContract } from './contract/mcp-sessions.ts';
import { openQuestionsContract } from './contract/open-questions.ts';
import { outboxContract } from './contract/outbox.ts';
import { settlingContract } from './contract/settling.ts';
import { supersedingContract } from './contract/superseding.ts';
import { oversightContract } from './contract/oversight.ts';
import { pollsContract } from './contract/polls.ts';
import { mergeContract } from './contract/merge.ts';
import { processesContract } from './contract/processes.ts';
import { recordsContract } from './contract/records.ts';
import { stepsContract } from './contract/steps.ts';
import { toolCallsContract } from './contract/tool-calls.ts';
import { pushConfigsContract } from './contract/push-configs.ts';
import { slackContract } from './contract/slack.ts';
import { slackDeliveriesContract } from './contract/slack-deliveries.ts';
import { toolCatalogueContract } from './contract/tool-catalogue.ts';
import { turnEndingsContract } from './contract/turn-endings.ts';
import { turnLogContract } from './contract/turn-log.ts';
import { turnTracesContract } from './contract/turn-traces.ts';
import { turnsContract } from './contract/turns.ts';
import { versionsContract } from './contract/versions.ts';
import { voidTextContract } from './contract/void-text.ts';

export type DatabaseConfig = Config['database'];

export interface Subject {
  /** Two storages on one database, as two processes would have. */
  storage: Storage;
  other: Storage;
  database: DatabaseConfig;
  fresh: () => Promise<DatabaseConfig>;
}

export function storageContract(fresh: () => Promise<DatabaseConfig>): void {
  let subject: Subject | undefined;
  beforeAll(async () => {
    const database = await fresh();
    subject = { storage: await openStorage(database), other: await openStorage(database), database, fresh };
  });
  afterAll(async () => {
    await subject?.storage.close();
    await subject?.other.close();
  });
  const get = () => {
    if (!subject) throw new Error('the database is opened before the tests run');
    return subject;
  };
  turnLogContract(get);
  followContract(get);
  mergeContract(get);
  voidTextContract(get);
  turnsContract(get);
  turnTracesContract(get);
  versionsContract(get);
  dueTurnsContract(get);
  turnEndingsContract(get);
  stepsContract(get);
  endedTurnsContract(get);
  approvalsContract(get);
  conversationsContract(get);
  toolCallsContract(get);
  delegationsContract(get);
  elicitationsContract(get);
  settlingContract(get);
  supersedingContract(get);
  outboxContract(get);
  figuresContract(get);
  imagesContract(get);
  installationContract(get);
  mcpSessionsContract(get);
  openQuestionsContract(get);
  oversightContract(get);
  pollsContract(get);
  connectionsContract(get);
  recordsContract(get);
  pushConfigsContract(get);
  slackContract(get);
  slackDeliveriesContract(get);
  toolCatalogueContract(get);
  processesContract(get);
}
