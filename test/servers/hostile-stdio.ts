/** A server on stdio, written by hand, that does what its argument says: `node hostile-stdio.ts exits`. */
import { createInterface } from 'node:readline';

const [, , habit] = process.argv;
if (habit === 'exits') fail('the key is missing');
if (habit === 'logs') process.stdout.write('Server started\n{"level":30,"msg":"listening"}\n');
if (habit === 'silent') setInterval(() => undefined, 1_000);

function fail(words: string): never {
  process.stderr.write(`${words}\n`);
  process.exit(1);
}

const complete = { resultType: 'complete' };
const answers: Record<string, () => object> = {
  'server/discover': () => ({
    ...complete,
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    serverInfo: { name: 'hostile', version: '1' },
    ttlMs: 0,
    cacheScope: 'private',
  }),
  'tools/list': () => ({
    ...complete,
    tools: [{ name: 'ask', description: 'Asks', inputSchema: { type: 'object' } }],
    ttlMs: 0,
    cacheScope: 'private',
  }),
  'tools/call': () => {
    if (habit === 'dies') fail('it went wrong');
    const text = habit === 'floods' ? 'x'.repeat(11 * 1024 * 1024) : 'done';
    return { ...complete, content: [{ type: 'text', text }] };
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line) as { id?: number; method: string };
  if (id === undefined || habit === 'silent') return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.() })}\n`);
});
