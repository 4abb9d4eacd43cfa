/** The service is killed with -9 while a person is at the provider, and restarted: nothing is lost or repeated. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createDeployment, showOutput } from '../e2e/deployment.ts';
import type { Deployment } from '../e2e/deployment.ts';
import { say } from '../e2e/watch.ts';
import { launchChromium } from '../browsers/chromium.ts';
import { openNangoUnderTest } from '../servers/nango/nango-under-test.ts';
import type { NangoUnderTest } from '../servers/nango/nango-under-test.ts';
import { openProtectedMcp } from '../servers/nango/protected-mcp.ts';
import type { ProtectedMcp } from '../servers/nango/protected-mcp.ts';
import { envOf, until } from './service-with-nango.ts';
import { allow, comeToThePage } from './nango-visitor.ts';
import { timetable } from './timetable.ts';

const times = timetable('Killed with -9 while somebody is at the provider, until the turn has ended');

let nango: NangoUnderTest;
let mcp: ProtectedMcp;
let deployment: Deployment;
let browser: Browser;

beforeAll(async () => {
  nango = await openNangoUnderTest();
  mcp = await openProtectedMcp(nango.provider);
  deployment = await createDeployment({ env: envOf(nango, mcp) });
  browser = await launchChromium({ isStrict: true });
  nango.sendWebhooksTo(`${deployment.baseUrl}/webhooks/nango`);
});
afterAll(async () => {
  await browser.close();
  await deployment.stop();
  await mcp.stop();
  await nango.stop();
});
afterEach(showOutput(() => deployment));

test(
  'killed while somebody is at the provider, whose webhook reaches nobody',
  { timeout: 120_000 },
  async (context) => {
    const double = nango.knobs(context, 'send webhooks to a new address');
    double.webhookRetryMs = [100, 100];
    const service = await deployment.start('start');
    const turn = say(deployment.client('alice'), 'create an issue called Paint');
    const { url } = await turn.question();
    const visitor = await comeToThePage(browser, url, 'alice');
    await visitor.sees('Connect Tracker');
    const beside = await visitor.pressAndGetWindow('Connect Tracker');

    await service.kill('SIGKILL');
    const over = times.start('killed at the provider, webhook lost');
    await allow(beside);
    await double.delivered(1);
    expect(double.deliveries[0]?.tries).toEqual([0, 0, 0]);
    expect(mcp.calls).toEqual([]);

    await deployment.start('start');
    const view = await turn.end();
    over('Tracker is connected');
    expect(view.status).toBe('completed');
    expect(mcp.calls).toMatchObject([{ tool: 'create_issue', title: 'Paint', person: 'alice' }]);
    expect(mcp.calls).toHaveLength(1);
    await visitor.sees('Tracker is connected');
    await visitor.leave();
    await until(() => double.connections().length === 1);
  },
);
