/** `interlude agents check`: what agents would get of the servers of the agents file, and what is wrong. Needs no service. */
import { ConfigError } from '../../config/config-error.ts';
import type { Config } from '../../config/config.ts';
import { readConfig } from '../../processes/read-config.ts';
import { defineCommand, UsageError } from '../command.ts';
import { interruptSignal } from '../try/interrupt.ts';
import { print } from '../terminal-text.ts';

export const check = defineCommand({
  arguments: [],
  options: {
    config: { type: 'string', value: '<file>', description: 'the agents file (INTERLUDE_CONFIG)' },
    server: { type: 'strings', value: '<name>', description: 'only this server' },
    token: {
      type: 'strings',
      value: '<server=token>',
      description: "lists the tools of a server with this token, where they are an account's",
    },
    timeout: {
      type: 'string',
      value: '<duration>',
      description: 'how long a server may take',
      default: '15s',
    },
    json: { type: 'boolean', description: 'for programs: one object on standard output' },
  },
  details: [
    'Run it with the environment of a process. Nothing is called and nothing is registered.',
    'A server that wants an account is asked for its tools with --token, or as the account that `interlude try` has there.',
    '',
    'Exit codes: 0 nothing found but warnings, 1 something an agent will lack, 2 wrong command line or agents file. More: docs/agents.md',
  ].join('\n'),
  async run({ config: file, ...values }) {
    const { env } = process;
    const { checkAgents } = await import('../agents/check-agents.ts');
    return checkAgents(configOf(file), values, { env, signal: interruptSignal(), print });
  },
});

function configOf(file: string | undefined): Config {
  try {
    return readConfig(file);
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
