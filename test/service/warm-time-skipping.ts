/** A Temporal whose time can be skipped, and which has run a workflow: on a busy machine Java takes longer for its first one than the service waits. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { vi } from 'vitest';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { startService } from './service.ts';

export async function createWarmTimeSkipping(): Promise<TestWorkflowEnvironment> {
  const environment = await createTimeSkipping();
  const service = await startService({
    temporal: temporalOf(environment),
  });
  const alice = await service.as('alice');
  const greeting = await vi.waitFor(() => alice.chat('hello'), { timeout: 50_000, interval: 500 });
  await greeting.finished();
  await service.stop();
  return environment;
}
