/**
 * The workers of one kind of workflow code: one for each code that this process brings, and for every other code that still
 * has open workflows. A workflow goes on with the code that it began with, wherever that came from.
 */
import type { Client } from '@temporalio/client';
import type { CodeKind, KeptCode } from '../../storage/ports/workflow-code.ts';
import { contract, isOffered } from '../../workflows/contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { keepCode, readCode } from './kept-code.ts';
import type { Code } from './kept-code.ts';
import { createRunningWorkers } from './running-workers.ts';
import type { CreatedWorker } from './running-workers.ts';

/** How often it is written down that code runs. */
const touchEveryMs = 60 * 60_000;
/** Temporal lists what has just begun with a delay: only a second look without open workflows is believed. */
const quietLooks = 2;

export interface CodeWorkers {
  /**
   * Looks for open workflows of code that this process does not bring, and for code that is not needed any more. `quiet`:
   * there are no such workflows.
   */
  look(): Promise<'busy' | 'quiet'>;
  /** The ids of the code that runs here. */
  running(): string[];
  /** Whether this code runs here, and no other. */
  runsAlone(id: string): boolean;
  /** Activities that are under way. */
  inFlight(): number;
  /** Takes nothing new from now on, and waits for what is under way. Again waits for the same. */
  stop(): Promise<void>;
}

interface Options<Content> {
  kind: CodeKind;
  own: Code<Content>[];
  create(code: Code<Content>): Promise<CreatedWorker>;
  /** Temporal's list query for the open workflows of this code. */
  openWorkflows(id: string): string;
  /** How long code is kept after its last workflow has ended. */
  keptMs: number;
  /** Code that is needed for another reason than an open workflow in Temporal's list. */
  alsoNeeded?: () => Promise<ReadonlySet<string>>;
  /** Own code has failed. Absent: it is started again. */
  onOwnFailure?: (code: Code<Content>, error: unknown) => void;
  /** For what else belongs to the kind, when its workers stop. */
  onStop?: () => Promise<void>;
}

/** Runs `own` until it is stopped. */
export async function startCodeWorkers<Content>(
  parts: Dependencies,
  client: Client,
  { kind, own, create, onOwnFailure, openWorkflows, keptMs, alsoNeeded, onStop }: Options<Content>,
): Promise<CodeWorkers> {
  const { config, storage, logger } = parts;
  const workers = createRunningWorkers({ config, logger, own, create, onOwnFailure });
  const ownIds = new Set(own.map(({ id }) => id));
  /** Of code that runs: how many looks in a row have found no open workflow. */
  const quiet = new Map<string, number>();
  /** Code that cannot run here, so that it is reported once. */
  const reported = new Set<string>();
  // Starting it writes it down, too.
  let touchedAt = performance.now();
  let stopping: Promise<void> | undefined;

  function report(id: string, problem: string): void {
    if (!reported.has(id)) logger.warn({ code: id, kind }, problem);
    reported.add(id);
  }

  async function isOpen(id: string): Promise<boolean> {
    return (await client.workflow.count(openWorkflows(id))).count > 0;
  }

  /** Whether it has to be looked after again soon. */
  async function lookAfter(
    kept: KeptCode & { usedAt: number },
    needed: ReadonlySet<string>,
  ): Promise<boolean> {
    const { id, usedAt } = kept;
    if (stopping) return false;
    if (workers.isRunning(id)) {
      const looks = needed.has(id) || (await isOpen(id)) ? 0 : (quiet.get(id) ?? 0) + 1;
      quiet.set(id, looks);
      if (looks >= quietLooks) await workers.end(id);
      return workers.isRunning(id);
    }
    quiet.delete(id);
    if (needed.has(id) || (await isOpen(id))) return runAgain(kept);
    const before = storage.now() - keptMs;
    if (usedAt < before) await storage.workflowCode.drop(id, before);
    return false;
  }

  async function runAgain({ id, needs }: KeptCode): Promise<boolean> {
    if (!isOffered(needs, contract)) {
      report(
        id,
        `open workflows began with code that needs contract ${needs}, which this process does not offer (${contract.oldest} to ${contract.newest}); workers of another release run it`,
      );
      return true;
    }
    const code = await readCode<Content>(parts, id);
    if (!code) return false;
    await workers.run(code);
    logger.info(
      { code: id, kind },
      'open workflows began with another version of the code: a worker for it is started',
    );
    return true;
  }

  function stop(): Promise<void> {
    stopping ??= endAll();
    return stopping;
  }

  async function endAll(): Promise<void> {
    await workers.stop();
    await onStop?.();
  }

  try {
    for (const code of own) await keepCode(parts, code);
    await workers.runOwn();
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    async look() {
      await workers.runOwn();
      const needed = (await alsoNeeded?.()) ?? new Set();
      const all = await storage.workflowCode.list(kind);
      for (const id of needed)
        if (!all.some((kept) => kept.id === id))
          report(
            id,
            'open workflows began with code that is not in the database; they wait, and can be cancelled',
          );
      let isBusy = false;
      for (const kept of all) {
        if (ownIds.has(kept.id)) continue;
        const isNeeded = await lookAfter(kept, needed).catch((err: unknown) => {
          logger.error({ err, code: kept.id, kind }, 'workflow code could not be checked or started');
          return true;
        });
        isBusy ||= isNeeded;
      }
      if (performance.now() - touchedAt >= touchEveryMs) {
        await storage.workflowCode.touch(workers.ids());
        touchedAt = performance.now();
      }
      return isBusy ? 'busy' : 'quiet';
    },
    running: workers.ids,
    runsAlone: workers.isAlone,
    inFlight: workers.inFlight,
    stop,
  };
}
