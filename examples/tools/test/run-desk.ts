/** Shared by the tests: one turn of the desk whose model makes one call. */
import { callsTool, says, script, withAgents } from '@interlude-ai/service/testing';
import type { Turn } from '@interlude-ai/service/testing';

process.env['DESK_NOTEBOOK'] = '/dev/null'; // The service under test inherits it.
const options = { file: `${import.meta.dirname}/../agents.yaml`, timeout: '60s' as const };

export const whenDeskCalls = (
  tool: string,
  input: Record<string, unknown>,
  body: (turn: Turn) => Promise<void>,
) =>
  withAgents(options, async (agents) => {
    const model = script(callsTool(tool, input), says('Done.'));
    const turn = await agents.as('alice').send('desk', 'As you see fit', { model });
    await body(turn);
    await turn.answer();
  });
