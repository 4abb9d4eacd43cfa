/**
 * Answers in Slack. Made from the turn's log when they are shown, so that history has positions of the log in it and
 * nothing that anybody said.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Context, heartbeat } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { createSlackClients } from '../../credentials/slack-clients.ts';
import { SealingError } from '../../credentials/sealing/key-ring.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { toAnswer } from '../../slack/answer.ts';
import type { Answer } from '../../slack/answer.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DeliveryReport } from '../../turn/delivery-report.ts';
import type { HeldCallLimit } from '../call-tool/held-call-limit.ts';
import { heartbeatMs } from '../heartbeat.ts';
import { slackDeliveryDeadMs } from '../../workflows/messages.ts';
import { createMessages } from './messages.ts';
import { openTurn } from './open-turn.ts';
import { showAnswer } from './show-answer.ts';
import { createSlackCalls, SlackCallFailed } from './slack-calls.ts';
import type { SessionStatus, SlackCalls } from './slack-calls.ts';
import { aboutTurn } from '../../telemetry/events.ts';
import type { TurnRef } from '../../turn/turn.ts';

export interface ShowInput {
  turnId: string;
  /** Up to where in the log the thread shows the answer. */
  position: number;
  /** Something is about to happen, although the log does not say so yet. */
  isAwaited: boolean;
}

/** `ended`: all is shown. `impossible`: it cannot be shown there. */
export type ShowReport = DeliveryReport<number, 'ended' | 'impossible'>;

export type GivenUpSlack = { turnId: string };

/** How long an activity waits for what comes; less where others wait for their turn. */
const followMs = 10_000;
/** How long it waits for the answer before, and how often it looks. */
const turnMs = 500;
const turnPollMs = 100;
const crowdedMs = 1_000;
/** Between two looks: a stream may be added to more than a hundred times in a minute, a message edited fifty times. */
const streamPaceMs = 700;
const editPaceMs = 1_300;

interface Parts {
  storage: Storage;
  keys: KeyRing;
  config: Pick<Config, 'slack' | 'worker'>;
  heldCallLimit: HeldCallLimit;
  logger: Logger;
}

export function createSlackActivities({ storage, keys, config, heldCallLimit, logger }: Parts) {
  const clients = config.slack && createSlackClients({ storage, keys, apiUrl: config.slack.apiUrl });
  // Slack is not to take the slots that turns work with.
  const most = Math.max(1, Math.floor(config.worker.calls / 4));
  let underWay = 0;
  let turnedAwayAt = 0;

  async function show(input: ShowInput, at: { position: number }): Promise<ShowReport> {
    const { turnId } = input;
    const delivery = await storage.slack.deliveries.get(turnId);
    const workspace = delivery && (await clients?.of(delivery.team));
    if (!delivery || !workspace) return { kind: clients ? 'impossible' : 'failed', position: at.position };
    const holder = randomUUID();
    await storage.slack.deliveries.hold(turnId, holder);
    if (!(await isNext(turnId))) return { kind: 'waiting', position: at.position };
    const calls = createSlackCalls(workspace, delivery);
    const rows = await storage.slack.deliveries.messages(turnId);
    const messages = createMessages({ storage, calls, delivery, holder, rows });
    const isCrowded = Date.now() - turnedAwayAt < followMs;
    const until = AbortSignal.any([
      Context.current().cancellationSignal,
      heldCallLimit.whenEnding,
      AbortSignal.timeout(isCrowded ? crowdedMs : followMs),
    ]);
    const streaming = { isPossible: delivery.streams };
    const wasSettledElsewhere = remembering(storage.slack.questions.wasSettledElsewhere);
    const tellStatus = createStatus(calls);
    await using turn = await openTurn(storage, delivery.turn, until);
    let mayWait = input.isAwaited;
    for (;;) {
      const seen = turn.position();
      const answer = toAnswer(turn.entries);
      tellStatus(answer, seen > input.position);
      await showAnswer(messages, answer, {
        slackUser: delivery.slackUser,
        streaming,
        wasSettledElsewhere,
      });
      if (seen > at.position) at.position = seen;
      if (answer.state === 'ended') return { kind: 'ended', position: at.position };
      if (answer.state === 'waiting' && !mayWait) return { kind: 'waiting', position: at.position };
      await Promise.all([
        turn.after(seen),
        pause(calls.madeAt() + (streaming.isPossible ? streamPaceMs : editPaceMs) - Date.now(), until),
      ]);
      if (until.aborted) return { kind: answer.state, position: at.position };
      if (turn.position() > seen) mayWait = false;
    }
  }

  /** Whether the answers before it are in the thread. One that is about to be is waited for. */
  async function isNext(turnId: string): Promise<boolean> {
    for (const until = Date.now() + turnMs; ; await delay(turnPollMs)) {
      const earlier = await storage.slack.deliveries.earlier(turnId, slackDeliveryDeadMs);
      if (earlier.length === 0) return true;
      if (Date.now() > until || heldCallLimit.whenEnding.aborted) return false;
    }
  }

  /** For the log. */
  async function aboutAnswer(turnId: string): Promise<Partial<TurnRef>> {
    const delivery = await storage.slack.deliveries.get(turnId).catch(() => null);
    return delivery ? aboutTurn(delivery.turn) : { turnId };
  }

  async function orTrouble(input: ShowInput, at: { position: number }): Promise<ShowReport> {
    try {
      return await show(input, at);
    } catch (error) {
      const { position } = at;
      // A key may be put back.
      if (error instanceof SealingError) {
        logger.error(
          { err: error, ...(await aboutAnswer(input.turnId)) },
          'the token of a workspace cannot be read',
        );
        return { kind: 'failed', position };
      }
      if (!(error instanceof SlackCallFailed)) throw error;
      const { trouble, message } = error;
      switch (trouble.kind) {
        case 'rate-limited':
          return { kind: 'limited', position, retryAfterMs: trouble.retryAfterMs };
        case 'unavailable':
          logger.warn(
            { ...(await aboutAnswer(input.turnId)), reason: message },
            'an answer could not be sent to Slack',
          );
          return { kind: 'failed', position };
        case 'refused':
          logger.error(
            { ...(await aboutAnswer(input.turnId)), reason: message },
            'an answer cannot be shown in Slack and is given up',
          );
          return { kind: 'impossible', position };
        default:
          return trouble satisfies never;
      }
    }
  }

  return {
    async showInSlack(input: ShowInput): Promise<ShowReport> {
      const at = { position: input.position };
      if (underWay >= most) {
        turnedAwayAt = Date.now();
        return { kind: 'busy', position: at.position };
      }
      underWay += 1;
      const beat = setInterval(heartbeat, heartbeatMs);
      try {
        const report = await orTrouble(input, at);
        if (report.kind === 'ended' || report.kind === 'impossible')
          await storage.slack.deliveries.end(input.turnId);
        return report;
      } finally {
        clearInterval(beat);
        underWay -= 1;
      }
    },

    async giveUpSlack({ turnId }: GivenUpSlack): Promise<void> {
      const about = await aboutAnswer(turnId);
      await storage.slack.deliveries.end(turnId);
      logger.error(about, 'an answer could not be sent to Slack before its deadline');
    },
  };
}

/** What is settled stays so: each is looked up once. */
function remembering<T>(look: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (id) => {
    const found = known.get(id) ?? look(id);
    known.set(id, found);
    return found;
  };
}

async function pause(ms: number, until: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal: until }).catch(() => undefined);
}

/** A quiet line under the thread. Nothing depends on it, and Slack has it in some places only. */
function createStatus(calls: Pick<SlackCalls, 'setStatus' | 'setSession'>) {
  let shown: string | undefined;
  let isShown = true;
  const tellSession = createSessionStatus(calls);
  return ({ state, isQuiet }: Answer, isNew: boolean): void => {
    if (isNew) tellSession(sessionStatus[state]);
    const status = state === 'working' && isQuiet ? 'is at work…' : '';
    if (!isShown || status === (shown ?? '')) return;
    shown = status;
    calls.setStatus(status).catch(() => {
      isShown = false;
    });
  };
}

const sessionStatus = { working: 'processing', waiting: 'suspended', ended: 'active' } as const;

/** Most apps are no agents to Slack: it says so at the first try. */
function createSessionStatus({ setSession }: Pick<SlackCalls, 'setSession'>) {
  let told: SessionStatus | undefined;
  let isAgent = true;
  return (status: SessionStatus): void => {
    if (!isAgent || status === told) return;
    told = status;
    setSession(status).catch(() => {
      isAgent = false;
    });
  };
}
