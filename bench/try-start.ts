/** How long `interlude try` takes from the shell to its end, as it is installed, beside a bare script that does the same. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from '../test/package/installed.ts';
import { startAskingServer } from '../test/servers/asking-server.ts';
import { median } from './report.ts';
import type { Section } from './report.ts';
import { breath, timed } from './setup.ts';
import type { BenchSetup } from './setup.ts';

const run = promisify(execFile);

/** Only imports it. */
const importing = `import '@modelcontextprotocol/client';`;

/** Lists the tools of a server with it. */
const listing = (url: string) => `
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
const client = new Client({ name: 'bare', version: '1' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(new StreamableHTTPClientTransport(new URL('${url}')));
for (const { name } of (await client.listTools()).tools) console.log(name);
await client.close();`;

export async function tryStart({ samples }: BenchSetup): Promise<Section> {
  await using stack = new AsyncDisposableStack();
  const [project, server] = await Promise.all([installPackages(), startAskingServer({ era: 'both' })]);
  stack.defer(() => project.remove());
  stack.defer(() => server.stop());
  const { url } = server.config;
  const script = (name: string, text: string) => {
    writeFileSync(path.join(project.folder, name), text);
    return [name];
  };
  const program = path.join(project.folder, 'node_modules/.bin/interlude');
  const commands = {
    help: [program, 'try', '--help'],
    list: [program, 'try', url],
    bareImport: script('import.mjs', importing),
    bareList: script('list.mjs', listing(url)),
  };
  const times = {
    help: [] as number[],
    list: [] as number[],
    bareImport: [] as number[],
    bareList: [] as number[],
  };
  for (let sample = 0; sample < Math.max(5, Math.round(samples / 3)); sample++)
    for (const [name, words] of Object.entries(commands)) {
      await breath();
      times[name as keyof typeof times].push(
        await timed(() => run(process.execPath, words, { cwd: project.folder })),
      );
    }
  const ratio = (ours: number[], floor: number[]) => median(ours) / median(floor);
  const because = 'whoever types it waits no longer than for a script of their own';
  return {
    title: 'Starting interlude try',
    rows: [
      {
        name: 'try --help',
        meaning: 'the whole process, against one that imports the MCP client and ends',
        ours: times.help,
        floor: times.bareImport,
        unit: 'ms',
      },
      {
        name: 'try <url>',
        meaning: 'the whole process, against a script with the MCP client that lists the same tools',
        ours: times.list,
        floor: times.bareList,
        unit: 'ms',
      },
    ],
    aims: [
      { name: 'help ÷ import', value: ratio(times.help, times.bareImport), atMost: 1.5, because },
      { name: 'list ÷ bare list', value: ratio(times.list, times.bareList), atMost: 1.5, because },
    ],
  };
}
