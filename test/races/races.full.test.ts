/** The races of `npm run test:release`, with a few rounds each. */
import { describe, test } from 'vitest';
import { answerOrDeadline, deployedRaces, races } from './races.ts';
import { roundsOr, runRounds } from './round.ts';
import { useDeployedSite, useSite } from './site.ts';

const rounds = roundsOr(10);

describe('in one process', () => {
  const site = useSite('sqlite');
  test.each(races)('$name: one of them wins, and everything says the same', ({ name, race }) =>
    runRounds(site, name, race, { rounds, inFlight: 10 }),
  );
});

describe('with questions that expire soon', () => {
  const site = useSite('sqlite', { ELICITATION_TIMEOUT: '1s' });
  test('an answer and the deadline: one of them wins, and everything says the same', () =>
    runRounds(site, 'an answer and the deadline', answerOrDeadline, { rounds, inFlight: 10 }));
});

describe('with two API and two worker processes', () => {
  const site = useDeployedSite();
  test.each(deployedRaces)('$name: one of them wins, and everything says the same', ({ name, race }) =>
    runRounds(site, name, race, { rounds, inFlight: 10 }),
  );
});
