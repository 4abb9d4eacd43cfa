#!/usr/bin/env node
/** Starts the program `interlude` in the package that people install, which holds the clients and not the service. */
import { clientCommands } from './client-commands.ts';
import { runProgram } from './run-program.ts';

/** The first words of the commands that are not here. */
const ofService = ['start', 'server', 'worker', 'make-current', 'api-keys', 'keys', 'accounts', 'tools'];

const words = process.argv.slice(2);
const [first = ''] = words;
if (ofService.includes(first)) {
  process.stderr.write(
    `interlude ${first} belongs to the service: run it in a checkout of Interlude (npx interlude ${first}) or in its image. This package holds the clients: interlude --help\n`,
  );
  process.exitCode = 2;
} else {
  await runProgram(clientCommands, words);
}
