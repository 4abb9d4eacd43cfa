/** What Slack sends, signed: `/slack/events`, `/slack/commands` and `/slack/interactivity`. */
import type { FastifyInstance } from 'fastify';
import { readEnvelope } from './read-event.ts';
import { whenTogether } from '../http/health.ts';
import { ProblemError } from '../http/problems.ts';
import { parseJson } from '../http/signed-requests.ts';
import { createSlackApp } from './app.ts';
import { answerCommand, notInstalled } from './commands.ts';
import type { SlackContext } from './context.ts';
import { takeInteraction } from './interactions.ts';
import { bodyLimit, formOf, jsonOf, requireSignature } from './signed.ts';
import { openSocketMode } from './socket-mode.ts';

/** A Fastify plugin: `fastify.register(slackSurface, parts)`. */
export async function slackSurface(fastify: FastifyInstance, parts: SlackContext): Promise<void> {
  const { service, logger } = parts;
  const { signingSecret, appToken } = parts.slack.settings;
  const slack = createSlackApp(parts);
  await requireSignature(fastify, service, signingSecret);

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

  fastify.post('/slack/commands', { bodyLimit }, (request) =>
    answerCommand(slack.runCommand, formOf(request)),
  );

  fastify.post('/slack/interactivity', { bodyLimit }, async (request, reply) => {
    const answer = await takeInteraction(
      slack.interactivity,
      parseJson(formOf(request)['payload'] ?? ''),
      request.ip,
    );
    return reply.code(200).send(answer);
  });

  let endSocket: (() => Promise<void>) | undefined;
  whenTogether(fastify, service, () => {
    slack.start();
    if (appToken !== undefined) endSocket = openSocketMode({ slack, appToken, logger });
  });
  fastify.addHook('onClose', async () => {
    await endSocket?.();
    await slack.idle();
  });
}
