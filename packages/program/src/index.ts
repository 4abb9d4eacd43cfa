#!/usr/bin/env node
/** Starts the program `interlude` in the published package, which contains the clients and not the service. */
import { readFileSync } from 'node:fs';

/** First words of commands that are not in the package. */
const ofService = [
  'start',
  'server',
  'worker',
  'turns',
  'turn',
  'questions',
  'cancel',
  'versions',
  'installation',
  'config',
  'agents',
  'api-keys',
  'keys',
  'accounts',
  'test',
  'tools build',
];

const words = process.argv.slice(2);
const given = ofService.find((command) => command === words.slice(0, command.split(' ').length).join(' '));
const needed = neededNode();
if (parseInt(process.versions.node, 10) < needed) {
  process.stderr.write(
    `Interlude needs Node ${needed} or newer, and this is ${process.version}: install a newer one from https://nodejs.org or with your version manager.\n`,
  );
  process.exitCode = 1;
} else if (given !== undefined) {
  const [{ printAside }, { ourCommand }] = await Promise.all([
    import('@interlude-ai/kit/terminal/terminal-text.ts'),
    import('@interlude-ai/kit/terminal/program-command.ts'),
  ]);
  printAside(
    `interlude ${given} belongs to the service: run it in a checkout of Interlude or in its image. ${ourCommand('--help')} lists the commands of this package.\n`,
  );
  process.exitCode = 2;
} else {
  // Loaded only now: an older Node could not load it, or would hang.
  const [{ clientCommands }, { runProgram }] = await Promise.all([
    import('./client-commands.ts'),
    import('@interlude-ai/kit/terminal/run-program.ts'),
  ]);
  await runProgram(clientCommands, words);
}

/** From `package.json`. */
function neededNode(): number {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { engines } = JSON.parse(manifest) as { engines: { node: string } };
  return parseInt(engines.node.replace(/^\D+/, ''), 10);
}
