/** Everything in one process, for `npm start`: see processes/embedded.ts. */
import { hideEnvironment } from './hide-environment.ts';

hideEnvironment();
await import('./processes/embedded.ts');
