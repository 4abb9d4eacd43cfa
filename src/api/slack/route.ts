/** What Slack sends: `/slack/events`, `/slack/commands` and `/slack/interactivity`, each signed. People come to the pages instead. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { explainDatabaseTrouble } from '../http/database-trouble.ts';
import { ProblemError } from '../http/problems.ts';
import type { RecordRefusal } from '../../service/record-refusal.ts';
import type { SlackApp } from '../../service/slack/app.ts';
import { readEnvelope } from '../../slack/read-event.ts';
import { answerCommand, notInstalled } from './commands.ts';
import { takeInteraction } from './interactions.ts';
import { bodyLimit, formOf, jsonIn, jsonOf, requireSignature } from './signed.ts';
import { openSocketMode } from './socket-mode.ts';

export interface SlackSurfaceParts {
  slack: SlackApp;
  recordRefusal: RecordRefusal;
  logger: Logger;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
}

/** A Fastify plugin: `fastify.register(slackSurface, parts)`. */
export async function slackSurface(
  fastify: FastifyInstance,
  { slack, recordRefusal, ping, logger }: SlackSurfaceParts,
): Promise<void> {
  explainDatabaseTrouble(fastify, { ping });
  const { signingSecret } = slack.settings;
  await requireSignature(fastify, { signingSecret, recordRefusal });

  fastify.post('/slack/events', { bodyLimit }, async (request, reply) => {
    const envelope = readEnvelope(jsonOf(request));
    if (!envelope) throw new ProblemError('invalid_request', 'This is no event.');
    if (envelope.kind === 'verification') return { challenge: envelope.challenge };
    const received = envelope.kind === 'event' ? await slack.receive(envelope) : 'ignored';
    switch (received) {
      case 'kept':
      case 'ignored':
        return reply.code(200).send();
      case 'foreign':
        throw new ProblemError('forbidden', notInstalled, { headers: { 'x-slack-no-retry': '1' } });
      case 'early':
        throw new ProblemError('unavailable', 'Send it again in a moment.');
      default:
        return received satisfies never;
    }
  });

  fastify.post('/slack/commands', { bodyLimit }, (request) => answerCommand(slack, formOf(request)));

  fastify.post('/slack/interactivity', { bodyLimit }, async (request, reply) => {
    const answer = await takeInteraction(slack, jsonIn(formOf(request)['payload']), request.ip);
    return reply.code(200).send(answer);
  });

  const { appToken } = slack.settings;
  if (appToken === undefined) return;
  let endSocket: (() => Promise<void>) | undefined;
  fastify.addHook('onReady', async () => {
    endSocket = openSocketMode({ slack, appToken, logger });
  });
  fastify.addHook('onClose', () => endSocket?.());
}
