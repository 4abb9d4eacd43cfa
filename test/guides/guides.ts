/** Follows guides as a newcomer with nothing but npm, with packages of this checkout from a registry on this machine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../free-port.ts';
import { buildPackages } from '../package/installed.ts';
import { followGuide } from './follow-guide.ts';
import { readGuide } from './guide.ts';
import { surroundings } from './surroundings.ts';

export interface Followers extends AsyncDisposable {
  /** `node`: the folder with the Node of the reader. */
  follow(guide: string, node: string): Promise<void>;
}

export async function useGuides(): Promise<Followers> {
  const stack = new AsyncDisposableStack();
  const built = stack.use(await buildPackages('packages', 'service'));
  return {
    async follow(guide, node) {
      const folder = mkdtempSync(path.join(tmpdir(), 'interlude-guide-'));
      stack.defer(() => rmSync(folder, { recursive: true, force: true }));
      const names = [
        'PORT',
        'DEMO_IDENTITY_PORT',
        'TEMPORAL_PORT',
        'TEMPORAL_UI_PORT',
        'KC_HTTP_PORT',
        'PAGE_PORT',
        'BACKEND_PORT',
      ];
      const ports = Object.fromEntries(
        await Promise.all(names.map(async (name) => [name, String(await freePort())] as const)),
      );
      await using around = new AsyncDisposableStack();
      const { env, instead, opens, check } = (await surroundings[guide]?.(around)) ?? {};
      const startedAt = performance.now();
      await followGuide(readGuide(guide), {
        folder,
        env: {
          ...built.environment,
          npm_config_fetch_retries: '0',
          npm_config_yes: 'true',
          PATH: [node, process.env['PATH']].join(path.delimiter),
          ...ports,
          ...env,
        },
        instead: {
          '127.0.0.1:3000': `127.0.0.1:${ports['PORT']}`,
          '127.0.0.1:3001': `127.0.0.1:${ports['DEMO_IDENTITY_PORT']}`,
          '127.0.0.1:8080': `127.0.0.1:${ports['KC_HTTP_PORT']}`,
          '127.0.0.1:5173': `127.0.0.1:${ports['PAGE_PORT']}`,
          '127.0.0.1:4000': `127.0.0.1:${ports['BACKEND_PORT']}`,
          'listen(4000': `listen(${ports['BACKEND_PORT']}`,
          '--port 5173': `--port ${ports['PAGE_PORT']}`,
          ...instead,
        },
        opens,
        check,
      });
      process.stdout.write(`${node}, ${guide}: ${Math.round((performance.now() - startedAt) / 1000)} s\n`);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
