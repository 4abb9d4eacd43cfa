/**
 * Socket Mode, for development: events, commands and clicks arrive over a WebSocket that we open, so no public address is
 * needed. They are handled as over HTTP; the connection replaces the signature.
 */
import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { createSlackClient, troubleOf } from '../../remote/slack.ts';
import { readEnvelope } from './read-event.ts';
import type { SlackApp } from './app.ts';
import { answerCommand } from './commands.ts';
import { takeInteraction } from './interactions.ts';

const messageSchema = z.object({
  type: z.string(),
  envelope_id: z.string().nullish(),
  payload: z.unknown().optional(),
});
/** Slack ends each connection after some hours. */
const againMs = 1_000;
const afterRefusalMs = 10_000;

/** Unlike the library's own connections, it uses the proxy of the environment. */
const agentFor = (url: string) => (url.startsWith('wss:') ? https : http).globalAgent;

/** Returns a function that closes it. */
export function openSocketMode({
  slack,
  appToken,
  logger,
}: {
  slack: SlackApp;
  appToken: string;
  logger: Logger;
}): () => Promise<void> {
  const closing = new AbortController();
  const run = async () => {
    logger.warn('Slack: Socket Mode is for development; in production let Slack send to /slack/events');
    while (!closing.signal.aborted) {
      let pauseMs = againMs;
      try {
        await connection();
      } catch (error) {
        const trouble = troubleOf(error);
        if (trouble.kind === 'refused') {
          logger.error(
            `Slack refuses SLACK_APP_TOKEN (${trouble.code}): check it, and that Socket Mode is on`,
          );
          pauseMs = afterRefusalMs;
        } else logger.warn({ err: error }, 'Slack: the socket failed; connecting again');
      }
      await sleep(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  };

  /** Resolves when the connection has closed. */
  async function connection(): Promise<void> {
    const { url } = await createSlackClient(slack.settings.apiUrl, appToken).apps.connections.open({});
    if (url === undefined) throw new Error('Slack names no socket');
    const socket = new WebSocket(url, { agent: agentFor(url) });
    const end = () => socket.close();
    closing.signal.addEventListener('abort', end);
    await new Promise<void>((resolve, reject) => {
      socket.on('close', () => resolve());
      socket.on('error', reject);
      socket.on('message', (data: Buffer) => {
        receive(socket, data.toString()).catch((error: unknown) =>
          logger.warn({ err: error }, 'Slack: an event could not be stored; Slack sends it again'),
        );
      });
    }).finally(() => closing.signal.removeEventListener('abort', end));
  }

  async function receive(socket: WebSocket, text: string): Promise<void> {
    const { type, envelope_id, payload } = messageSchema.parse(JSON.parse(text));
    if (type === 'disconnect') return socket.close();
    if (envelope_id == null) return;
    const envelope = type === 'events_api' ? readEnvelope(payload) : null;
    // The workspace is not known yet. What is not acknowledged, Slack sends again.
    if (envelope?.kind === 'event' && (await slack.receive(envelope)) === 'early') return;
    const answer = await answerTo(type, payload);
    socket.send(JSON.stringify({ envelope_id, ...(answer !== undefined && { payload: answer }) }));
  }

  async function answerTo(type: string, payload: unknown): Promise<unknown> {
    if (type === 'slash_commands') return answerCommand(slack.runCommand, payload);
    return type === 'interactive' ? takeInteraction(slack.interactivity, payload, null) : undefined;
  }

  const running = run();
  return async () => {
    closing.abort();
    await running;
  };
}
