/** The program `interlude` with all its commands, in a checkout or an image where everything is installed. */
import { existsSync } from 'node:fs';
import { hideEnvironment } from '../platform/processes/hide-environment.ts';

const words = process.argv.slice(2);
// A folder with an agents file is used with its own variables. Those that are set already count.
if (existsSync('agents.yaml')) {
  if (existsSync('.env')) process.loadEnvFile('.env');
  process.env['INTERLUDE_CONFIG'] ??= 'agents.yaml';
}
// Before anything else is loaded, which would otherwise be loaded twice.
if (['start', 'dev', 'server', 'worker'].includes(words[0] ?? '')) hideEnvironment();
const [{ clientCommands, interlude }, { runProgram }, { serviceCommands }] = await Promise.all([
  import('@interlude-ai/program/client-commands.ts'),
  import('@interlude-ai/kit/terminal/run-program.ts'),
  import('./service-commands.ts'),
]);
const commands = [...serviceCommands(), ...clientCommands()];
const notes = 'A service is configured by its environment: docs/configuration.md.';
await runProgram({ ...interlude, commands, notes }, words);
