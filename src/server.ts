/** The API process: see processes/server.ts. */
import { hideEnvironment } from './processes/hide-environment.ts';

hideEnvironment();
await import('./processes/server.ts');
