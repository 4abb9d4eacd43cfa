/**
 * An MCP server of the new era that keeps nothing: its tool `run {id, steps}` asks for one word after the other, each in a
 * round of its own, and says all of them in the end.
 */
import { answer, startRawMcpServer } from './raw-mcp-server.ts';
import { asks, done, form } from './playing-server.ts';

export interface WizardServer {
  url: string;
  /** How often the wizard of this id was called, its last time included; and how often it came to its end. */
  calls(id: string): number;
  ends(id: string): number;
  stop(): Promise<void>;
}

export async function startWizardServer(): Promise<WizardServer> {
  const calls = new Map<string, number>();
  const ends = new Map<string, number>();
  const count = (of: Map<string, number>, id: string) => of.set(id, (of.get(id) ?? 0) + 1);
  const properties = { id: { type: 'string' }, steps: { type: 'integer' } };
  const tool = { name: 'run', inputSchema: { type: 'object', properties }, annotations: {} };
  const raw = await startRawMcpServer({
    on: {
      'tools/list': (message, response) =>
        answer(message, response, {
          resultType: 'complete',
          tools: [tool],
          ttlMs: 0,
          cacheScope: 'private',
        }),
      'tools/call'(message, response) {
        const { arguments: given = {}, requestState = '[]', inputResponses = {} } = message.params ?? {};
        const id = String(given['id']);
        count(calls, id);
        const said = inputResponses['word'] as { content?: { word?: string } } | undefined;
        const words = [
          ...(JSON.parse(requestState) as string[]),
          ...(said ? [said.content?.word ?? '?'] : []),
        ];
        if (words.length < Number(given['steps'])) {
          const question = form(`${id}: word ${words.length + 1}`, { word: { type: 'string' } });
          return answer(message, response, asks({ word: question }, JSON.stringify(words)));
        }
        count(ends, id);
        answer(message, response, done(words.join(' ')));
      },
    },
  });
  return {
    url: raw.config.url,
    calls: (id) => calls.get(id) ?? 0,
    ends: (id) => ends.get(id) ?? 0,
    stop: () => raw.stop(),
  };
}
