/** Loaded into the service's process before the service itself: answers what cannot be seen from outside. */
import { residentMemory } from './resident-memory.ts';

process.on('message', (question) => {
  if (question === 'memory') void residentMemory().then((memory) => process.send?.({ memory }));
});
process.once('disconnect', () => process.exit());
