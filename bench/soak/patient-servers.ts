/** Two servers of the old era that ask and are patient: one whose calls have to be held, one whose calls are left to it. */
import { inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { createEventStore } from '../../test/servers/event-store.ts';
import { startMcpServer } from '../../test/servers/mcp-server.ts';

export const kinds = ['held', 'left'] as const;
export type Kind = (typeof kinds)[number];

interface PatientServer {
  url: string;
  /** How often it was told this action. */
  told: Map<string, number>;
  stop(): Promise<void>;
}

export async function startPatientServers(): Promise<Record<Kind, PatientServer>> {
  const [held, left] = await Promise.all([startPatientServer(false), startPatientServer(true)]);
  return { held, left };
}

async function startPatientServer(hasEvents: boolean): Promise<PatientServer> {
  const told = new Map<string, number>();
  const build = () => {
    const server = new McpServer(
      { name: 'patient', version: '1' },
      { inputRequired: { roundTimeoutMs: 3_600_000 } },
    );
    server.registerTool('ask', {}, ({ mcpReq: { inputResponses } }) => {
      const given = inputResponse(inputResponses, 'colour');
      if (given.kind === 'missing') return inputRequired({ inputRequests: { colour } });
      const action = 'action' in given ? String(given.action) : given.kind;
      told.set(action, (told.get(action) ?? 0) + 1);
      return { content: [{ type: 'text', text: `was told: ${action}` }] };
    });
    return server;
  };
  const eventStore = hasEvents ? { eventStore: createEventStore() } : {};
  const { config, stop } = await startMcpServer({ era: 'legacy', build, ...eventStore });
  return { url: config.url, told, stop };
}

const colour = inputRequired.elicit({
  message: 'Which colour?',
  requestedSchema: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] },
});
