/**
 * Does what a guide says, block by block, in a folder that is empty at first. Processes that serve go on until the guide
 * starts the same command again, or ends.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnBound } from '../../src/platform/development/temporal-server.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { follow, startProgram } from '../programs/running-program.ts';
import type { RunningProgram } from '../programs/running-program.ts';
import type { Block } from './guide.ts';

export interface Reader {
  /** In which the guide is followed. */
  folder: string;
  /** Beside PATH and the like. */
  env: Record<string, string>;
  /** What takes the place of something that a test cannot have, like 127.0.0.1:3000. */
  instead: Record<string, string>;
  /** Opens an address that the guide shows. */
  opens?: ((url: string) => Promise<unknown>) | undefined;
  /** Called at the end, while what serves still runs. */
  check?: (() => unknown) | undefined;
}

const longestWaitMs = 120_000;
const serves =
  /^(?:npm run dev|npm start|npx vite|\S+\/kc\.sh|npx interlude (?:dev|start|server|worker)|node (?:server|backend)\.mjs)\b/;

export async function followGuide(blocks: Block[], reader: Reader): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const serving = new Map<string, RunningProgram>();
  stack.defer(async () => void (await Promise.all([...serving.values()].map(interrupt))));
  let folder = reader.folder;
  const adapt = (text: string) =>
    Object.entries(reader.instead).reduce((done, [from, to]) => done.replaceAll(from, to), text);
  for (const block of blocks) {
    if (block.kind === 'file') writeLines(path.join(folder, block.name), adapt(block.text));
    if (block.kind !== 'command') continue;
    try {
      folder = await runCommand({ ...block, script: adapt(block.script), shown: block.shown.map(adapt) });
    } catch (error) {
      throw new Error(`The block in line ${block.line} of the guide:\n${block.script}`, { cause: error });
    }
  }
  await reader.check?.();

  async function runCommand(block: Extract<Block, { kind: 'command' }>): Promise<string> {
    const { script, shown } = block;
    const env = { ...bareEnvironment(), NO_COLOR: '1', ...reader.env };
    const command = script.trim().split('\n').at(-1) ?? '';
    if (serves.test(command)) {
      if (shown.length === 0) throw new Error('The guide does not show when this is ready.');
      const earlier = script.trim().slice(0, -command.length);
      if (earlier) folder = await runCommand({ ...block, script: earlier, shown: [] });
      const before = serving.get(command);
      if (before) await interrupt(before);
      const child = spawnBound('bash', ['-c', `exec ${command}`], { cwd: folder, env });
      const program = follow(child, command);
      serving.set(command, program);
      await seeAll(program, shown, reader.opens);
      return folder;
    }
    const at = path.join(reader.folder, '.at');
    const program = startProgram('bash', ['-ec', `${script}\npwd > "${at}"`], { cwd: folder, env });
    await seeAll(program, shown, reader.opens);
    program.child.stdin.end();
    const { code } = await program.ended;
    if (code !== 0) throw new Error(`It ended with ${code}:\n${program.written.both}`);
    return readFileSync(at, 'utf8').trim();
  }
}

/** As Ctrl+C does: npm and what it runs get the signal. */
async function interrupt(program: RunningProgram): Promise<void> {
  if (program.isAlive()) process.kill(-program.pid, 'SIGINT');
  await program.ended;
}

/** Waits for each line, in this order; types what a line shows after `›`. `…` may be anything. */
async function seeAll(program: RunningProgram, shown: string[], opens: Reader['opens']): Promise<void> {
  let seen = '';
  for (const line of shown) {
    const typed = / › (.+)$/.exec(line)?.[1];
    if (typed !== undefined) {
      program.child.stdin.write(`${typed}\n`);
      continue;
    }
    seen += `${line
      .trim()
      .split('…')
      .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
      .join('.*')}[^]*?`;
    const late = sleep(longestWaitMs, undefined, { ref: false }).then(() => {
      throw new Error(`"${line}" was not shown within ${longestWaitMs / 1000} s:\n${program.written.both}`);
    });
    await Promise.race([program.sees(new RegExp(seen)), late]);
    const [text = ''] = new RegExp(seen).exec(program.written.both) ?? [];
    const url = line.includes('http') ? text.match(/https?:\S+/g)?.at(-1) : undefined;
    if (url !== undefined) await opens?.(url);
  }
}

function writeLines(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  if (path.basename(file) === '.env') appendFileSync(file, text);
  else writeFileSync(file, text);
}
