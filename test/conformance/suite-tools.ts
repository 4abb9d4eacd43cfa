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

/** Long enough for a call to become a task, which it does after half a second, also where both clocks are late. */
const pastTaskMs = 2_500;

type SuiteTool = (asking: Asking, given: Record<string, unknown>) => Promise<ToolResult>;

const name = { name: { type: 'string' } };
const confirm = { confirm: { type: 'boolean' } };
const greeting = ({ content }: ElicitationResponse) => textResult(`Hello, ${String(content?.['name'])}!`);

const asksForName: SuiteTool = async ({ ask }) =>
  greeting(await ask('What is your name?', name, { required: ['name'], key: 'user_name' }));

/** Of an enum: an untitled one, a titled one, one with the old names, and both kinds of which several may be chosen. */
const enums = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
};

function titled(what: string): object[] {
  return ['First', 'Second', 'Third'].map((words, index) => ({
    const: `value${index + 1}`,
    title: `${words} ${what}`,
  }));
}

const defaults = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};

const described = ({ action, content }: ElicitationResponse) =>
  textResult(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);

export const schemaTool = {
  name: 'json_schema_2020_12_tool',
  inputSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object' as const,
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  },
};

export const suiteTools: Record<string, SuiteTool> = {
  [schemaTool.name]: async () => textResult('done'),
  test_logging_tool: async () => textResult('done'),
  test_streaming_elicitation: asksForName,
  test_elicitation: async ({ ask }, { message }) =>
    described(
      await ask(
        String(message),
        { username: { type: 'string', description: 'Your name' }, email: { type: 'string' } },
        { required: ['username', 'email'] },
      ),
    ),
  test_elicitation_sep1034_defaults: async ({ ask }) => described(await ask('Please check', defaults)),
  test_elicitation_sep1330_enums: async ({ ask }) => described(await ask('Please choose', enums)),
  async test_reconnection({ sleep }) {
    await sleep(500);
    return textResult('done');
  },
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
    await sleep(pastTaskMs);
    return { ...textResult('it failed'), isError: true };
  },
  async protocol_error_job({ sleep }) {
    await sleep(pastTaskMs);
    throw new Error('a protocol error');
  },
  async confirm_delete({ ask, sleep }) {
    await sleep(pastTaskMs);
    await ask('Delete it?', confirm);
    return textResult('deleted');
  },
  async multi_input({ ask, sleep }) {
    await sleep(pastTaskMs);
    await Promise.all([
      ask('The first', { ...name, ...confirm }),
      ask('The second', { ...name, ...confirm }),
    ]);
    return textResult('both');
  },
  async test_tool_with_task({ ask, sleep }) {
    const answered = await ask('What is your name?', name, { required: ['name'] });
    await sleep(pastTaskMs);
    return greeting(answered);
  },
};
