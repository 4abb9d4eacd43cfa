import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { TemporalConfig } from '../../../src/platform/config/config.ts';
import { watchInstallation } from '../../../src/platform/installation/installation.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { postgresUrl } from '../../postgres.ts';
import { createTimeSkipping } from '../../time-skipping.ts';

test('where Temporal has no schedules, a process goes on unchecked and says so once', async () => {
  await using stack = new AsyncDisposableStack();
  const environment = await createTimeSkipping();
  stack.defer(() => environment.teardown());
  const storage = await openStorage({ kind: 'postgres', url: await postgresUrl() });
  stack.defer(() => storage.close());
  const said: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void said.push(line) });
  const temporal: Partial<TemporalConfig> = {
    address: environment.address,
    namespace: 'default',
    taskQueue: 'queue',
    tls: false,
  };
  const watch = await watchInstallation({
    config: { temporal: temporal as TemporalConfig },
    storage,
    logger,
  });
  stack.defer(() => watch.close());
  await watch.untilTogether();
  for (let looks = 0; looks < 3; looks++)
    expect(await watch.opened.lookSafely()).toEqual({ kind: 'together' });
  expect(said.filter((line) => line.includes('is not checked'))).toHaveLength(1);
});
