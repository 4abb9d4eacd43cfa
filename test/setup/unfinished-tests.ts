/**
 * Names the tests that were running when their process, or vitest's own, ended. Vitest says of a process that died only
 * which file it had, and nothing at all when it ends itself: an unhandled rejection or a signal, and there is no summary.
 */
import { writeSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

export class UnfinishedTests implements Reporter {
  readonly #running = new Set<TestCase>();
  #isOver = false;

  onInit(): void {
    process.once('exit', (code) => {
      if (!this.#isOver) this.#print(`vitest ended with ${code} before its tests did`);
    });
  }

  onTestRunStart(): void {
    this.#isOver = false;
    this.#running.clear();
  }

  onTestCaseReady(test: TestCase): void {
    this.#running.add(test);
  }

  onTestCaseResult(test: TestCase): void {
    this.#running.delete(test);
  }

  onTestRunEnd(): void {
    this.#isOver = true;
    if (this.#running.size > 0) this.#print('Began and did not end');
  }

  /** At once: nothing that is written later comes out of a process that ends. */
  #print(title: string): void {
    const names = [...this.#running].map((test) => `  ${test.module.relativeModuleId} > ${test.fullName}`);
    writeSync(process.stderr.fd, `\n${[`${title}:`, ...names].join('\n')}\n`);
  }
}
