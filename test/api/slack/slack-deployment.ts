/** The program as processes, with PostgreSQL and a Temporal of its own, and a fake Slack with the workspace T1 around it. */
import { pino } from 'pino';
import { expect } from 'vitest';
import { startTemporalServer } from '../../../src/platform/development/temporal-server.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { createDeployment, someKeys } from '../../e2e/deployment.ts';
import type { Deployment } from '../../e2e/deployment.ts';
import { freePort } from '../../free-port.ts';
import { postgresUrl } from '../../postgres.ts';
import { addChat } from '../../servers/slack/chat.ts';
import type { Chat } from '../../servers/slack/chat.ts';
import { startSlackServer } from '../../servers/slack/slack-server.ts';
import type { SlackServer } from '../../servers/slack/slack-server.ts';
import type { Workspace } from '../../servers/slack/slack-state.ts';

export interface SlackDeployment {
  deployment: Deployment;
  slack: SlackServer;
  acme: Workspace;
  chat: Chat;
  /** What the processes have, too. */
  storage: Storage;
  temporalAddress: string;
  /** U1 mentions the app; the message's place is its thread. */
  mention(text: string, channel: string, baseUrl?: string): Promise<string>;
}

/** No process runs yet. */
export async function createSlackDeployment(env: Record<string, string> = {}): Promise<SlackDeployment> {
  const slack = await startSlackServer();
  const acme = slack.addWorkspace('T1', 'Acme');
  acme.addUser('U1');
  const chat = addChat(slack);
  const temporalPort = await freePort();
  const temporalAddress = `127.0.0.1:${temporalPort}`;
  const databaseUrl = await postgresUrl();
  const deployment = await createDeployment({
    env: {
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      INTERLUDE_KEYS: someKeys,
      ...slack.env,
      SLACK_BOT_TOKEN: acme.botToken,
      SLACK_TENANT: 'demo',
      ...env,
    },
  });
  deployment.defer(() => slack[Symbol.asyncDispose]());
  const temporal = await startTemporalServer({
    temporal: { namespace: 'default', port: temporalPort, uiPort: await freePort() },
    dataDir: `${deployment.dataDir}/temporal`,
    logger: pino({ level: 'silent' }),
  });
  deployment.defer(() => temporal.stop());
  const storage = await openStorage({ kind: 'postgres', url: databaseUrl });
  deployment.defer(() => storage.close());
  return {
    deployment,
    slack,
    acme,
    chat,
    storage,
    temporalAddress,
    async mention(text, channel, baseUrl = deployment.baseUrl) {
      const ts = slack.nextTs();
      const event = { type: 'app_mention', channel, user: 'U1', text: `<@${acme.botUser}> ${text}`, ts };
      const sent = await slack.deliver([`${baseUrl}/slack/events`], event, { team: 'T1' });
      expect(sent.at(-1)?.status).toBe(200);
      return ts;
    },
  };
}
