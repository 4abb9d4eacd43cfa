/** Two hundred turns wait, and something fails in the middle of their answers. */
import { test } from 'vitest';
import { answerDuring, outages } from './outages.ts';
import { roundsOr } from './round.ts';
import { useDeployedSite } from './site.ts';

const count = roundsOr(200);
const site = useDeployedSite();

test.each(outages)('$name: every receipt is true, and every turn ends', (outage) =>
  answerDuring(site, outage, count),
);
