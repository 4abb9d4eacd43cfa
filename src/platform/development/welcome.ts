/** What `npm start` prints and the playground suggests. */
import path from 'node:path';
import { styleText } from 'node:util';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import type { Config } from '../config/config.ts';

/** What `npm start` prints once everything is up: where to look and what to type next, or what is missing. */
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
          '  Now talk to it, in a second terminal in this folder:',
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

// Suggested first messages. Only the demo has them, and only for what the agent's own tools can do.

interface Suggestion {
  text: string;
  tool: string;
}

/** By the port of the demo's server: the agents file may give the server any name. */
function abilities({ demo }: Pick<Config, 'demo'>): Map<string, Suggestion[]> {
  if (!demo.servers) return new Map();
  const { trackerPort, travelPort, flightsPort } = demo.servers;
  return new Map([
    [
      String(trackerPort),
      [
        { text: 'List my open issues in Tracker.', tool: 'list_issues' },
        { text: 'Close #2.', tool: 'close_issue' },
        { text: 'Give me an overview of the team’s work.', tool: 'list_issues' },
      ],
    ],
    [
      String(travelPort),
      [
        { text: 'Book a trip to Lisbon.', tool: 'book_trip' },
        { text: 'Close #2, and book a trip to Lisbon.', tool: 'book_trip' },
        { text: 'Pay the deposit.', tool: 'pay_deposit' },
      ],
    ],
    [String(flightsPort), [{ text: 'Find me a flight to Lisbon.', tool: 'task' }]],
  ]);
}

/** An agent is the Desk's if it has the Desk's tools. */
const deskTools = path.resolve(import.meta.dirname, '../../../demo/desk/tools');
const atTheDesk = [
  'Delete the page “Old roadmap”.',
  'Welcome a new member.',
  'Change my digest.',
  'Pay an invoice.',
];

export function suggestionsFor(
  config: Pick<Config, 'demo' | 'agents' | 'servers'>,
): Record<string, string[]> {
  const known = abilities(config);
  const knownAt = (server: string) => {
    const { url, process } = config.servers.get(server) ?? {};
    return url === undefined || process ? [] : (known.get(new URL(url).port) ?? []);
  };
  return Object.fromEntries(
    [...config.agents.values()].map(({ name, servers, agents, tools: own }) => {
      const delegates = agents.flatMap(knownAt);
      const can = servers.flatMap(({ name: server, tools }) =>
        knownAt(server).filter(({ tool }) => tools === undefined || tools.includes(tool)),
      );
      const isDesk = config.demo.servers !== undefined && own?.folder === deskTools;
      return [name, [...[...can, ...delegates].map(({ text }) => text), ...(isDesk ? atTheDesk : [])]];
    }),
  );
}
