/** The tools that the server scenarios of the conformance suite want to find, as plain functions that may ask. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ElicitationResponse } from '../../src/elicitation/elicitation.ts';
import { textResult } from '../../src/api/mcp/tools/tool.ts';
import type { ToolResult } from '../../src/api/mcp/tools/tool.ts';

export interface Asking {
  /** `key`: where the suite looks for it. */
  ask(
    message: string,
    properties: object,
    rest?: { required?: string[]; key?: string },
  ): Promise<ElicitationResponse>;
  /** Rejects when the turn is cancelled. */
  sleep(ms: number): Promise<void>;
  progress(words: string): void;
}

type SuiteTool = (asking: Asking, given: Record<string, unknown>) => Promise<ToolResult>;

const name = { name: { type: 'string' } };
const confirm = { confirm: { type: 'boolean' } };
const greeting = ({ content }: ElicitationResponse) => textResult(`Hello, ${String(content?.['name'])}!`);

const asksForName: SuiteTool = async ({ ask }) =>
  greeting(await ask('What is your name?', name, { required: ['name'], key: 'user_name' }));

export const suiteTools: Record<string, SuiteTool> = {
  test_simple_text: async () => textResult('This is a simple text response for testing.'),
  test_error_handling: async () => ({
    ...textResult('This tool intentionally returns an error for testing'),
    isError: true,
  }),
  async test_tool_with_progress({ progress }) {
    for (const words of ['0', '50', '100']) {
      progress(words);
      await delay(50);
    }
    return textResult('done');
  },
  test_input_required_result_elicitation: asksForName,
  async test_input_required_result_request_state({ ask }) {
    await ask('Please confirm', { ok: { type: 'boolean' } }, { required: ['ok'] });
    return textResult('state-ok');
  },
  async test_input_required_result_multi_round({ ask }) {
    await ask('Step 1: What is your name?', name, { required: ['name'] });
    await ask('Step 2: What is your favorite color?', { color: { type: 'string' } }, { required: ['color'] });
    return textResult('done');
  },
  test_input_required_result_tampered_state: asksForName,
  test_input_required_result_capabilities: asksForName,

  greet: async (_, { name: given }) => textResult(`Hello, ${String(given)}!`),
  async slow_compute({ sleep }, { seconds }) {
    await sleep(Number(seconds ?? 0) * 1_000);
    return textResult('computed');
  },
  async failing_job({ sleep }) {
    await sleep(1_000);
    return { ...textResult('it failed'), isError: true };
  },
  async protocol_error_job({ sleep }) {
    await sleep(1_000);
    throw new Error('a protocol error');
  },
  async confirm_delete({ ask, sleep }) {
    await sleep(1_000);
    await ask('Delete it?', confirm);
    return textResult('deleted');
  },
  async multi_input({ ask, sleep }) {
    await sleep(1_000);
    await Promise.all([
      ask('The first', { ...name, ...confirm }),
      ask('The second', { ...name, ...confirm }),
    ]);
    return textResult('both');
  },
  async test_tool_with_task({ ask, sleep }) {
    const answered = await ask('What is your name?', name, { required: ['name'] });
    await sleep(1_000);
    return greeting(answered);
  },
};
