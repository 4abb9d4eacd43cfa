/**
 * The workers of one kind of workflow code: one for each code that this process brings, and one for every other code with open
 * workflows. A workflow goes on with the code that it began with.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Client } from '@temporalio/client';
import { openCode, sealCode } from '../../../credentials/sealing/sealed-values.ts';
import type { CodeKind } from '../../../storage/schema/turn-tables.ts';
import type { KeptCode } from '../../../storage/tables/versions.ts';
import { contract, isOffered } from '../../../workflows/contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { createRunningWorkers } from './running-workers.ts';
import type { CreatedWorker } from './running-workers.ts';

/** How often the use of running code is recorded. */
const touchEveryMs = 60 * 60_000;
/** Temporal lists new workflows with a delay, so code needs two looks without open workflows. */
const quietLooks = 2;

export interface CodeWorkers<Content = unknown> {
  /**
   * Looks for open workflows of other code, and for code that is no longer needed. `quiet`: there are no such
   * workflows.
   */
  look(): Promise<'busy' | 'quiet'>;
  /** Runs this as its own code from now on. The code before ends with the workflows that began with it. */
  offer(own: Code<Content>[]): Promise<void>;
  /** The ids of the running code. */
  running(): string[];
  /** Only this code runs here. */
  runsAlone(id: string): boolean;
  /** Running activities. */
  inFlight(): number;
  /** Takes nothing new from now on, and waits for running work. A second call waits for the same. */
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
  /** Code that is needed for other reasons than an open workflow in Temporal's list. */
  alsoNeeded?: () => Promise<ReadonlySet<string>>;
  /** Own code has failed. Absent: it is restarted. */
  onOwnFailure?: (code: Code<Content>, error: unknown) => void;
  /** Stops what else belongs to the kind. */
  onStop?: () => Promise<void>;
}

/** Runs `own` until it is stopped. */
export async function startCodeWorkers<Content>(
  parts: Dependencies,
  client: Client,
  { kind, own, create, onOwnFailure, openWorkflows, keptMs, alsoNeeded, onStop }: Options<Content>,
): Promise<CodeWorkers<Content>> {
  const { config, storage, logger } = parts;
  const workers = createRunningWorkers({ config, logger, own, create, onOwnFailure });
  /** Running code → how many looks in a row have found no open workflow. */
  const quiet = new Map<string, number>();
  /** Code that cannot run here: reported once. */
  const reported = new Set<string>();
  // Starting it records its use as well.
  let touchedAt = performance.now();
  let stopping: Promise<void> | undefined;

  function report(id: string, problem: string): void {
    if (!reported.has(id)) logger.warn({ code: id, kind }, problem);
    reported.add(id);
  }

  async function isOpen(id: string): Promise<boolean> {
    return (await client.workflow.count(openWorkflows(id))).count > 0;
  }

  /** Whether to look again soon. */
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
        if (workers.isOwn(kept.id)) continue;
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
    async offer(codes) {
      for (const code of codes) await keepCode(parts, code);
      await workers.replaceOwn(codes);
    },
    running: workers.ids,
    runsAlone: workers.isAlone,
    inFlight: workers.inFlight,
    stop,
  };
}

// Workflow code in the database is compressed and sealed, so that write access alone is not enough to run code.

type Parts = Pick<Dependencies, 'storage' | 'keys'>;

/** JSON. */
export interface Code<Content> extends KeptCode {
  content: Content;
}

const maxBytes = 10 * 1024 * 1024;

/** Throws if it is too large: calls that begin with it could not go on after the next deploy. */
export async function keepCode<Content>(
  { storage, keys }: Parts,
  { content, ...code }: Code<Content>,
): Promise<void> {
  const text = JSON.stringify(content);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes)
    throw new CodeTooLarge(
      `The code ${code.id} has ${(bytes / 1024 / 1024).toFixed(1)} MB, and at most ${maxBytes / 1024 / 1024} MB can be kept. Import less in the files of the tools.`,
    );
  await storage.workflowCode.keep({
    ...code,
    sealed: sealCode(keys, code.id, gzipSync(text).toString('base64')),
  });
}

/** Null if it does not exist (any more). Throws a `SealingError` for code that another installation sealed. */
export async function readCode<Content>({ storage, keys }: Parts, id: string): Promise<Code<Content> | null> {
  const row = await storage.workflowCode.get(id);
  if (!row) return null;
  const { sealed, ...code } = row;
  const text = gunzipSync(Buffer.from(openCode(keys, id, sealed), 'base64'), { maxOutputLength: maxBytes });
  return { ...code, content: JSON.parse(text.toString('utf8')) as Content };
}

class CodeTooLarge extends Error {
  override name = 'CodeTooLarge';
}

interface LookIntervals {
  /** A workflow may wait for code that no process runs. */
  busyMs: number;
  /** After a while without any: a new one can only come from a worker with other code, which runs it itself. */
  quietMs: number;
  /** How long the shorter interval continues, because Temporal lists new workflows with a delay. */
  settledAfterMs: number;
}

/**
 * Looks now, and then until the stack is disposed: often while there are open workflows of other code, otherwise
 * rarely.
 */
export async function keepLooking(
  workers: Pick<CodeWorkers, 'look' | 'stop'>,
  {
    intervals: { busyMs, quietMs, settledAfterMs },
    logger,
    stack,
  }: { intervals: LookIntervals; logger: Pick<Dependencies['logger'], 'warn'>; stack: AsyncDisposableStack },
): Promise<void> {
  let busyAt = performance.now();
  const look = async () => {
    const seen = await workers.look().catch((err: unknown) => {
      logger.warn({ err }, 'could not look for open workflows of other code; trying again');
      return 'busy';
    });
    if (seen === 'busy') busyAt = performance.now();
  };
  let looking = look();
  await looking;
  let timer: NodeJS.Timeout;
  const lookLater = () => {
    timer = setTimeout(
      () => {
        looking = look();
        void looking.then(() => !isOver && lookLater());
      },
      performance.now() - busyAt < settledAfterMs ? busyMs : quietMs,
    );
  };
  let isOver = false;
  lookLater();
  stack.defer(async () => {
    isOver = true;
    clearTimeout(timer);
    await looking;
    await workers.stop();
  });
}
