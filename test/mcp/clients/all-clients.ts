/** Every program of others that the tests have call our agents, and how it is opened. */
import { beforeEach } from 'vitest';
import type { Service } from '../../service/service.ts';
import { startAISDK } from './ai-sdk.ts';
import { missingFastMCP, startFastMCPClient } from './fastmcp.ts';
import { startInspector } from './inspector.ts';
import type { AskedOfUser, OtherClient, StartClient, UserAnswer } from './other-client.ts';
import { startSdkV1 } from './sdk-v1.ts';
import { startSdkV2 } from './sdk-v2.ts';

export interface Row {
  name: string;
  start: StartClient;
  /** Of the 2026-07-28 revision: it comes again with what its user answered, when that is known. */
  comesAgain?: true;
  /** What a failing handler comes to: the question goes to the model, or the program gives the call up. */
  whenUnable: 'in words' | 'gives up';
  /** Knows forms only, and is used so: links go to its model. */
  showsNoLinks?: true;
  /** Why it cannot be run on this machine. */
  missing?: () => Promise<string | undefined>;
}

export const asking: Row[] = [
  { name: 'SDK v1', start: startSdkV1, whenUnable: 'in words' },
  { name: 'SDK v2, legacy', start: (s) => startSdkV2('legacy', s), whenUnable: 'in words' },
  { name: 'SDK v2, auto', start: (s) => startSdkV2('auto', s), whenUnable: 'gives up', comesAgain: true },
  { name: 'SDK v2, manual', start: (s) => startSdkV2('manual', s), whenUnable: 'gives up', comesAgain: true },
  { name: '@ai-sdk/mcp', start: startAISDK, whenUnable: 'gives up', comesAgain: true, showsNoLinks: true },
  {
    name: 'FastMCP 3',
    start: (s) => startFastMCPClient('third', s),
    missing: () => missingFastMCP('third'),
    whenUnable: 'in words',
  },
  {
    name: 'FastMCP 4',
    start: (s) => startFastMCPClient('fourth', s),
    missing: () => missingFastMCP('fourth'),
    whenUnable: 'gives up',
    comesAgain: true,
  },
];

export const unable: Pick<Row, 'name' | 'start' | 'missing'>[] = [
  ...asking,
  { name: 'Inspector, legacy', start: (s) => startInspector('legacy', s) },
  { name: 'Inspector, modern', start: (s) => startInspector('modern', s) },
];

interface Opened extends OtherClient {
  asked: AskedOfUser[];
  /** Ids of links whose page is done, as far as the program is told. */
  pagesDone: string[];
}

type OpenClient = (
  start: StartClient,
  /** What its user does with one question after the other. */
  answers: ((question: AskedOfUser) => UserAnswer | Promise<UserAnswer>)[],
  shows?: { form?: true; url?: true },
) => Promise<Opened>;

/** As Alice, at a service that is there by the time a test runs. */
export function opening(service: () => Service): OpenClient {
  return async (start, answers, shows = { form: true, url: true }) => {
    const asked: AskedOfUser[] = [];
    const pagesDone: string[] = [];
    const client = await start({
      url: `${service().baseUrl}/run/v1/mcp`,
      token: await service().token('alice'),
      shows,
      async answer(question) {
        asked.push(question);
        const next = answers[asked.length - 1];
        if (!next) throw new Error(`asked too often: ${question.message}`);
        return next(question);
      },
      onPageDone: (elicitationId) => void pagesDone.push(elicitationId),
    });
    return { ...client, asked, pagesDone };
  };
}

export function skipWhere(missing: Row['missing']): void {
  beforeEach(async ({ skip }) => {
    const why = await missing?.();
    if (why !== undefined) skip(why);
  }, 240_000);
}
