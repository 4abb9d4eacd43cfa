/**
 * Calls of tools that were recorded earlier go through today's code, of the agents and of the tools' runtime. A tool that
 * waits goes on with the code that it began with, so nothing would break where this fails; it shows a change of order that
 * nobody meant.
 */
import path from 'node:path';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import { openingCodec, sealingCodec } from '../../src/platform/temporal/sealed-payloads.ts';
import { joinWithSdk } from '../../src/platform/temporal/join-sdk.ts';
import { openToolBundle } from '../../src/platform/tool-bundles/open-tool-bundle.ts';
import { installQuietRuntime } from '../quiet-runtime.ts';
import { workflowBundle } from '../workflow-bundle.ts';
import { recordedIn, replay } from '../workflows/recorded-histories.ts';
import type { Replay } from '../workflows/recorded-histories.ts';
import { recordedKey } from './histories/recorded-key.ts';

const { names, recorded, whole, cutOff } = recordedIn(path.join(import.meta.dirname, 'histories'));
const ofTools = names.filter((name) => /\.tool\d?$/.test(name));
const ofTurns = names.filter((name) => !ofTools.includes(name));
const shapes = [
  'approval-refused',
  'approved',
  'approved-before',
  'approved-for-conversation',
  'cancelled',
  'declined',
  'dismissed',
  'expired',
  'misfit',
  'nobody-can-be-asked',
  'page-done',
  'superseded',
  'two-at-once',
  'wizard',
];

const keys = parseKeys(recordedKey);
const nothing = { fn: () => undefined };
const silent = { log: nothing, progress: nothing, taskBegan: nothing };

beforeAll(() => installQuietRuntime());

async function replayTurns(histories: Replay[]) {
  const dataConverter = { payloadCodecs: [openingCodec(keys)] };
  return replay({ workflowBundle: await workflowBundle(), dataConverter }, histories);
}

async function replayTools(histories: Replay[], code = (workflows: string) => workflows) {
  const { workflows } = await openToolBundle(path.join(import.meta.dirname, '../../examples/tools/tools'));
  const dataConverter = { payloadCodecs: [sealingCodec(keys)] };
  const joined = await joinWithSdk({ code: code(workflows) });
  return replay({ workflowBundle: joined, dataConverter, sinks: { durableTool: silent } }, histories);
}

test('calls of every shape are recorded', () => {
  expect(ofTurns).toEqual(shapes);
  const begun = shapes.filter((shape) => shape !== 'approval-refused');
  expect(new Set(ofTools.map((name) => name.split('.')[0]))).toEqual(new Set(begun));
});

describe.each([
  ['whole', whole],
  ['cut off while it was under way', cutOff],
])('%s', (_, read) => {
  test('each turn replays', async () => {
    expect(await replayTurns(ofTurns.map(read))).toEqual(ofTurns.map(() => undefined));
  });

  test('each tool replays', async () => {
    expect(await replayTools(ofTools.map(read))).toEqual(ofTools.map(() => undefined));
  });
});

test('nothing that was said can be read in the histories of tools', () => {
  for (const name of ofTools) {
    const text = JSON.stringify(recorded(name), (_, value: unknown) =>
      typeof value === 'string' ? value + Buffer.from(value, 'base64').toString('latin1') : value,
    );
    expect(text).not.toMatch(/ada@example|Platform|Who is new|the page/);
  }
});

test('a tool that would ask something before is refused', async () => {
  const [error] = await replayTools([cutOff('wizard.tool')], (workflows) => {
    const changed = workflows.replace('elicit("Who is new?"', 'elicit(await team.readTeams()');
    expect(changed).not.toBe(workflows);
    return changed;
  });
  expect(error).toBeInstanceOf(DeterminismViolationError);
});
