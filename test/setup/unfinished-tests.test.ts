import { expect, test } from 'vitest';
import type { TestCase } from 'vitest/node';
import { UnfinishedTests } from './unfinished-tests.ts';

const testCase = (fullName: string) =>
  ({ fullName, module: { relativeModuleId: 'test/some.test.ts' } }) as TestCase;

function createReporter() {
  const printed: string[] = [];
  const reporter = new UnfinishedTests((text) => void printed.push(text));
  reporter.onTestRunStart();
  return { reporter, printed };
}

test('names what began and did not end', () => {
  const { reporter, printed } = createReporter();
  const [ended, hung] = [testCase('ends'), testCase('hangs')];
  reporter.onTestCaseReady(ended);
  reporter.onTestCaseReady(hung);
  reporter.onTestCaseResult(ended);
  reporter.onTestRunEnd();
  expect(printed).toEqual(['\nBegan and did not end:\n  test/some.test.ts > hangs\n']);
});

test('is silent of a test whose end is told before its beginning', () => {
  const { reporter, printed } = createReporter();
  const ended = testCase('ends');
  reporter.onTestCaseResult(ended);
  reporter.onTestCaseReady(ended);
  reporter.onTestRunEnd();
  expect(printed).toEqual([]);
});

test('begins anew with each run', () => {
  const { reporter, printed } = createReporter();
  const again = testCase('ends, then hangs');
  reporter.onTestCaseReady(again);
  reporter.onTestCaseResult(again);
  reporter.onTestRunStart();
  reporter.onTestCaseReady(again);
  reporter.onTestRunEnd();
  expect(printed).toHaveLength(1);
});
