/**
 * A delivery whose history becomes long goes on as a new run, without a word lost or said twice. A Temporal of its own, which
 * finds histories long after a dozen events.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTools } from '../../../scripts/setup/tools.mjs';
import { slackDeliveryWorkflowId } from '../../../src/workflows/messages.ts';
import { roundsAgents } from '../../asking/asking-service.ts';
import { installQuietRuntime } from '../../quiet-runtime.ts';
import { asks, form, startScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import { addChat } from '../../servers/slack/chat.ts';
import type { Chat } from '../../servers/slack/chat.ts';
import { startSlackServer } from '../../servers/slack/slack-server.ts';
import type { SlackServer } from '../../servers/slack/slack-server.ts';
import { callOf, respond } from '../../service/asking.ts';
import { startService } from '../../service/service.ts';
import type { Service } from '../../service/service.ts';
import { temporalOf } from '../../time-skipping.ts';
import { linkAlice, writeAsAlice } from './alice-in-slack.ts';

const longAfter = 12;
const soon = { timeout: 40_000 };

let environment: TestWorkflowEnvironment;
let slack: SlackServer;
let chat: Chat;
let server: ScriptedMcpServer;
let service: Service;

beforeAll(async () => {
  installQuietRuntime();
  const path = readTools().temporal ?? '';
  environment = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path },
      extraArgs: ['--dynamic-config-value', `limit.historyCount.suggestContinueAsNew=${longAfter}`],
    },
  });
  slack = await startSlackServer();
  const acme = slack.addWorkspace('T1', 'Acme');
  acme.addUser('U1');
  chat = addChat(slack);
  server = await startScriptedMcpServer();
  service = await startService({
    temporal: temporalOf(environment),
    env: {
      ...slack.env,
      SLACK_BOT_TOKEN: acme.botToken,
      SLACK_TENANT: 'demo',
      INTERLUDE_CONFIG: roundsAgents,
      ASKING_URL: server.url,
    },
  });
  await linkAlice(service.storage.slack);
});
afterAll(async () => {
  await service.stop();
  await server.stop();
  await slack[Symbol.asyncDispose]();
  await environment.teardown();
});

test('a delivery goes on as a new run when its history is long, between questions that are answered', async () => {
  const cities = ['one', 'two', 'three', 'four'];
  server.play(...cities.map((name) => asks({ trip: form(`Which city, ${name}?`) }, name)));
  const ts = await writeAsAlice(slack, service, callOf(['ask', {}]));
  const alice = await service.as('alice');
  let turnId = '';
  for (const name of cities) {
    await expect.poll(() => chat.texts('DU1', ts).at(-1), soon).toContain(`Which city, ${name}?`);
    const [open] = await service.storage.elicitations.openOf({ tenant: 'demo', user: 'alice' });
    turnId = open?.turnId ?? '';
    const answer = { action: 'accept', content: { city: 'Oslo' } };
    const given = await respond(alice, open?.conversation ?? '', { elicitationId: open?.id ?? '' }, answer);
    expect(given.status).toBeLessThan(300);
  }
  const id = slackDeliveryWorkflowId(turnId);
  expect(await environment.client.workflow.getHandle(id).result()).toEqual({ status: 'delivered' });
  expect(chat.texts('DU1', ts)).toEqual([...cities.map(() => '*Asking*: Answered elsewhere.'), 'done']);
  const runs = async () => {
    const found: string[] = [];
    for await (const run of environment.client.workflow.list({ query: `WorkflowId = '${id}'` })) {
      found.push(run.status.name);
      expect(run.historyLength ?? 0).toBeLessThan(4 * longAfter);
    }
    return found;
  };
  await expect.poll(async () => (await runs()).length, soon).toBeGreaterThan(2);
  // The list learns of an end later than the waiting client.
  const completed = async () => (await runs()).filter((status) => status === 'COMPLETED').length;
  await expect.poll(completed, soon).toBe(1);
}, 180_000);
