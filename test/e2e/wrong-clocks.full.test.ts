/** Processes whose clocks are minutes wrong, on PostgreSQL: turns wait, go on, make room and end as with right ones. */
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort } from '../free-port.ts';
import { postgresUrl } from '../postgres.ts';
import { shiftedClock } from '../shifted-clock.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';
import type { ServiceProcess } from './processes.ts';
import { questionsIn, say, textOf, workflowIdOf } from './watch.ts';

const minuteMs = 60_000;
const listing = 'list my open issues';

describe.each([-5, 5])(
  'an API whose clock is %i minutes wrong, and a worker that is five behind',
  (minutes) => {
    let deployment: Deployment;
    let temporal: Client;
    let api: ServiceProcess;

    beforeAll(async () => {
      const port = await freePort();
      deployment = await createDeployment({
        env: {
          DATABASE_URL: await postgresUrl(),
          TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
          INTERLUDE_KEYS: someKeys,
        },
      });
      await deployment.startTemporal(port);
      const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
      deployment.defer(() => connection.close());
      temporal = new Client({ connection });
      await deployment.start('worker', shiftedClock(-5 * minuteMs));
      api = deployment.spawn('server', shiftedClock(minutes * minuteMs));
      // It answers as soon as it listens. Whether it is ready is for another test.
      await vi.waitFor(() => fetch(`${deployment.baseUrl}/healthz`), 40_000);
    });
    afterAll(() => deployment.stop());
    afterEach(showOutput(() => deployment));

    test('an answer counts, and the turn goes on', async () => {
      const turn = say(deployment.client('alice'), listing);
      const { elicitationId } = await turn.question();
      const { conversationId } = turn.message;
      const caller = await deployment.caller('alice');
      const answered = await caller.answer({ conversationId, elicitationId, action: 'decline' });
      expect(answered.status).toBe(200);
      expect(await turn.end()).toMatchObject({ status: 'completed' });
    });

    test('a turn that waits makes room for the next message', async () => {
      const alice = deployment.client('alice');
      const turn = say(alice, listing);
      await turn.question();
      const next = say(alice, 'hello', { conversationId: turn.message.conversationId });
      expect(textOf(await next.end())).toBe('You said: hello');
      expect(await turn.end()).toMatchObject({ status: 'cancelled' });
      expect(questionsIn(await turn.end())).toMatchObject([{ status: 'cancel' }]);
    });

    test('one that is terminated ends within seconds, and others wait on', async () => {
      const alice = deployment.client('alice');
      const [waiting, terminated] = [say(alice, listing), say(alice, listing)];
      await Promise.all([waiting.question(), terminated.question()]);
      await temporal.workflow.getHandle(workflowIdOf(terminated)).terminate();
      expect(await terminated.end()).toMatchObject({ status: 'failed' });
      expect(waiting.views.at(-1)).toMatchObject({ status: 'running' });
      expect(questionsIn(waiting.views.at(-1)!)).toMatchObject([{ status: 'pending' }]);
    });

    test('the log warns of the clock once for each that it differs from', async () => {
      const warned = () =>
        api.output().match(/the clock of this machine is 300 s .* that of (the database|Temporal)/g);
      await vi.waitFor(() => expect(warned()).toHaveLength(2));
      expect(new Set(warned()).size).toBe(2);
    });
  },
);
