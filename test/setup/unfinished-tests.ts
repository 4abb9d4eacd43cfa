/**
 * Names the tests that were running when their process, or vitest's own, ended. Vitest says of a process that died only
 * which file it had, and nothing at all when it ends itself: an unhandled rejection or a signal, and there is no summary.
 */
import { writeSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

/** What is printed comes out at once: nothing that is written later comes out of a process that ends. */
const toStandardError = (text: string) => void writeSync(process.stderr.fd, text);

export class UnfinishedTests implements Reporter {
  readonly #running = new Set<TestCase>();
  readonly #ended = new Set<TestCase>();
  readonly #print: (text: string) => void;
  #isOver = false;

  constructor(print = toStandardError) {
    this.#print = print;
  }

  onInit(): void {
    process.once('exit', (code) => {
      if (!this.#isOver) this.#printRunning(`vitest ended with ${code} before its tests did`);
    });
  }

  onTestRunStart(): void {
    this.#isOver = false;
    this.#running.clear();
    this.#ended.clear();
  }

  /** Vitest works through two batches of events at a time: a test may be said to have ended before it is said to begin. */
  onTestCaseReady(test: TestCase): void {
    if (!this.#ended.has(test)) this.#running.add(test);
  }

  onTestCaseResult(test: TestCase): void {
    this.#ended.add(test);
    this.#running.delete(test);
  }

  onTestRunEnd(): void {
    this.#isOver = true;
    if (this.#running.size > 0) this.#printRunning('Began and did not end');
  }

  #printRunning(title: string): void {
    const names = [...this.#running].map((test) => `  ${test.module.relativeModuleId} > ${test.fullName}`);
    this.#print(`\n${[`${title}:`, ...names].join('\n')}\n`);
  }
}
