#!/usr/bin/env node
/** Starts the program `interlude` in the package that people install, which holds the clients and not the service. */
import { clientCommands } from './client-commands.ts';
import { runProgram } from './run-program.ts';
import { printAside } from './terminal-text.ts';

/** What the commands begin with that are not here. */
const ofService = [
  'start',
  'agents check',
  'server',
  'worker',
  'turns',
  'turn',
  'questions',
  'cancel',
  'versions',
  'installation',
  'api-keys',
  'keys',
  'accounts',
  'tools build',
];

const words = process.argv.slice(2);
const given = ofService.find((command) => command === words.slice(0, command.split(' ').length).join(' '));
if (given !== undefined) {
  printAside(
    `interlude ${given} belongs to the service: run it in a checkout of Interlude (npx interlude ${given}) or in its image. What this package holds, interlude --help says.\n`,
  );
  process.exitCode = 2;
} else {
  await runProgram(clientCommands, words);
}
