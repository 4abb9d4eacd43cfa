#!/usr/bin/env node
/** The program that npx runs before anything of Interlude is installed. */
import { nameProgram } from '@interlude-ai/kit/terminal/program-command.ts';
import { runProgram } from '@interlude-ai/kit/terminal/run-program.ts';
import { init } from './init.ts';
import { own } from './project.ts';

nameProgram(own.name);
const description = 'Makes a folder with agents of Interlude.';
await runProgram({ name: own.name, description, commands: [init()] }, process.argv.slice(2));
