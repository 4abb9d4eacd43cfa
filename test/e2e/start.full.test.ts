import { allBesideDemo, testFailedStarts } from './failed-starts.ts';

testFailedStarts({
  withTakenPort: ['server'],
  withoutTemporal: ['start'],
  withOtherKey: ['start', 'worker'],
  besideDemo: allBesideDemo.slice(1),
});
