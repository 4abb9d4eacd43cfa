/**
 * How costs grow with the amount of work: `npm run scale`, on the PostgreSQL at DATABASE_URL or one started for the run. By
 * default 1 and 10 million events, and 1,000 and 10,000 waiting turns; `-- --events 100000` or `-- --waiting 500` for less.
 * Writes bench/scale/results.json: then update the tables of docs/scaling.md with `node bench/simulate.ts`.
 */
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/setup/postgres-server.ts';
import { measureEvents } from './scale/events.ts';
import { keepResults } from './scale/results.ts';
import { measureWaiting } from './scale/waiting.ts';

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', multiple: true },
    waiting: { type: 'string', multiple: true },
  },
});
const isAll = !options.events && !options.waiting;
const events = options.events ?? (isAll ? ['1000000', '10000000'] : []);
const waiting = options.waiting ?? (isAll ? ['1000', '10000'] : []);

await using postgres = await startPostgres(process.env['DATABASE_URL']);
for (const count of waiting.map(Number)) {
  const measured = await measureWaiting(await postgres.createDatabase(), count);
  console.log(measured);
  const { turn, ...one } = measured;
  await keepResults((before) => ({
    turn,
    waiting: [...before.waiting.filter(({ turns }) => turns !== count), one],
  }));
}
for (const count of events.map(Number)) {
  const one = await measureEvents(await postgres.createDatabase(), count);
  console.log(one);
  await keepResults((before) => ({
    events: [...before.events.filter((known) => known.events !== count), one],
  }));
}
