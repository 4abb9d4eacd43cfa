/** Answers in Slack to somebody who is asked whether to connect an account, with a fake Slack as it is told to be. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowClient } from '@temporalio/client';
import { openBrowser } from '../test/browsers/plain-browser.ts';
import type { Deployment } from '../test/e2e/deployment.ts';
import { addChat } from '../test/servers/slack/chat.ts';
import type { Fault } from '../test/servers/slack/chat.ts';
import { startSlackServer } from '../test/servers/slack/slack-server.ts';

interface Parts {
  deployment: Deployment;
  temporal: WorkflowClient;
}

/** Starts the service with a Slack app. U1 is bob by then. */
export async function startSlackAnswers({ deployment, temporal }: Parts) {
  const slack = await startSlackServer();
  deployment.defer(() => slack[Symbol.asyncDispose]());
  const acme = slack.addWorkspace('T1', 'Acme');
  acme.addUser('U1');
  const chat = addChat(slack);
  await deployment.start('start', { ...slack.env, SLACK_BOT_TOKEN: acme.botToken, SLACK_TENANT: 'demo' });
  const known = new Set<string>();

  async function write(text: string): Promise<void> {
    const event = {
      type: 'message',
      channel: 'DU1',
      channel_type: 'im',
      user: 'U1',
      text,
      ts: slack.nextTs(),
    };
    const url = `${deployment.baseUrl}/slack/events`;
    // Until it is known whose token it is, Slack is told to come again.
    while ((await slack.sendEvent(url, event, { team: 'T1' })).status !== 200) await delay(100);
  }

  /** Temporal lists what has begun a little later. */
  async function delivery(): Promise<string> {
    for (;;) {
      for await (const { workflowId } of temporal.list({ query: `WorkflowType = 'slackDelivery'` }))
        if (!known.has(workflowId)) {
          known.add(workflowId);
          return workflowId;
        }
      await delay(100);
    }
  }

  async function isOver(workflowId: string): Promise<boolean> {
    const { status } = await temporal.getHandle(workflowId).describe();
    return status.name !== 'RUNNING';
  }

  async function decline(): Promise<void> {
    const bob = await deployment.caller('bob');
    for (;;) {
      const { body } = await bob.request('GET', '/run/v1/elicitations');
      const [item] = body['items'] as { conversationId: string; elicitationId: string }[];
      if (item) {
        // Long enough for the delivery to wait.
        await delay(3_000);
        const { conversationId, elicitationId } = item;
        const { status } = await bob.answer({ conversationId, elicitationId, action: 'decline' });
        if (status !== 200) throw new Error(`The answer was refused: ${status}`);
        return;
      }
      await delay(100);
    }
  }

  await write('hello');
  const [offer] = await slack.until(({ args }) => String(args['text']).includes('/slack/link?t='));
  const [, link = ''] = /<([^|>]+)\|/.exec(String(offer?.args['text'])) ?? [];
  const browser = openBrowser();
  await browser.press(await browser.press(await browser.get(link), 'Continue as Bob'), 'Yes, this is me');
  await temporal.getHandle(await delivery()).result();

  return {
    /** The first calls of Slack go wrong like this. Resolves with the id of the workflow once it is over. */
    async ask(...faults: Fault[]): Promise<string> {
      const left = [...faults];
      chat.fault = ({ method }) => (method.startsWith('chat.') ? left.shift() : undefined);
      await write('list my open issues');
      const workflowId = await delivery();
      while (left.length > 0 && !(await isOver(workflowId))) await delay(100);
      await decline();
      await temporal.getHandle(workflowId).result();
      return workflowId;
    },
  };
}
