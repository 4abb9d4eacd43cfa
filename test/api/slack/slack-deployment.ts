/** The program as processes, with PostgreSQL and a Temporal of its own, and a fake Slack with the workspace T1 around it. */
import { expect } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { createOwnDeployment } from '../../operations/outages.ts';
import { startWorkspace } from './alice-in-slack.ts';

export type SlackDeployment = Awaited<ReturnType<typeof createSlackDeployment>>;

/** No process runs yet. */
export async function createSlackDeployment(env: Record<string, string> = {}) {
  const { slack, acme, chat, env: slackEnv } = await startWorkspace();
  const { deployment, temporal, databaseUrl } = await createOwnDeployment({ ...slackEnv, ...env });
  deployment.defer(() => slack[Symbol.asyncDispose]());
  const storage = await openStorage({ kind: 'postgres', url: databaseUrl });
  deployment.defer(() => storage.close());
  return {
    deployment,
    slack,
    acme,
    chat,
    /** What the processes have, too. */
    storage,
    temporalAddress: temporal.address,
    /** U1 mentions the app; the message's place is its thread. */
    async mention(text: string, channel: string, baseUrl = deployment.baseUrl) {
      const ts = slack.nextTs();
      const event = { type: 'app_mention', channel, user: 'U1', text: `<@${acme.botUser}> ${text}`, ts };
      const sent = await slack.deliver([`${baseUrl}/slack/events`], event, { team: 'T1' });
      expect(sent.at(-1)?.status).toBe(200);
      return ts;
    },
  };
}
