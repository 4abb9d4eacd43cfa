/** The API process: see processes/server.ts. */
import { hideEnvironment } from './hide-environment.ts';

hideEnvironment();
await import('./processes/server.ts');
