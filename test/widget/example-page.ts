/** `examples/react-chat`, bundled with the hooks of one version of the AI SDK, in a page of another origin than the service's. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { rolldown } from 'rolldown';
import type { OutputChunk } from 'rolldown';
import { listen } from '../../demo/listen.ts';
import type { Listening } from '../../demo/listen.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = path.join(root, 'examples/react-chat');
export const entry = path.join(folder, 'src/main.tsx');
export const client = path.join(root, 'src/client/index.ts');
const modules = path.join(root, 'node_modules');

/** Each brings the `ai` that it was made for along. */
const hooks = { 5: 'ai-sdk-react5', 6: 'ai-sdk-react6', 7: '@ai-sdk/react' } as const;
export type Version = keyof typeof hooks;
export const versions: readonly Version[] = [5, 6, 7];

/** The folders to take instead of what the example's `package.json` names. */
export function packagesOf(version: Version): Record<'@ai-sdk/react' | 'ai', string> {
  const react = path.join(modules, hooks[version]);
  return {
    '@ai-sdk/react': react,
    ai: path.join(version === 7 ? modules : path.join(react, 'node_modules'), 'ai'),
  };
}

export interface ExamplePage {
  origin: string;
  /** Where the page finds the service from now on. */
  service: string;
  /** From the product's own backend, for whoever is signed in. */
  token: string;
  /** Files it was made of. */
  modules: string[];
  stop: Listening['stop'];
}

export async function serveExample(version: Version): Promise<ExamplePage> {
  const { code, moduleIds: modules } = await bundle(version);
  const html = await readFile(path.join(folder, 'index.html'), 'utf8');
  const server = createServer((request, response) => {
    if (request.url === '/token') return void response.end(`${page.token}\n`);
    const isScript = request.url === '/src/main.tsx';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    return void response.end(isScript ? code : html.replace('http://127.0.0.1:3000', page.service));
  });
  const { port, stop } = await listen(server, 0, 'PORT');
  const page = { origin: `http://127.0.0.1:${port}`, service: '', token: '', modules, stop };
  return page;
}

async function bundle(version: Version): Promise<OutputChunk> {
  const build = await rolldown({
    input: entry,
    platform: 'browser',
    resolve: { alias: { ...packagesOf(version), 'interlude/client': client } },
    // React then says what is wrong.
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    onLog: (level, log, next) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : next(level, log)),
  });
  try {
    const { output } = await build.generate({ format: 'esm' });
    return output[0];
  } finally {
    await build.close();
  }
}
