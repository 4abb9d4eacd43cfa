/**
 * An operator's decision: this database and this Temporal belong together from now on. Turns that only one of them
 * knows are ended; those that wait for people may be restarted. Both get the mark of a new installation. Nothing is sent to other
 * servers. An interrupted adoption is repeated: until the last write the two do not belong together.
 */
import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { endTurn } from '../../service/end-turn.ts';
import { startOptions } from '../../service/start-workflow.ts';
import type { StartConfig } from '../../service/start-workflow.ts';
import type { TurnRow } from '../../storage/tables/turn-rows.ts';
import type { Storage } from '../../storage/storage.ts';
import { turnOfWorkflow } from '../../turn/turn.ts';
import { agentTurnWorkflow, turnWorkflowId } from '../../workflows/messages.ts';
import { NotTogether } from './belonging.ts';
import type { Reason } from './belonging.ts';
import { usualIntervals } from './installation.ts';
import type { Examined, OpenedInstallation } from './installation.ts';

interface Parts {
  config: StartConfig & Pick<Config, 'agents' | 'servers'>;
  storage: Storage;
  installation: OpenedInstallation;
  logger: Logger;
}

interface Survey {
  /** Turns of the database that have not ended. */
  live: number;
  /** Unknown to Temporal. */
  unknown: TurnRow[];
  /** Known to Temporal, and may go on. */
  known: TurnRow[];
  /** Known to Temporal, and continued after the database's last generation. Only if the database is older. */
  ahead: TurnRow[];
  /** Runs at Temporal whose turns are unknown or over in the database. */
  orphans: { workflowId: string; runId: string }[];
}

interface Adopted {
  ended: number;
  begunAgain: number;
  terminated: number;
}

const atOnce = 20;
const failure = { code: 'TurnLost' } as const;
/** In the audit, instead of a user's id. */
const operator = '(command line)';
/** Clocks differ. Workflow events this long before the database's last generation are in the database. */
const clockMarginMs = 60_000;

/** Finds what only one of them knows. Changes nothing. */
export async function survey({ config, storage, installation }: Parts, examined: Examined): Promise<Survey> {
  const { client, table, knows } = installation;
  const turns = await table.liveTurns();
  const isOlder = isDatabaseOlder(examined);
  const since = isOlder ? (examined.row?.dueAt ?? 0) - usualIntervals.advanceMs - clockMarginMs : Infinity;
  const seen = await inChunks(turns, async (turn) => {
    if (!(await knows(turn))) return 'unknown';
    return isOlder && (await hasMovedSince(installation, turn, since)) ? 'ahead' : 'known';
  });
  const those = (which: string) => turns.filter((_, index) => seen[index] === which);

  const orphans: Survey['orphans'] = [];
  const query = `TaskQueue = '${config.temporal.taskQueue}' AND WorkflowType = '${agentTurnWorkflow}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const ref = turnOfWorkflow(workflowId);
    // A delegated agent's workflow ends with its turn's.
    if (!ref || workflowId !== turnWorkflowId(ref)) continue;
    const turn = await storage.turns.get(ref);
    if (!turn || turn.endedAt !== null) orphans.push({ workflowId, runId });
  }
  return {
    live: turns.length,
    unknown: those('unknown'),
    known: those('known'),
    ahead: those('ahead'),
    orphans,
  };
}

/** What `adopt` would do. Changes nothing. */
export async function foresee(parts: Parts, examined: Examined, turns: 'end' | 'restart'): Promise<Adopted> {
  const { unknown, ahead, orphans } = await survey(parts, examined);
  const may = mayRestart(examined, turns);
  const again = await inChunks(unknown, async (turn) => may && (await waitsForPerson(parts, turn)));
  return tally({ unknown, ahead, orphans }, again);
}

/** `again`: for each unknown turn, whether it is begun again. */
function tally(
  { unknown, ahead, orphans }: Pick<Survey, 'unknown' | 'ahead' | 'orphans'>,
  again: boolean[],
): Adopted {
  const begunAgain = again.filter(Boolean).length;
  return {
    ended: unknown.length + ahead.length - begunAgain,
    begunAgain,
    terminated: orphans.length + ahead.length,
  };
}

/** `takeOver`: even if the other installation may still be running. */
export async function adopt(
  parts: Parts,
  examined: Examined,
  { turns, takeOver }: { turns: 'end' | 'restart'; takeOver: boolean },
): Promise<Adopted> {
  const { installation, storage } = parts;
  const { client, marks, table } = installation;
  if (!takeOver) refuseWhileInUse(examined);
  const { unknown, known, ahead, orphans } = await survey(parts, examined);

  const runs: { workflowId: string; runId?: string }[] = [
    ...orphans,
    ...ahead.map((turn) => ({ workflowId: turnWorkflowId(turn) })),
  ];
  await inChunks(runs, ({ workflowId, runId }) =>
    client.workflow
      .getHandle(workflowId, runId)
      .terminate('The database of this installation does not know what this turn did.')
      .catch(ignoreOver),
  );
  const may = mayRestart(examined, turns);
  const again = await inChunks(unknown, async (turn) => {
    if (may && (await restart(parts, turn))) return true;
    await end(parts, turn, examined);
    return false;
  });
  await inChunks(ahead, (turn) => end(parts, turn, examined));
  const { belonging } = examined;
  if (belonging.kind === 'apart' && belonging.reason === 'temporal-older')
    await inChunks(known, (turn) => table.catchUp(turn));

  const adopted = tally({ unknown, ahead, orphans }, again);
  await storage.audit.record({
    at: Date.now(),
    tenant: '',
    elicitationId: '',
    actor: operator,
    action: 'adopted',
    detail: `${adopted.ended} turns ended, ${adopted.begunAgain} begun again`,
    address: null,
  });
  const { row, found } = examined;
  const generation = Math.max(row?.generation ?? 0, found?.mark.generation ?? 0) + 1;
  const mark = { installation: randomUUID(), generation, token: randomUUID() };
  if (found) await marks.replace(found, mark);
  else await marks.create(mark);
  const written = await marks.read();
  if (written?.mark.token !== mark.token) {
    // A waiting process has found that no turn is missing any more, and has written the mark.
    if ((await installation.examine()).belonging.kind === 'together') return adopted;
    throw new NotTogether(
      'The mark at Temporal was written by another process meanwhile. Look again: interlude installation status',
    );
  }
  await table.replace({ id: mark.installation, generation, token: mark.token });
  return adopted;
}

/** An older database does not know what became of turns whose histories Temporal has deleted since. */
function mayRestart(examined: Examined, turns: 'end' | 'restart'): boolean {
  return turns === 'restart' && !isDatabaseOlder(examined);
}

function isDatabaseOlder({ belonging }: Examined): boolean {
  return belonging.kind === 'apart' && ['database-older', 'forked'].includes(belonging.reason);
}

/** An installation that wrote its mark minutes ago is probably running, and would stop when it reads another mark. */
function refuseWhileInUse({ belonging, found }: Examined): void {
  const shared: Reason[] = ['other-installation', 'database-older', 'forked'];
  if (belonging.kind !== 'apart' || !shared.includes(belonging.reason) || !found) return;
  const ageMs = Date.now() - found.writtenAt;
  if (ageMs > 2 * usualIntervals.advanceMs) return;
  throw new NotTogether(
    `The mark at Temporal was written ${Math.max(0, Math.round(ageMs / 1_000))} s ago, so another installation may be at work there. ` +
      'Stop its processes, or give this one a namespace or task queue of its own (TEMPORAL_NAMESPACE, TEMPORAL_TASK_QUEUE). ' +
      'If nothing else uses it, add --take-over.',
  );
}

/** Whether its workflow has done anything since, or is doing something now, that the database may not know. */
async function hasMovedSince({ client }: OpenedInstallation, turn: TurnRow, since: number): Promise<boolean> {
  const workflowId = turnWorkflowId(turn);
  const { namespace } = client.options;
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  if ((raw.pendingActivities?.length ?? 0) > 0) return true;
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution: { workflowId },
    maximumPageSize: 1,
  });
  const at = Number(history?.events?.[0]?.eventTime?.seconds ?? 0) * 1_000;
  return at > since;
}

/**
 * Starts the workflow of a turn that waits for a person anew. It goes on from the turn's rows, as after a reset: its questions
 * stay open, and no call is made again that may have had an effect. False if the turn cannot go on.
 */
async function restart(parts: Parts, turn: TurnRow): Promise<boolean> {
  const { config, storage, installation } = parts;
  if (!(await waitsForPerson(parts, turn))) return false;
  const buildId = await storage.versions.current(config.temporal.deployment.name);
  if (buildId === null || !(await storage.installation.moveTo(turn, buildId))) return false;
  // More than the attempts of any workflow before: see `attemptsBeforeReset`.
  const attemptsBefore = Math.max(1, storage.now() - turn.createdAt);
  try {
    const options = startOptions({ ...turn, messages: [] }, { buildId, config, attemptsBefore });
    await installation.client.workflow.start(agentTurnWorkflow, options);
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

async function waitsForPerson({ config, storage }: Parts, turn: TurnRow): Promise<boolean> {
  if (turn.status !== 'running' || turn.endingAt !== null || !config.agents.has(turn.agent)) return false;
  const pending = await storage.elicitations.ofConversation(turn, 'pending');
  return pending.some(({ turnId }) => turnId === turn.turnId);
}

async function end(parts: Parts, turn: TurnRow, examined: Examined): Promise<void> {
  if (turn.status === 'starting') await parts.storage.turns.end(turn, 'failed', { keepsCalls: true });
  else {
    const mayHaveRun = isDatabaseOlder(examined);
    await endTurn(parts, turn, { status: 'failed', failure }, { keepsCalls: true, mayHaveRun });
  }
}

async function inChunks<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += atOnce)
    results.push(...(await Promise.all(items.slice(start, start + atOnce).map(work))));
  return results;
}

function ignoreOver(error: unknown): void {
  if (error instanceof Error && error.name === 'WorkflowNotFoundError') return;
  throw error;
}
