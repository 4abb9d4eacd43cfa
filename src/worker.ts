/** The worker process: see processes/worker.ts. */
import { hideEnvironment } from './processes/hide-environment.ts';

hideEnvironment();
await import('./processes/worker.ts');
