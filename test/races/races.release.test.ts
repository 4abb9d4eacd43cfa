/** Everything that can settle a question at the same moment as something else, 200 times each, through the whole service. */
import { describe, test } from 'vitest';
import { answerOrDeadline, deployedRaces, races } from './races.ts';
import { roundsOr, runRounds } from './round.ts';
import { useDeployedSite, useSite } from './site.ts';

const rounds = roundsOr(200);

describe.each(['sqlite', 'postgres'] as const)('on %s', (database) => {
  const site = useSite(database);
  test.each(races)('$name: one of them wins, and everything says the same', ({ name, race }) =>
    runRounds(site, `${name} (${database})`, race, { rounds, inFlight: 12 }),
  );
});

describe.each(['sqlite', 'postgres'] as const)('with questions that expire soon, on %s', (database) => {
  const site = useSite(database, { ELICITATION_TIMEOUT: '2s' });
  test('an answer and the deadline: one of them wins, and everything says the same', () =>
    runRounds(site, `an answer and the deadline (${database})`, answerOrDeadline, { rounds, inFlight: 24 }));
});

describe('with two API and two worker processes', () => {
  const site = useDeployedSite();
  test.each(deployedRaces)('$name: one of them wins, and everything says the same', ({ name, race }) =>
    runRounds(site, name, race, { rounds, inFlight: 12 }),
  );
});
