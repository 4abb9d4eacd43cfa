#!/usr/bin/env node
/** The program of the kit: its commands need neither the service nor its other clients. */
import { replay } from './commands/replay.ts';
import { lintServer, tryServer } from './commands/try.ts';
import { nameProgram } from './terminal/program-command.ts';
import { runProgram } from './terminal/run-program.ts';

const name = 'interlude-kit';
nameProgram(name);
const commands = [tryServer(), lintServer(), replay()];
await runProgram({ name, description: 'Tests for MCP servers that ask.', commands }, process.argv.slice(2));
