/** Everything in one process, for `npm start`: see processes/embedded.ts. */
import { hideEnvironment } from './processes/hide-environment.ts';

hideEnvironment();
await import('./development/embedded.ts');
