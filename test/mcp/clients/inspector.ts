/** The Inspector's command line: a process for each call, which declares no questions. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { npmProgram } from '../../programs/npm-program.ts';
import { testFolder } from '../../test-folder.ts';
import { toTold } from './other-client.ts';
import type { ClientSetting, OtherClient } from './other-client.ts';

const run = promisify(execFile);
const inspectorVersion = '2.12.0';
/** It exits with this where the tool says that it failed. */
const toolErrorCode = 5;

export async function startInspector(
  era: 'legacy' | 'modern',
  { url, token }: ClientSetting,
): Promise<OtherClient> {
  const folder = await npmProgram('@modelcontextprotocol/inspector', inspectorVersion);
  const { default: manifest } = (await import(path.join(folder, 'package.json'), {
    with: { type: 'json' },
  })) as { default: { bin: Record<string, string> } };
  const program = path.join(folder, manifest.bin['mcp-inspector'] ?? '');
  const home = testFolder();
  return {
    async call(tool, given) {
      const pairs = Object.entries(given).map(
        ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
      const target = [
        '--cli',
        '--server-url',
        url,
        '--transport',
        'http',
        '--header',
        `Authorization: Bearer ${token}`,
      ];
      const what = ['--protocol-era', era, '--method', 'tools/call', '--tool-name', tool];
      const { stdout } = await run(process.execPath, [program, ...target, ...what, '--tool-arg', ...pairs], {
        env: { PATH: process.env['PATH'], HOME: home },
      }).catch((error: Error & { code?: unknown; stdout?: string }) => {
        if (error.code !== toolErrorCode) throw error;
        return { stdout: error.stdout ?? '' };
      });
      return toTold(JSON.parse(stdout));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
