/** What the log keeps of an error: what names the fault, and nothing that a driver attached. */
import { Writable } from 'node:stream';
import Fastify from 'fastify';
import type { FastifyBaseLogger } from 'fastify';
import { sql } from 'kysely';
import pg from 'pg';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { describe, expect, test } from 'vitest';
import type { ServerConfig } from '../../../src/platform/config/agents-file/server-config.ts';
import { logProcessExit } from '../../../src/remote/log-process-exit.ts';
import { openPostgres } from '../../../src/storage/postgres/open-postgres.ts';
import { temporalLogger } from '../../../src/platform/processes/workers/turn-workers.ts';
import { createLogger } from '../../../src/platform/telemetry/logger.ts';
import { postgresUrl } from '../../postgres.ts';

interface Line {
  level: number;
  msg: string;
  err: Record<string, unknown>;
}

function keepLines(): { logger: Logger; lines: Line[]; next(): Promise<Line> } {
  const lines: Line[] = [];
  const waiting: ((line: Line) => void)[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      const line = JSON.parse(chunk.toString()) as Line;
      lines.push(line);
      waiting.shift()?.(line);
      done();
    },
  });
  const logger = createLogger({ level: 'info', human: false }, destination);
  return { logger, lines, next: () => new Promise((resolve) => waiting.push(resolve)) };
}

test('a lost database connection is logged without the client, its password and its settings', async () => {
  const { logger, next } = keepLines();
  const url = new URL(await postgresUrl());
  url.password = 'not-for-the-log';
  const backend = openPostgres(url.href, logger);
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(backend.query);
  const other = new pg.Client(url.href);
  await other.connect();
  const logged = next();
  await other.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  const line = await logged;
  expect(line).toMatchObject({ level: 40, msg: 'lost an idle database connection', err: { code: '57P01' } });
  expect(Object.keys(line.err).toSorted()).toEqual(['code', 'message', 'stack', 'type']);
  expect(JSON.stringify(line)).not.toMatch(/not-for-the-log|connectionParameters/);
  await other.end();
  await backend.close();
});

test('what Temporal reports of a failed activity says which one and why', () => {
  const { logger, lines } = keepLines();
  const temporal = temporalLogger(logger);
  const about = { activityType: 'callTool', attempt: 2, workflowId: 'turn/acme/c-17/t-1', durationMs: 7 };
  const failure = ApplicationFailure.create({
    message: 'Tracker could not be reached; the answers are sent later.',
  });
  temporal.warn('Activity failed', { error: failure, ...about });
  temporal.warn('Activity failed', { error: new Error('out of memory'), ...about });
  temporal.warn('Activity failed', { ...about, error: failure, activityType: 'callModel' });
  expect(lines).toMatchObject([
    {
      msg: 'Activity failed: callTool',
      activity: 'callTool',
      attempt: 2,
      tenant: 'acme',
      conversation: 'c-17',
      turnId: 't-1',
      reason: 'Tracker could not be reached; the answers are sent later.',
      temporal: { durationMs: 7 },
    },
    { err: { message: 'out of memory' } },
    // The failed model call was logged before.
  ]);
});

test('an error with causes is logged with what they say, and nothing that they carry', () => {
  const { logger, lines } = keepLines();
  const inner = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', token: 'abc' });
  const err = new Error('could not look', { cause: new AggregateError([inner], '') });
  logger.warn({ err }, 'trouble');
  expect(lines[0]?.err).toMatchObject({ type: 'Error', message: 'could not look' });
  expect(lines[0]?.err['stack']).toMatch(
    /could not look[\s\S]+caused by: AggregateError[\s\S]+caused by: Error: refused/,
  );
  expect(JSON.stringify(lines)).not.toContain('abc');
});

test('the same of what the HTTP server logs', async () => {
  const { logger, lines } = keepLines();
  const app = Fastify({ loggerInstance: logger.child({}, { level: 'warn' }) as FastifyBaseLogger });
  app.get('/', (request) => {
    request.log.warn({ err: Object.assign(new Error('broken'), { client: { password: 'abc' } }) }, 'trouble');
    return {};
  });
  await app.inject('/');
  expect(lines.map(({ err }) => Object.keys(err))).toEqual([['type', 'message', 'stack']]);
});

describe('words of a program that failed', () => {
  const forged = 'first\n[12:00:00] INFO: the account of alice is confirmed\u009B2J\u202E\u001B[1A';
  const exit = { exitCode: 1, signal: null, stderrBytes: 10, stderrEnd: forged, isFailure: true };
  const run = { command: 'x', args: [], env: {} };
  const server = { name: 'files', process: run } as unknown as ServerConfig;

  test.each([true, false])(
    'make no line of their own, and do not act on the terminal (readable: %s)',
    (human) => {
      let text = '';
      const output = new Writable({
        write(chunk: Buffer, _, done) {
          text += chunk.toString();
          done();
        },
      });
      logProcessExit(createLogger({ level: 'info', human }, output), server)(exit);
      createLogger({ level: 'info', human }, output).warn({ reason: forged, err: new Error(forged) }, forged);
      createLogger({ level: 'info', human }, output).info({ reason: 'missing' }, 'a turn waits');
      expect(text).toContain('the account of alice is confirmed');
      expect(text).not.toMatch(/^\[12:00:00\]/m);
      expect(text).not.toMatch(/[\u0080-\u009F\u202E]/);
      expect(text).not.toContain('\u001B[1A');
      // Codes are for programs.
      expect(text.includes('missing')).toBe(!human);
    },
  );
});
