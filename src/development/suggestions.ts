/** What people may say first. Only the demo knows that; with it, only what an agent's own tools can do. */
import path from 'node:path';
import type { Config } from '../config/config.ts';

interface Suggestion {
  text: string;
  tool: string;
}

/** By the port at which the demo's server listens, whatever the agents file calls it. */
function abilities({ demo }: Pick<Config, 'demo'>): Map<string, Suggestion[]> {
  if (!demo.servers) return new Map();
  const { trackerPort, travelPort, flightsPort } = demo.servers;
  return new Map([
    [
      String(trackerPort),
      [
        { text: 'List my open issues in Tracker.', tool: 'list_issues' },
        { text: 'Close #2.', tool: 'close_issue' },
      ],
    ],
    [
      String(travelPort),
      [
        { text: 'Book a trip to Lisbon.', tool: 'book_trip' },
        { text: 'Pay the deposit.', tool: 'pay_deposit' },
      ],
    ],
    [String(flightsPort), [{ text: 'Find me a flight to Lisbon.', tool: 'task' }]],
  ]);
}

/** Of the agent whose tools are the Desk's, wherever else its file says it is. */
const deskTools = path.resolve(import.meta.dirname, '../../demo/desk/tools');
const atTheDesk = [
  'Delete the page “Old roadmap”.',
  'Welcome a new member.',
  'Change my digest.',
  'Pay an invoice.',
];

/** By agent. */
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
