#!/usr/bin/env node
/** Starts the program `interlude` in the published package, which contains the clients and not the service. */
import { readFileSync } from 'node:fs';

const needed = neededNode();
if (process.versions.node.localeCompare(needed, 'en', { numeric: true }) < 0) {
  process.stderr.write(
    `Interlude needs Node ${needed} or newer, and this is ${process.version}: install a newer one from https://nodejs.org or with your version manager.\n`,
  );
  process.exitCode = 1;
} else {
  // Loaded only now: an older Node could not load it, or would hang.
  const [{ clientCommands, interlude }, { tools }, { runProgram }] = await Promise.all([
    import('./client-commands.ts'),
    import('./commands/tools.ts'),
    import('@interlude-ai/kit/terminal/run-program.ts'),
  ]);
  const commands = [...clientCommands(), tools()];
  const notes =
    'The service is run, and operated by more commands, by the package @interlude-ai/service, a checkout or the image.';
  await runProgram({ ...interlude, commands, notes }, process.argv.slice(2));
}

/** From `package.json`. */
function neededNode(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { engines } = JSON.parse(manifest) as { engines: { node: string } };
  return engines.node.replace(/^\D+/, '');
}
