/** `interlude config check` and `interlude agents check`. */
import { Command, Option } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Config } from '../../platform/config/config.ts';
import type { ProcessKind } from '../../platform/config/environment.ts';
import { duration, group, repeated, UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { print, printAside } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { interruptSignal } from '@interlude-ai/kit/try/exit-codes.ts';

export const processKinds = ['start', 'server', 'worker'] as const satisfies ProcessKind[];

export function config(): CommandUnknownOpts {
  const check = new Command('check')
    .description('check the settings and the agents file, and show the result')
    .addOption(
      new Option('--for <process>', 'the process to check them for')
        .choices(processKinds)
        .default('start' as const),
    )
    .addHelpText(
      'after',
      `
Run it in the folder and with the environment of that process. For start and
server it checks that AUTH_ISSUER answers; it contacts nothing else, and starts
nothing.

Exit codes: 0 nothing found but warnings, 1 something is wrong, 2 wrong command
line. More: docs/configuration.md`,
    )
    .action(async ({ for: kind }) => {
      const [{ ConfigError }, { readProcessConfig }] = await Promise.all([
        import('@interlude-ai/core/config-error.ts'),
        import('../../platform/processes/read-config.ts'),
      ]);
      try {
        const read = await readProcessConfig(kind);
        print(`${[...describe(read), ...read.warnings.map((one) => `Warning: ${one}`)].join('\n')}\n`);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        printAside(`${error.message}\n`);
        process.exitCode = 1;
      }
    });
  return group('config', 'the settings and the agents file: check', [check], 'check');
}

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

export function agents(): CommandUnknownOpts {
  const check = new Command('check')
    .description('reach the servers of the agents file, and show which tools each agent gets')
    .option('--config <file>', 'the agents file (default: INTERLUDE_CONFIG)')
    .option('--server <name>', 'only this server; may be repeated', repeated)
    .option(
      '--token <server=token>',
      'the token for listing the tools of a server that wants an account; may be repeated',
      repeated,
    )
    .addOption(
      new Option('--timeout <duration>', 'how long a server may take')
        .argParser(duration)
        .default(15_000, '15s'),
    )
    .option('--json', 'for programs: one object on standard output')
    .addHelpText(
      'after',
      `
Run it with the environment of a process. It calls no tool and registers
nowhere. A server that wants an account is asked for its tools with --token, or
as the account that ${ourCommand('try')} has there.

Exit codes: 0 nothing found but warnings, 1 an agent will lack something,
2 wrong command line or agents file. More: docs/agents.md`,
    )
    .action(async ({ config: file, ...values }) => {
      const { env } = process;
      const { checkAgents } = await import('../agents/check-agents.ts');
      const read = await configOf(file);
      process.exitCode = await checkAgents(read, values, { env, signal: interruptSignal(), print });
    });
  return group('agents', 'the agents file: check', [check], 'check');
}

async function configOf(file: string | undefined): Promise<Config> {
  const [{ ConfigError }, { readConfig }] = await Promise.all([
    import('@interlude-ai/core/config-error.ts'),
    import('../../platform/processes/read-config.ts'),
  ]);
  try {
    return readConfig(file);
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
