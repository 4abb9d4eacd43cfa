/** `interlude config check` and `interlude agents check`. */
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import type { Config } from '../../platform/config/config.ts';
import { needsOf } from '../../platform/config/environment.ts';
import type { ProcessKind } from '../../platform/config/environment.ts';
import { readConfig, readProcessConfig } from '../../platform/processes/read-config.ts';
import { defineCommand, GivenFileError, UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { print, printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { interruptSignal } from '@interlude-ai/kit/try/exit-codes.ts';

const kinds = Object.keys(needsOf) as ProcessKind[];

export const configCheck = defineCommand({
  arguments: [],
  options: {
    for: {
      type: 'string',
      value: `<${kinds.join(' | ')}>`,
      description: 'the process to check the configuration for',
      default: 'start',
    },
  },
  details: [
    'Run it in the folder and with the environment of that process. For start and server it checks that AUTH_ISSUER answers; it contacts nothing else, and starts nothing.',
    '',
    'Exit codes: 0 nothing found but warnings, 1 something is wrong, 2 wrong command line. More: docs/configuration.md',
  ].join('\n'),
  async run({ for: given }) {
    const kind = kinds.find((one) => one === given);
    if (!kind) throw new UsageError(`--for ${given} is none of ${kinds.join(', ')}.`);
    try {
      const config = await readProcessConfig(kind);
      print(`${[...describe(config), ...config.warnings.map((one) => `Warning: ${one}`)].join('\n')}\n`);
      return 0;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      printAside(`${error.message}\n`);
      return 1;
    }
  },
});

/** Where each part comes from, so that an ineffective setting is noticed. No secrets. */
function describe({ configFile, agents, servers, database, temporal, auth, http }: Config): string[] {
  const rows: [string, string][] = [
    ['agents file', `${configFile}: ${named(agents)}`],
    ['servers', named(servers) || 'none'],
    ['database', database.kind === 'sqlite' ? `SQLite, ${database.path}` : placeOf(database.url)],
    ['Temporal', temporal.address ?? `a development server, started by ${ourCommand('start')}`],
    ['sign-in', auth?.issuer ?? `the demo's, started by ${ourCommand('start')}`],
    ['address', http.publicUrl],
  ];
  return [
    'The configuration has no mistakes.',
    ...rows.map(([name, value]) => `  ${name.padEnd(13)}${value}`),
  ];
}

function named(entries: ReadonlyMap<string, unknown>): string {
  return [...entries.keys()].join(', ');
}

/** Without user and password. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'PostgreSQL';
  const { host, pathname } = new URL(url);
  return `PostgreSQL, ${host}${pathname}`;
}

export const agentsCheck = defineCommand({
  arguments: [],
  options: {
    config: { type: 'string', value: '<file>', description: 'the agents file (default: INTERLUDE_CONFIG)' },
    server: { type: 'strings', value: '<name>', description: 'only this server' },
    token: {
      type: 'strings',
      value: '<server=token>',
      description: 'the token for listing the tools of a server that wants an account',
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
    'Run it with the environment of a process. It calls no tool and registers nowhere.',
    `A server that wants an account is asked for its tools with --token, or as the account that ${ourCommand('try')} has there.`,
    '',
    'Exit codes: 0 nothing found but warnings, 1 an agent will lack something, 2 wrong command line or agents file. More: docs/agents.md',
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
    if (error instanceof ConfigError) throw new GivenFileError(error.message, { cause: error });
    throw error;
  }
}
