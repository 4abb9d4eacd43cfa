/** Socket Mode against a socket of the fake: what comes is taken and acknowledged, and a connection that ends is followed by another. */
import { once } from 'node:events';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { AddressInfo } from 'node:net';
import { openSocketMode } from '../../../src/api/slack/socket-mode.ts';
import type { SlackClick } from '../../../src/api/slack/clicks.ts';
import type { SlackSubmission } from '../../../src/api/slack/submissions.ts';
import type { SlackApp } from '../../../src/api/slack/app.ts';
import { createSlackInstalls } from '../../../src/service/slack/installs.ts';
import { MethodRefused } from '../../servers/slack/methods.ts';
import { startSlackServer } from '../../servers/slack/slack-server.ts';

test('events, commands, buttons and windows come over the socket, and over the next one when it ends', async () => {
  await using slack = await startSlackServer();
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  slack.methods.set('apps.connections.open', () => ({ url }));
  const received: unknown[] = [];
  const clicks: unknown[] = [];
  const log: string[] = [];
  const close = openSocketMode({
    slack: {
      settings: { apiUrl: `${slack.url}/api/` },
      receive: async (event: unknown) => {
        received.push(event);
        return 'kept';
      },
      interactivity: {
        click: (team: string, { value, slackUser }: SlackClick) => clicks.push([team, slackUser, value]),
        submit: async (_team: string, { elicitationId, values }: SlackSubmission) => ({
          response_action: 'errors',
          errors: { 'field-0': `${elicitationId}: ${values['field-0']?.['value']?.value}` },
        }),
      },
      runCommand: async (_team: string, { text }: { text: string }) => `you said ${text}`,
    } as unknown as SlackApp,
    appToken: 'xapp-1',
    logger: pino({ level: 'warn' }, { write: (line) => log.push(line) }),
  });
  const next = async () => {
    const [socket] = (await once(server, 'connection')) as [WebSocket];
    const ask = async (message: object) => {
      socket.send(JSON.stringify(message));
      return JSON.parse(String((await once(socket, 'message'))[0])) as unknown;
    };
    return { socket, ask };
  };
  const event = { type: 'event_callback', team_id: 'T1', event_id: 'Ev1', event: { type: 'message' } };
  const first = await next();
  first.socket.send(JSON.stringify({ type: 'hello' }));
  expect(await first.ask({ type: 'events_api', envelope_id: 'e1', payload: event })).toEqual({
    envelope_id: 'e1',
  });
  expect(received).toMatchObject([{ team: 'T1', eventId: 'Ev1' }]);
  const fields = { team_id: 'T1', channel_id: 'C1', user_id: 'U1', text: 'help' };
  expect(await first.ask({ type: 'slash_commands', envelope_id: 'e2', payload: fields })).toEqual({
    envelope_id: 'e2',
    payload: { response_type: 'ephemeral', text: 'you said help' },
  });
  const whose = { team: { id: 'T1' }, user: { id: 'U1' } };
  const pressed = {
    ...whose,
    type: 'block_actions',
    container: { type: 'view' },
    trigger_id: 't',
    actions: [{ action_id: 'question_look', value: 'q1' }],
  };
  expect(await first.ask({ type: 'interactive', envelope_id: 'e3', payload: pressed })).toEqual({
    envelope_id: 'e3',
  });
  expect(clicks).toEqual([['T1', 'U1', 'q1']]);
  const view = {
    id: 'V1',
    callback_id: 'question',
    private_metadata: 'q1',
    state: { values: { 'field-0': { value: { type: 'plain_text_input', value: 'L' } } } },
  };
  const sent = { ...whose, type: 'view_submission', view };
  expect(await first.ask({ type: 'interactive', envelope_id: 'e4', payload: sent })).toEqual({
    envelope_id: 'e4',
    payload: { response_action: 'errors', errors: { 'field-0': 'q1: L' } },
  });
  const coming = next();
  first.socket.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
  await coming;
  await close();
  expect(log.join()).toContain('Socket Mode is for development');
  server.close();
});

test('a token that Slack refuses is named in the log, with its code', async () => {
  await using slack = await startSlackServer();
  const refuse = () => {
    throw new MethodRefused('invalid_auth');
  };
  for (const method of ['auth.test', 'apps.connections.open']) slack.methods.set(method, refuse);
  const log: string[] = [];
  const logger = pino({}, { write: (line) => log.push((JSON.parse(line) as { msg: string }).msg) });
  const settings = { apiUrl: `${slack.url}/api/`, bot: { token: 'xoxb-wrong', tenant: 'demo' } };
  const installs = createSlackInstalls({
    storage: { slack: {} },
    slack: settings,
    logger,
  } as unknown as Parameters<typeof createSlackInstalls>[0]);
  installs.start();
  const close = openSocketMode({ slack: { settings } as SlackApp, appToken: 'xapp-wrong', logger });
  await vi.waitFor(() =>
    expect(log.filter((line) => line.includes('refuses')).toSorted()).toEqual([
      'Slack refuses SLACK_APP_TOKEN (invalid_auth): check it, and that Socket Mode is on',
      'Slack refuses SLACK_BOT_TOKEN (invalid_auth): check it, and that the app is installed',
    ]),
  );
  await Promise.all([close(), installs.close()]);
});
