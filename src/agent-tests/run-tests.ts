/** `interlude test`: Node's own test runner over the given files, in one process, so that they share one service. */
import { createWriteStream } from 'node:fs';
import { glob } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { junit, spec } from 'node:test/reporters';

const ownName = '@interlude-ai/service/testing';
/** Without arguments. */
const usualFiles = ['**/*.test.{ts,mts,js,mjs}'];

interface TestOptions {
  /** Files and patterns; by default all test files below the folder. */
  patterns: string[];
  folder: string;
  /** Only tests whose names match. */
  name?: string | undefined;
  /** Where to write a report in JUnit's format. */
  junitFile?: string | undefined;
}

export async function findTests({
  patterns,
  folder,
}: Pick<TestOptions, 'patterns' | 'folder'>): Promise<string[]> {
  const exclude = (name: string) => name.split(path.sep).includes('node_modules');
  const files: string[] = [];
  const found = glob(patterns.length > 0 ? patterns : usualFiles, { cwd: folder, exclude });
  for await (const name of found) files.push(path.resolve(folder, name));
  return files.toSorted();
}

type TestEvent = Parameters<typeof junit>[0] extends AsyncGenerator<infer Event> ? Event : never;

async function* replayed(events: TestEvent[]): AsyncGenerator<TestEvent, void> {
  yield* events;
}

/** Resolves with whether all of them have passed. `files`: from `findTests`. */
export async function runTests(
  files: string[],
  { name, junitFile, folder }: Omit<TestOptions, 'patterns'>,
): Promise<boolean> {
  // The library of this program, also below a checkout, where the package is not installed.
  const library = new URL(`index${path.extname(import.meta.url)}`, import.meta.url).href;
  registerHooks({
    resolve: (name, context, next) => next(name === ownName ? library : name, context),
  });
  const events = run({ files, isolation: 'none', ...(name !== undefined && { testNamePatterns: name }) });
  const all: TestEvent[] = [];
  let hasFailed = false;
  events.on('data', (event: TestEvent) => {
    all.push(event);
    hasFailed ||= event.type === 'test:fail';
  });
  const reporter = new spec();
  // The terminal stays open.
  await pipeline(events, reporter, process.stdout, { end: false });
  if (junitFile !== undefined) {
    const report = Readable.from(junit(replayed(all)));
    await pipeline(report, createWriteStream(path.resolve(folder, junitFile)));
  }
  return !hasFailed;
}
