/** The program is killed with -9 between a question and its answer: what its successor exports is the same trace. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDeployment, showOutput } from '../../e2e/deployment.ts';
import type { Deployment } from '../../e2e/deployment.ts';
import { say } from '../../e2e/watch.ts';
import { connectAccount } from '../../service/connect-account.ts';
import { beginSpan } from '../../../src/platform/telemetry/traces/tracing.ts';
import { fastExport, hasEnded, startExporting, treeOf } from './exporting.ts';
import { startOtlpReceiver } from './otlp-receiver.ts';
import type { ExportedSpan, OtlpReceiver } from './otlp-receiver.ts';

let receiver: OtlpReceiver;
let deployment: Deployment;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  deployment = await createDeployment({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...fastExport },
  });
  deployment.defer(() => receiver.stop());
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

const isOurs = ({ name }: ExportedSpan) => !/^(GET|POST|DELETE)( |$)/.test(name);

test('one trace across the death of the process, of spans that all have their parents', async () => {
  const killed = await deployment.start('start');
  const turn = say(deployment.client('alice'), 'list my open issues');
  const { url } = await turn.question();
  await receiver.until((spans) => spans.some(({ name }) => name.startsWith('invoke_agent')));
  await killed.kill('SIGKILL');
  const before = receiver.spans.filter(isOurs).length;
  await deployment.start('start');
  await connectAccount('alice', url);
  expect((await turn.end()).status).toBe('completed');

  await receiver.until((spans) => hasEnded(spans.filter(isOurs)));
  const spans = receiver.spans.filter(isOurs).toSorted((one, other) => one.start - other.start);
  expect(spans.length).toBeGreaterThan(before);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  const [root, ...others] = treeOf(spans);
  expect(root).toMatch(/^turn /);
  expect(others.filter((name) => !name.startsWith('  '))).toEqual([]);
  expect(treeOf(spans)).toHaveLength(spans.length);
  expect(others.filter((name) => /^ {2}\S/.test(name)).map((name) => name.trim().split(' ')[0])).toEqual([
    'invoke_agent',
    'elicitation.completed',
    'invoke_agent',
  ]);
});

test('an exporter that does not answer keeps a process that stops for five seconds, and no longer', async () => {
  const exporting = await startExporting();
  exporting.hang();
  beginSpan({ name: 'last', parent: null }).end();
  await exporting.stop();
  expect(exporting.spans).toEqual([]);
});
