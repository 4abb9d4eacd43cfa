/** What the package of the service brings for Node 22 does the same as what Node 24 has. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const additions = new URL('../../scripts/node-22.js', import.meta.url).href;

/** Prints what happens. */
const story = `
const lines = [];
const say = (line) => void lines.push(line);
const later = (line) => new Promise((resolve) => setImmediate(() => resolve(say(line))));
const thrown = async (work) => { try { await work(); return 'nothing'; } catch (error) { return String(error?.name ?? error); } };

const ordered = new AsyncDisposableStack();
say(ordered.use({ [Symbol.asyncDispose]: () => later('first') })[Symbol.dispose] === undefined);
ordered.use({ async [Symbol.asyncDispose]() { say(typeof this[Symbol.dispose]); }, [Symbol.dispose]() { say('never'); } });
ordered.use({ [Symbol.asyncDispose]: null, [Symbol.dispose]: () => later('a promise that nothing waits for') });
say(ordered.adopt('adopted', say));
say(ordered.use(null) === null && ordered.use(undefined) === undefined);
ordered.defer(async () => { await later('last'); say(await thrown(() => ordered.defer(() => {}))); });
say(ordered.disposed);
const moved = ordered.move();
say([ordered.disposed, moved.disposed]);
await ordered.disposeAsync();
say('nothing is left in it');
const over = moved[Symbol.asyncDispose]();
say(moved.disposed);
await over;
await moved.disposeAsync();
await later('after');

for (const work of [
  () => moved.use(null), () => moved.use({}), () => moved.adopt(1, 2), () => moved.defer(1), () => moved.move(),
  () => new AsyncDisposableStack().use(1), () => new AsyncDisposableStack().use({}),
  () => new AsyncDisposableStack().adopt(1), () => new AsyncDisposableStack().defer(),
]) say(await thrown(work));

const failing = new AsyncDisposableStack();
failing.defer(() => { throw new Error('third'); });
failing.use({ [Symbol.dispose]() { throw new Error('second'); } });
failing.defer(async () => { throw new Error('first'); });
const error = await failing.disposeAsync().catch((error) => error);
say([error instanceof SuppressedError, error.name, error.message, Object.keys(error)]);
say([error.error.message, error.suppressed.error.message, error.suppressed.suppressed.message]);
const one = new AsyncDisposableStack();
one.defer(() => { throw undefined; });
say(await one.disposeAsync().then(() => 'kept', (error) => error === undefined));
console.log(lines.map((line) => JSON.stringify(line)).join('\\n'));
`;

const without = `
delete globalThis.AsyncDisposableStack;
delete globalThis.SuppressedError;
await import('${additions}');
`;

async function tell(code: string): Promise<string[]> {
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const options = ['--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, options, { cwd });
  return stdout.trim().split('\n');
}

test('things are disposed in the same order, with the same errors', async () => {
  const [own, added] = await Promise.all([tell(story), tell(without + story)]);
  expect(own.length).toBeGreaterThan(25);
  expect(added).toEqual(own);
});
