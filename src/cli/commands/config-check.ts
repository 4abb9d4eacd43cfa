/** `interlude config check`: everything that is wrong with the configuration of a process, without starting one. */
import { ConfigError } from '../../config/config-error.ts';
import type { Config } from '../../config/config.ts';
import { needsOf } from '../../config/environment-combinations.ts';
import type { ProcessKind } from '../../config/environment-combinations.ts';
import { readProcessConfig } from '../../processes/read-config.ts';
import { defineCommand, UsageError } from '../command.ts';
import { print, printAside } from '../terminal-text.ts';

const kinds = Object.keys(needsOf) as ProcessKind[];

export const check = defineCommand({
  arguments: [],
  options: {
    for: {
      type: 'string',
      value: `<${kinds.join(' | ')}>`,
      description: 'the process that will have this configuration',
      default: 'start',
    },
  },
  details: [
    'Run it with the environment and in the folder of that process. The issuer of a start and of a server is asked whether it answers; nothing else is reached, and nothing is started.',
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

/** Where each part comes from, so that a setting without effect is noticed. No secrets. */
function describe({ configFile, agents, servers, database, temporal, auth, http }: Config): string[] {
  const rows: [string, string][] = [
    ['agents file', `${configFile}: ${named(agents)}`],
    ['servers', named(servers) || 'none'],
    ['database', database.kind === 'sqlite' ? `SQLite, ${database.path}` : placeOf(database.url)],
    ['Temporal', temporal.address ?? 'a development server, started by `interlude start`'],
    ['sign-in', auth?.issuer ?? "the demo's, started by `interlude start`"],
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
