/**
 * Shows answers in Slack. They are made from the turn's log when they are shown, so that workflow history contains
 * positions of the log and no text.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Context, heartbeat } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Config } from '../../platform/config/config.ts';
import { SealingError } from '../../credentials/sealing/key-ring.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { createSlackClients } from '../../credentials/slack-clients.ts';
import { toAnswer } from '../../api/slack/vocabulary/answer.ts';
import { slackWords } from '../../api/slack/vocabulary/words.ts';
import { turnEntries, unloggedEnd } from '../../storage/log/turn-entries.ts';
import type { SlackDelivery } from '../../storage/tables/slack-deliveries.ts';
import type { Storage } from '../../storage/storage.ts';
import { aboutTurn } from '../../platform/telemetry/events.ts';
import { emptyTurn, foldTurn } from '../../turn/fold-turn.ts';
import type { FoldedTurn } from '../../turn/fold-turn.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { slackDeliveryDeadMs } from '../../workflows/messages.ts';
import type { DeliveryReport } from '../../workflows/messages.ts';
import type { HeldCallLimit } from '../call-tool/held-call-limit.ts';
import { heartbeatMs } from '../running-activity.ts';
import { createMessages } from './messages.ts';
import { showAnswer } from './show-answer.ts';
import { deadTokenCodes } from '../../remote/slack.ts';
import { createSlackCalls, SlackCallFailed } from './slack-calls.ts';

interface ShowInput {
  turnId: string;
  /** Position in the log up to which the thread shows the answer. */
  position: number;
  /** Something is about to happen that the log does not show yet. */
  isAwaited: boolean;
}

/** `ended`: everything is shown. `impossible`: it cannot be shown there. */
type ShowReport = DeliveryReport<number, 'ended' | 'impossible'>;

/** How long an activity follows a turn; `crowdedMs` while others wait for a slot. */
const followMs = 10_000;
const crowdedMs = 1_000;
/** How long it waits for earlier answers in the thread, and how often it looks. */
const turnMs = 500;
const turnPollMs = 100;
/** Between two updates. Slack allows about a hundred additions to a stream per minute, and fifty edits of a message. */
const streamPaceMs = 700;
const editPaceMs = 1_300;

interface Parts {
  storage: Storage;
  keys: KeyRing;
  config: Config;
  heldCallLimit: HeldCallLimit;
  logger: Logger;
}

export function createSlackActivities({ storage, keys, config, heldCallLimit, logger }: Parts) {
  const clients = config.slack && createSlackClients({ storage, keys, apiUrl: config.slack.apiUrl });
  // Slack must not take the slots that turns need.
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
    const words = slackWords[await workspace.languageOf(delivery.slackUser)];
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
    const showStatus = whenChanged<string>(calls.setStatus, '');
    const showSession = whenChanged(calls.setSession);
    await using turn = await openTurn(storage, delivery.turn, until);
    let mayWait = input.isAwaited;
    for (;;) {
      const seen = turn.position();
      const answer = toAnswer(turn.soFar(), words);
      if (seen > input.position) showSession(sessionStatus[answer.state]);
      showStatus(answer.state === 'working' && answer.isQuiet ? words.atWork : '');
      await showAnswer(messages, answer, {
        words,
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

  /** Whether earlier answers are in the thread. Waits a moment for them. */
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
      // The key may be added again.
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
          if (deadTokenCodes.has(trouble.code)) {
            logger.error(
              { ...(await aboutAnswer(input.turnId)), reason: message },
              'Slack refuses the token of the workspace: an answer waits for another one',
            );
            return { kind: 'failed', position };
          }
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

    async giveUpSlack({ turnId }: { turnId: string }): Promise<void> {
      const about = await aboutAnswer(turnId);
      await storage.slack.deliveries.end(turnId);
      logger.error(about, 'an answer could not be sent to Slack before its deadline');
    },
  };
}

/** Looks up each id once: a settled question does not change. */
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

/** Slack's session status for the states of an answer. */
const sessionStatus = { working: 'processing', waiting: 'suspended', ended: 'active' } as const;

/** Sets a status when it changes, until the first failure: nothing depends on it, and Slack supports it in some places only. */
function whenChanged<T>(set: (status: T) => Promise<void>, initial?: T): (status: T) => void {
  let shown = initial;
  let isSupported = true;
  return (status) => {
    if (!isSupported || status === shown) return;
    shown = status;
    set(status).catch(() => {
      isSupported = false;
    });
  };
}

/** A turn's log, read from its beginning and followed from there. */
interface OpenTurn extends AsyncDisposable {
  soFar(): FoldedTurn;
  position(): number;
  /** Resolves when there are later entries, or there will be none. */
  after(position: number): Promise<void>;
}

async function openTurn(
  storage: Storage,
  turn: SlackDelivery['turn'],
  until: AbortSignal,
): Promise<OpenTurn> {
  const { turnLog } = storage;
  const closing = new AbortController();
  const read = await turnEntries(turnLog, turn, await turnLog.latest(turn));
  const { entries } = read;
  let { position } = read;
  const unlogged = entries.length === 0 && (await unloggedEnd(storage, turn, position));
  let soFar = foldTurn(emptyTurn, unlogged ? [unlogged] : entries);
  let isOver = false;
  let failure: unknown;
  let wake: () => void = () => undefined;
  const following = (async () => {
    try {
      for await (const batch of turnLog.follow(turn, position, AbortSignal.any([until, closing.signal]))) {
        position = batch.at(-1)?.seq ?? position;
        soFar = foldTurn(
          soFar,
          batch.filter(({ turnId }) => turnId === turn.turnId),
        );
        wake();
      }
    } catch (error) {
      failure = error;
    } finally {
      isOver = true;
      wake();
    }
  })();
  return {
    soFar: () => soFar,
    position: () => position,
    async after(seen) {
      while (!isOver && position <= seen) {
        const woken = Promise.withResolvers<void>();
        wake = woken.resolve;
        await woken.promise;
      }
      if (failure !== undefined) throw failure;
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await following;
    },
  };
}
