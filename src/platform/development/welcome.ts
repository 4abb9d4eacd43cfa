/** What `interlude start` and `interlude dev` print, and what the playground suggests. */
import { styleText } from 'node:util';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import type { Config } from '../config/config.ts';

/** Once everything is up: where to look and what to type next, or what is missing. */
export function welcome(
  config: Config,
  temporalUi: string | undefined,
  isDemoIdentity: boolean,
  lacks: string[],
): string {
  const dim = (text: string) => styleText('dim', text);
  const command = (text: string) => styleText(['bold', 'cyan'], text);
  const { publicUrl } = config.http;
  const rows: [string, string][] = [
    ...(isDemoIdentity ? [['Playground', publicUrl] satisfies [string, string]] : []),
    ['API', publicUrl],
    ['MCP', `${publicUrl}/run/v1/mcp`],
    ['Connections', `${publicUrl}/connections`],
    ['Operators', `${publicUrl}/operators${isDemoIdentity ? ' (sign in as bob)' : ''}`],
  ];
  if (temporalUi !== undefined) rows.push(['Temporal UI', temporalUi]);
  const { servers } = config.demo;
  if (servers) {
    rows.push(['Tracker (demo)', `http://127.0.0.1:${servers.trackerPort}`]);
    rows.push(['Travel (demo)', `http://127.0.0.1:${servers.travelPort}`]);
    rows.push(['Desk (demo)', `http://127.0.0.1:${servers.deskPort}`]);
    rows.push(['Flights (demo)', `http://127.0.0.1:${servers.flightsPort}`]);
  }
  if (isDemoIdentity && config.auth) rows.push(['Sign-in (demo)', config.auth.issuer]);
  const agents = [...config.agents.values()].map(({ name, model }) => `${name} (${model})`).join(', ');
  rows.push(['Agents', agents]);

  const lines = rows.map(([name, value]) => `  ${dim(name.padEnd(16))}${value}`);
  const isReady = lacks.length === 0;
  const [first] = config.agents.keys();
  const suggestions = suggestionsFor(config)[first ?? ''] ?? [];
  const talk =
    isDemoIdentity && isReady
      ? [
          '',
          '  Now talk to it: open the playground and sign in as alice, or in a second terminal in this folder:',
          '',
          `    ${command(chatCommand(config))}`,
          ...(suggestions.length > 0 ? [''] : []),
          ...suggestions
            .slice(0, 3)
            .map((text, index) => `  ${index === 0 ? 'and ask' : '     or'}: ${command(text)}`),
        ]
      : [];
  return [
    '',
    styleText('bold', isReady ? '  Interlude is ready' : '  Interlude runs, and is not ready'),
    '',
    ...lacks.map((lack) => `  • ${lack}`),
    ...(isReady ? [] : ['']),
    ...lines,
    ...talk,
    '',
    dim('  Ctrl+C stops it; waiting turns go on when it is started again.'),
    '',
    '',
  ].join('\n');
}

/** For another terminal, with none of this one's environment. */
function chatCommand({ http }: Config): string {
  const url = http.publicUrl === 'http://127.0.0.1:3000' ? '' : ` --url ${http.publicUrl}`;
  return ourCommand(`chat --as alice${url}`);
}

/** By agent. */
export function suggestionsFor({ agents }: Pick<Config, 'agents'>): Record<string, string[]> {
  return Object.fromEntries([...agents.values()].map(({ name, examples = [] }) => [name, examples]));
}
